"""The order of cells that is proposed, with a sentence for each cell that moves. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby

import msgspec

from .ordering import Cell, Need, Order, put_in_order

MOST_NAMES = 12
"""Names that a sentence lists."""


class Line(msgspec.Struct, frozen=True):
    """A sentence about a cell."""

    cell_id: str
    words: str


class Proposal(msgspec.Struct, frozen=True):
    """``cells``: the ids of all cells in their new order. ``moves``: why code cells go further
    down. ``left``: names that no order of the cells gives, and cells whose names are unknown."""

    cells: tuple[str, ...]
    moves: tuple[Line, ...] = ()
    left: tuple[Line, ...] = ()


def proposed(cells: Sequence[Cell]) -> Proposal:
    """For a notebook of at most ``ordering.MOST_CELLS`` code cells."""
    order = put_in_order(cells)
    called, place = _called(cells), {cell.cell_id: at for at, cell in enumerate(cells)}

    def sorted_needs(needs: Iterable[Need]) -> list[Need]:
        return sorted(needs, key=lambda one: (place[one.reader], place[one.writer], one.name))

    moves = _moves(cells, sorted_needs(order.moved), _passed(order, place), called)
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
    return Proposal(order.cells, tuple(moves), tuple(left))


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
