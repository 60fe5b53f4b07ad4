"""The sentences of a proposed order."""

from __future__ import annotations

from jupyter_codeinterp.core.order.ordering import Cell
from jupyter_codeinterp.core.order.proposal import Line, Proposal, proposed


def of(*cells: tuple[str, str, int | None]) -> Proposal:
    """Each cell: its id, its source and its run. An id that begins with "m" is Markdown."""
    return proposed(
        [Cell(i, "markdown" if i[0] == "m" else "code", text, count) for i, text, count in cells]
    )


def test_why_a_cell_moves() -> None:
    found = of(("a", "plot(df, n)", 5), ("m", "# Read", None), ("b", "n = 1\ndf = 2", 7))
    words = "In [5] uses `df`, `n`, which In [7] makes."
    assert found == Proposal(("m", "b", "a"), (Line("a", words),))


def test_a_cell_that_goes_along() -> None:
    found = of(("a", "y = x", 2), ("b", "print(y)", 3), ("c", "x = 1", 1))
    assert found.cells == ("c", "a", "b")
    assert [one.words for one in found.moves] == [
        "In [2] uses `x`, which In [1] makes.",
        "In [3] stays below a cell that moves, for the names in both.",
    ]


def test_cells_without_a_run_or_with_the_same_number() -> None:
    found = of(("a", "", None), ("b", "x", 1), ("c", "y", 1), ("d", "x = y = 1", None))
    assert [one.words for one in found.moves] == [
        "Code cell 1 uses `x`, which Code cell 3 makes.",
        "Code cell 2 uses `y`, which Code cell 3 makes.",
    ]


def test_what_no_order_gives() -> None:
    assert of(("a", "x = y", 1), ("b", "y = x", 2)) == Proposal(
        ("a", "b"), (), (Line("a", "In [1] uses `y`, which In [2] makes. No order gives it."),)
    )


def test_a_cell_whose_names_are_unknown() -> None:
    found = of(("a", "x", 1), ("b", "%run more.py", 2), ("c", "x = 1", 3))
    assert found.cells == ("a", "b", "c") and not found.moves
    assert [(one.cell_id, one.words[:30]) for one in found.left] == [
        ("a", "In [1] uses `x`, which In [3] "),
        ("b", "In [2] may make or use any nam"),
    ]
    assert of(("a", "x = 1", 1), ("b", "%run more.py", 2)).left == ()


def test_many_names() -> None:
    names = [f"n{number:02}" for number in range(14)]
    found = of(("a", "\n".join(names), 1), ("b", "\n".join(f"{n} = 1" for n in names), 2))
    assert found.moves[0].words.endswith("`n11`, 2 more, which In [2] makes.")
