"""Puts cells in an order in which each finds its names. Pure; nothing runs.

A cell that already gets a name from a cell above keeps getting it from that cell. Cells move only
for names that no cell above gives and a cell below does.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Union

import msgspec

from ..cell_code.cell_names import Function, Names, names_of

MOST_CELLS = 500
"""With more code cells nothing is proposed: the work grows with their square."""


class Cell(msgspec.Struct, frozen=True):
    """A cell of the notebook; ``cell_type`` as in nbformat. ``count``: the number of its run.
    ``failed``: its output has an error. ``shows``: it has any other output."""

    cell_id: str
    cell_type: str
    source: str
    count: Union[int, None] = None
    failed: bool = False
    shows: bool = False
    tags: tuple[str, ...] = ()


class Need(msgspec.Struct, frozen=True):
    """The cell ``reader`` uses ``name``, which ``writer``, a cell below it, gives."""

    reader: str
    writer: str
    name: str


class Order(msgspec.Struct, frozen=True):
    """``cells``: the ids in their new order. ``moved``: the needs for which cells moved.
    ``left``: those that no order meets. ``unread``: code cells whose names are unknown; no cell
    moves past them."""

    cells: tuple[str, ...]
    moved: tuple[Need, ...] = ()
    left: tuple[Need, ...] = ()
    unread: tuple[str, ...] = ()


class _Block(msgspec.Struct, frozen=True):
    """A code cell with the text cells above it, which move with it."""

    cells: tuple[str, ...]
    names: Names

    @property
    def cell_id(self) -> str:
        return self.cells[-1]

    @property
    def writes(self) -> frozenset[str]:
        return self.names.defines | self.names.changes


def put_in_order(cells: Sequence[Cell]) -> Order:
    """The order; that of ``cells`` if all run already, or there are too many."""
    blocks, rest = _blocks(cells)
    if len(blocks) > MOST_CELLS:
        return Order(tuple(cell.cell_id for cell in cells))
    functions = {name: one for block in blocks for name, one in block.names.functions.items()}
    moved: list[Need] = []
    # Each round meets at least one need more, and loses none.
    while True:
        graph = _Graph(len(blocks))
        left = list(_join(graph, blocks, functions, moved))
        order = graph.order()
        if order == list(range(len(blocks))):
            break
        blocks = [blocks[number] for number in order]
    ids = (*(cell_id for block in blocks for cell_id in block.cells), *rest)
    unread = tuple(block.cell_id for block in blocks if not block.names.known)
    return Order(ids, tuple(moved), tuple(left), unread)


def _blocks(cells: Sequence[Cell]) -> tuple[list[_Block], tuple[str, ...]]:
    """The blocks, and the text cells at the end."""
    blocks: list[_Block] = []
    waiting: list[str] = []
    for cell in cells:
        waiting.append(cell.cell_id)
        if cell.cell_type == "code":
            blocks.append(_Block(tuple(waiting), names_of(cell.source)))
            waiting = []
    return blocks, tuple(waiting)


class _Graph:
    """Which block must come before which, by number."""

    def __init__(self, size: int) -> None:
        self._after: list[set[int]] = [set() for _ in range(size)]

    def add(self, first: int, second: int) -> None:
        if first != second:
            self._after[first].add(second)

    def leads(self, first: int, second: int) -> bool:
        waiting, seen = [first], {first}
        while waiting:
            number = waiting.pop()
            if number == second:
                return True
            new = self._after[number] - seen
            seen |= new
            waiting.extend(new)
        return False

    def order(self) -> list[int]:
        """Of all that may come next, always the first."""
        before = [0] * len(self._after)
        for followers in self._after:
            for number in followers:
                before[number] += 1
        ready = [number for number, count in enumerate(before) if not count]
        found: list[int] = []
        while ready:
            number = heapq.heappop(ready)
            found.append(number)
            for follower in self._after[number]:
                before[follower] -= 1
                if not before[follower]:
                    heapq.heappush(ready, follower)
        return found


def _join(
    graph: _Graph,
    blocks: Sequence[_Block],
    functions: dict[str, Function],
    moved: list[Need],
) -> Iterator[Need]:
    """Fill the graph; add to ``moved`` the needs that it now meets; the others are returned."""
    writers: dict[str, list[int]] = {}
    for number, block in enumerate(blocks):
        for name in block.writes:
            writers.setdefault(name, []).append(number)
    wanted: list[tuple[int, int, str]] = []
    for number, block in enumerate(blocks):
        if not block.names.known:
            for other in range(len(blocks)):
                graph.add(min(other, number), max(other, number))
        for name in sorted(reads(block.names, functions) & writers.keys()):
            # What changes a name in place does not bring it.
            brings = [one for one in writers[name] if name in blocks[one].names.defines]
            above = [one for one in writers[name] if one < number]
            if any(one < number for one in brings):
                _keep(graph, number, above[-1], writers[name])
            elif below := [one for one in brings if one > number]:
                wanted.append((number, below[0], name))
    for reader, writer, name in wanted:
        need = Need(blocks[reader].cell_id, blocks[writer].cell_id, name)
        if graph.leads(reader, writer):
            yield need
        else:
            graph.add(writer, reader)
            moved.append(need)


def _keep(graph: _Graph, reader: int, writer: int, writers: list[int]) -> None:
    """Let the reader get the name from the same cell as now."""
    graph.add(writer, reader)
    for other in writers:
        if other < writer:
            graph.add(other, writer)
        elif other > reader:
            graph.add(reader, other)


def reads(names: Names, functions: dict[str, Function]) -> frozenset[str]:
    """Names that the cell needs when it runs, also in functions that it may call."""
    found = set(names.reads)
    waiting = list(names.reads)
    while waiting:
        function = functions.get(waiting.pop())
        new = (function.reads if function is not None else frozenset()) - found - names.binds
        found |= new
        waiting.extend(new)
    return frozenset(found)
