"""An order of cells that runs: a table, and what holds of any notebook."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeinterp.core.cell_code.cell_names import names_of
from jupyter_codeinterp.core.order.ordering import MOST_CELLS, Cell, Order, put_in_order


def ordered(*sources: str) -> Order:
    """Cells "0", "1", …; one that begins with ``# `` is Markdown."""
    return put_in_order(
        [
            Cell(str(n), "markdown" if source.startswith("# ") else "code", source)
            for n, source in enumerate(sources)
        ]
    )


@pytest.mark.parametrize(
    ("sources", "order"),
    [
        (("x = 1", "print(x)"), "01"),
        (("print(x)", "x = 1"), "10"),
        (("print(x)", "1", "x = 1", "2"), "1203"),
        (("# Plot", "plot(df)", "# Read", "df = 1", "# End"), "23014"),
        (("f()", "def f(): return x", "x = 1"), "120"),
        (("def f(): return x", "x = 1", "f()"), "012"),
        (("y = x", "print(y)", "x = 1"), "201"),
        (("x = 1", "print(x)", "x = 2", "print(x, y)", "y = 1"), "01243"),
        (("df['a'] = 1", "df = 1"), "10"),
        (("x = 1", "x += 1", "print(x)"), "012"),
        (("np.ones(1)", "import numpy as np"), "10"),
        (("print(gone)", "x = 1"), "01"),
        (("[x for x in y]", "x = 1", "y = 1"), "120"),
    ],
)
def test_the_table(sources: tuple[str, ...], order: str) -> None:
    found = ordered(*sources)
    assert "".join(found.cells) == order
    assert bool(found.moved) == (found.cells != tuple(map(str, range(len(sources)))))


def test_a_circle_stays_and_is_listed() -> None:
    found = ordered("a = b", "b = a")
    assert found.cells == ("0", "1")
    assert [(one.reader, one.writer, one.name) for one in found.left] == [("0", "1", "b")]


def test_no_cell_moves_past_one_that_cannot_be_read() -> None:
    found = ordered("print(x)", "%%R -o z\nz", "x = 1")
    assert (found.cells, found.unread) == (("0", "1", "2"), ("1",))
    assert [one.name for one in found.left] == ["x"]


def test_a_very_long_notebook_stays() -> None:
    sources = ["print(x)"] * MOST_CELLS + ["x = 1"]
    assert ordered(*sources).cells == tuple(map(str, range(len(sources))))


NAMES = st.sampled_from("abcd")
LINES = st.one_of(
    st.builds("{} = {}".format, NAMES, NAMES | st.just("1")),
    st.builds("print({})".format, NAMES),
    st.builds("def {}(): return {}".format, NAMES, NAMES),
    st.builds("{}.append(1)".format, NAMES),
    st.builds("{} += {}".format, NAMES, NAMES),
    st.sampled_from(["# Title", "%run x.py", "del a"]),
)
SOURCES = st.lists(st.lists(LINES, min_size=1, max_size=2).map("\n".join), max_size=8)


def origins(sources: list[str]) -> dict[tuple[str, str], str]:
    """For each cell and name that it reads: the nearest cell above that writes it, if one of
    those above brings it."""
    found: dict[tuple[str, str], str] = {}
    last: dict[str, str] = {}
    brought: set[str] = set()
    for source in sources:
        number, _, code = source.partition(":")
        names = names_of("" if code.startswith("# ") else code)
        for name in names.reads & brought:
            found[number, name] = last[name]
        brought |= names.defines
        last |= dict.fromkeys(names.defines | names.changes, number)
    return found


@given(SOURCES)
def test_what_holds_of_any_notebook(sources: list[str]) -> None:
    found = ordered(*sources)
    places = [int(cell_id) for cell_id in found.cells]
    assert sorted(places) == list(range(len(sources)))
    before = origins([f"{n}:{source}" for n, source in enumerate(sources)])
    after = origins([f"{n}:{sources[n]}" for n in places])
    assert before.items() <= after.items()
    again = ordered(*(sources[n] for n in places))
    assert again.cells == tuple(map(str, range(len(sources))))
    assert again.moved == ()
