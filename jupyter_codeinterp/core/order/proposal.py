"""What is proposed to put a notebook in order, with a sentence for each change. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby

import msgspec

from .headings import headings
from .imports import Lifted, with_imports_on_top
from .ordering import Cell, Need, Order, put_in_order
from .unused import unused

MOST_NAMES = 12
"""Names that a sentence lists."""


class Line(msgspec.Struct, frozen=True):
    """A sentence about a cell."""

    cell_id: str
    words: str


class Source(msgspec.Struct, frozen=True):
    """A cell's source."""

    cell_id: str
    source: str
    cell_type: str = "code"


class Proposal(msgspec.Struct, frozen=True):
    """``cells``: the ids of all cells in their new order. ``moves``: why code cells go further
    down. ``left``: names that no order of the cells gives, cells whose names are unknown, and
    imports that stay.

    ``imports``: cells that lose them to the first one. ``unused``: cells that get the tag.
    ``headings``: cells that get one above them. ``added`` and ``edited``: the sources of new and
    changed cells. ``gone``: cells that have no code left.
    """

    cells: tuple[str, ...]
    moves: tuple[Line, ...] = ()
    left: tuple[Line, ...] = ()
    imports: tuple[Line, ...] = ()
    unused: tuple[Line, ...] = ()
    headings: tuple[Line, ...] = ()
    added: tuple[Source, ...] = ()
    edited: tuple[Source, ...] = ()
    gone: tuple[str, ...] = ()


def proposed(cells: Sequence[Cell]) -> Proposal:
    """For a notebook of at most ``ordering.MOST_CELLS`` code cells."""
    called = _called(cells)
    lifted = with_imports_on_top(cells)
    if lifted.is_new:
        called[lifted.first] = "the new first cell"
    now = {cell.cell_id: cell for cell in lifted.cells}
    order = put_in_order(lifted.cells)
    place = {cell.cell_id: at for at, cell in enumerate(lifted.cells)}

    def sorted_needs(needs: Iterable[Need]) -> list[Need]:
        return sorted(needs, key=lambda one: (place[one.reader], place[one.writer], one.name))

    moves = _moves(lifted.cells, sorted_needs(order.moved), _passed(order, place), called)
    left = [
        Line(one.reader, f"{_uses(one, called)}. No order gives it.")
        for one in sorted_needs(order.left)
    ]
    if left:
        # Without a name that is missing, they explain nothing.
        left += [
            Line(one, f"{called[one]} may make or use any name, so no cell moves past it.")
            for one in order.unread
        ]
    left += [
        Line(cell_id, f"An import of {called[cell_id]} stays: {why}.")
        for cell_id, why in dict.fromkeys(lifted.stay)
    ]
    ordered = [now[cell_id] for cell_id in order.cells]
    ids, titles, added = list(order.cells), [], []
    for cell_id, words in headings(ordered):
        heading = Source(_new_id(cell_id, words), f"## {words}", "markdown")
        ids.insert(ids.index(cell_id), heading.cell_id)
        added.append(heading)
        titles.append(Line(cell_id, f"“{words}” above {called[cell_id]}, as its comment says."))
    was = {cell.cell_id: cell.source for cell in cells}
    if lifted.is_new:
        added.append(Source(lifted.first, now[lifted.first].source))
    changed = (one for one in lifted.cells if was.get(one.cell_id, one.source) != one.source)
    return Proposal(
        tuple(ids),
        tuple(moves),
        tuple(left),
        tuple(_imports(lifted, called)),
        tuple(_unused(ordered, called)),
        tuple(titles),
        tuple(added),
        tuple(Source(one.cell_id, one.source) for one in changed),
        tuple(cell.cell_id for cell in cells if cell.cell_id not in now),
    )


def _imports(lifted: Lifted, called: dict[str, str]) -> Iterator[Line]:
    """In the notebook's order, one for each cell that loses imports."""
    where = called.get(lifted.first, "")
    for cell_id, group in groupby(lifted.moved, key=lambda one: one[0]):
        codes = _listed(code.strip() for _, code in group)
        yield Line(cell_id, f"{codes} of {called[cell_id]} goes to {where}.")


def _unused(ordered: Sequence[Cell], called: dict[str, str]) -> Iterator[Line]:
    for cell_id, name, again in unused(ordered):
        if name:
            words = f"makes `{name}`, which {called[again]} makes again before a cell uses it."
        else:
            words = "failed, and no cell uses what it makes."
        yield Line(cell_id, f"{called[cell_id]} {words}")


def _new_id(cell_id: str, words: str) -> str:
    """The same for the same heading."""
    text = f"{cell_id} {words}".encode("utf-8", "replace")
    return f"heading-{hashlib.sha256(text).hexdigest()[:8]}"


def _moves(
    cells: Sequence[Cell], needs: Iterable[Need], passed: Set[str], called: dict[str, str]
) -> Iterator[Line]:
    """In the notebook's order: the cells that others pass, each with its reasons."""
    by_reader: dict[str, list[Need]] = {}
    for need in needs:
        by_reader.setdefault(need.reader, []).append(need)
    for cell_id in (cell.cell_id for cell in cells if cell.cell_type == "code"):
        own = by_reader.get(cell_id, ())
        for writer, group in groupby(own, key=lambda one: one.writer):
            names = _listed(one.name for one in group)
            yield Line(cell_id, f"{called[cell_id]} uses {names}, which {called[writer]} makes.")
        if not own and cell_id in passed:
            words = f"{called[cell_id]} stays below a cell that moves, for the names in both."
            yield Line(cell_id, words)


def _passed(order: Order, place: dict[str, int]) -> set[str]:
    """Cells that a cell from below them has moved above."""
    found: set[str] = set()
    lowest = -1
    for cell_id in order.cells:
        if place[cell_id] < lowest:
            found.add(cell_id)
        lowest = max(lowest, place[cell_id])
    return found


def _called(cells: Sequence[Cell]) -> dict[str, str]:
    """What a sentence calls each code cell: its prompt if no other has the same, else its place
    among the code cells that are not blank, as in a verification."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    counts = Counter(cell.count for cell in code)
    found: dict[str, str] = {}
    number = 0
    for cell in code:
        number += bool(cell.source.strip())
        alone = cell.count is not None and counts[cell.count] == 1
        found[cell.cell_id] = f"In [{cell.count}]" if alone else f"Code cell {number}"
    return found


def _uses(need: Need, called: dict[str, str]) -> str:
    return f"{called[need.reader]} uses `{need.name}`, which {called[need.writer]} makes"


def _listed(names: Iterable[str]) -> str:
    given = [f"`{name}`" for name in names]
    more = [f"{len(given) - MOST_NAMES} more"] if len(given) > MOST_NAMES else []
    return ", ".join(given[:MOST_NAMES] + more)
