"""Undo as a property: whatever a turn did, undoing it gives the notebook back as it was, and
never touches what a person has changed since."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from typing import Any, Union, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_codeinterp.journal.changes import CellChange
from jupyter_codeinterp.journal.ledger import Ledger
from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.session import undo
from jupyter_codeinterp.wire.events import TurnRedone, TurnUndone
from jupyter_codeinterp.wire.ops import (
    BeginRun,
    Delete,
    FinishRun,
    Insert,
    Move,
    Notebook,
    Op,
    Output,
    Receipt,
    SetSource,
    Snapshot,
    digest,
)
from tests.scripted import view

Cell = dict[str, Any]
Step = tuple[str, int, str, str]
"""What is done, to which cell (an index, modulo their number), with which source and type."""


def none_kept(change: CellChange) -> tuple[Output, ...]:
    return ()


SOURCES = st.sampled_from(["", "x", "y\nz", "😀"])
TYPES = st.sampled_from(["raw", "code", "markdown"])
PLACES = st.integers(0, 7)
OUTPUTS = st.sampled_from(
    [
        [],
        [{"output_type": "stream", "name": "stdout", "text": "1\n"}],
        [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}],
    ]
)
METADATA = st.sampled_from(
    [
        {},
        {"tags": ["mine"], "collapsed": True},
        {"codeinterp": {"run_id": "earlier", "session": "other"}},
        {"codeinterp": "no object", "editable": True},
    ]
)
AGENT = st.lists(
    st.tuples(
        st.sampled_from(["insert", "edit", "retype", "run", "finish", "delete", "fix", "move"]),
        PLACES,
        SOURCES,
        TYPES,
    ),
    max_size=14,
)
PERSON = st.lists(
    st.tuples(
        st.sampled_from(["edit", "retype", "delete", "add", "move", "run"]), PLACES, SOURCES, TYPES
    ),
    max_size=4,
)


@st.composite
def notebooks(draw: st.DrawFn) -> Notebook:
    cells: list[Cell] = []
    for number in range(draw(st.integers(0, 5))):
        kind = draw(TYPES)
        cell: Cell = {"id": f"c{number}", "cell_type": kind, "source": draw(SOURCES)}
        cell["metadata"] = copy.deepcopy(draw(METADATA))
        if kind == "code":
            cell |= {"outputs": draw(OUTPUTS), "execution_count": draw(st.none() | st.just(3))}
        elif draw(st.booleans()):
            cell["attachments"] = {"a.png": {"image/png": "AA=="}}
        cells.append(cell)
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


class Paper:
    """A document that answers at once, and keeps no journal."""

    path = "paper.ipynb"

    def __init__(self, notebook: Notebook) -> None:
        self.notebook = notebook

    async def snapshot(self) -> Snapshot:
        return Snapshot(self.path, tuple(map(view, self.notebook["cells"])))

    async def apply(self, op: Op) -> Receipt:
        self.notebook, receipt = apply(self.notebook, op)
        return receipt

    async def save(self) -> None:
        return None


class World:
    """A notebook, an agent's turns in it, and a person."""

    def __init__(self, notebook: Notebook) -> None:
        self.document = Paper(notebook)
        self.ledger = Ledger()
        self._made = 0
        self._undone: dict[int, set[str]] = {}

    @property
    def cells(self) -> list[Cell]:
        return list(self.document.notebook["cells"])

    def _do(self, turn: int, op: Union[Op, None]) -> None:
        if op is not None:
            self.document.notebook, receipt = apply(self.document.notebook, op)
            self.ledger.record(turn, op, receipt)

    def agent(self, turn: int, steps: Sequence[Step]) -> None:
        for kind, place, source, cell_type in steps:
            self._made += 1
            name = f"{turn}-{self._made}"
            ids = [cell["id"] for cell in self.cells]
            if kind == "insert":
                above = tuple(reversed(ids[: place % (len(ids) + 1)]))
                self._do(turn, Insert(name, cell_type, source, above[:5]))  # type: ignore[arg-type]
            if kind == "insert" or not ids:
                continue
            cell = self.cells[place % len(ids)]
            self._do(turn, self._op(turn, kind, cell, source, cell_type, name))

    def _op(
        self, turn: int, kind: str, cell: Cell, source: str, cell_type: Any, name: str
    ) -> Op | None:
        cell_id, now = cell["id"], cell["source"]
        ours = cell["metadata"].get("codeinterp")
        run_id = str(ours.get("run_id")) if isinstance(ours, dict) else ""
        ids = [one["id"] for one in self.cells if one is not cell]
        ops: dict[str, Op | None] = {
            "move": Move(cell_id, tuple(reversed(ids[: len(source) * 2]))[:5]),
            "edit": SetSource(cell_id, source, now),
            "retype": SetSource(cell_id, source, now, cell_type),
            "run": BeginRun(cell_id, digest(now), name, {"turn": turn}, tell=True),
            "finish": FinishRun(
                cell_id,
                run_id if run_id.startswith(f"{turn}-") else "none",
                ({"output_type": "stream", "name": "stdout", "text": "new"},),
                9,
            ),
            "delete": Delete(cell_id, now),
            "fix": self.ledger.undo_cell(turn, cell_id, none_kept),
        }
        return ops[kind]

    def person(self, steps: Sequence[Step]) -> set[str]:
        """The ids of the cells that are others then: by source, by type, there or not."""
        was = {cell["id"]: (cell["source"], cell["cell_type"]) for cell in self.cells}
        for kind, place, source, cell_type in steps:
            cells = copy.deepcopy(self.cells)
            self._made += 1
            mine = {"id": f"p{self._made}", "cell_type": "raw", "metadata": {}, "source": source}
            at = place % len(cells) if cells else 0
            if kind == "add" or not cells:
                cells.insert(at, mine)
            elif kind == "move":
                cells.insert(len(source) * 2, cells.pop(at))
            elif kind == "delete":
                cells.pop(at)
            elif kind == "edit" and cells[at]["source"] != source:
                cells[at]["source"] = source + "  # mine"
            elif kind == "retype" and cells[at]["cell_type"] != cell_type:
                other = {"cell_type": cell_type, "source": cells[at]["source"]}
                if cell_type == "code":
                    other |= {"outputs": [], "execution_count": None}
                cells[at] = {"id": cells[at]["id"], "metadata": cells[at]["metadata"], **other}
            elif kind == "run" and cells[at]["cell_type"] == "code":
                shown = [{"output_type": "stream", "name": "stdout", "text": "mine"}]
                cells[at] |= {"outputs": shown, "execution_count": 77}
                ours = cells[at]["metadata"].get("codeinterp")
                if isinstance(ours, dict):
                    ours.pop("run_id", None)
            self.document.notebook = {**self.document.notebook, "cells": cells}
        now = {cell["id"]: (cell["source"], cell["cell_type"]) for cell in self.cells}
        return {cell_id for cell_id in {**was, **now} if was.get(cell_id) != now.get(cell_id)}

    @property
    def ids(self) -> list[str]:
        return [cell["id"] for cell in self.cells]

    def undo(self, turn: int, changes: Sequence[CellChange]) -> TurnUndone:
        undone = self._undone.setdefault(turn, set())
        document = cast(Any, self.document)
        astray = self._moved(turn) - undone
        work = undo.undo(turn, changes, document, self.ledger, none_kept, astray)
        done = asyncio.run(work)
        undone.update(done.restored)
        return done

    def _moved(self, turn: int) -> set[str]:
        return {change.cell_id for change in self.ledger.changes(turn) if change.moved}

    def redo(self, turn: int, changes: Sequence[CellChange]) -> TurnRedone:
        undone = self._undone.setdefault(turn, set())
        ids = [change.cell_id for change in changes]
        document = cast(Any, self.document)
        astray = self._moved(turn) & undone
        work = undo.redo(turn, ids, document, self.ledger, none_kept, astray)
        done = asyncio.run(work)
        undone.difference_update(done.restored)
        return done


def check_order(
    world: World, order: Sequence[str], was: Sequence[str], cells: set[str], astray: set[str]
) -> None:
    """Reference: of ``order``, ``cells`` are as they were, each below the nearest cell that was
    above it and is there, and the others stay. ``astray`` stand elsewhere because of a move."""
    rest = [one for one in order if one not in cells]
    assert [one for one in world.ids if one not in cells] == rest
    now = [one for one in rest if one in was]
    for place, one in enumerate(was):
        if one in cells:
            above = [other for other in was[:place] if other in now and other not in astray]
            now.insert(now.index(above[-1]) + 1 if above else 0, one)
    assert [one for one in world.ids if one in was] == now


def crossed(cell_id: str, left: Sequence[str], now: Sequence[str]) -> bool:
    """Reference: whether the cell has changed sides with another one."""
    both = set(left).intersection(now)
    return set(left[: left.index(cell_id)]) & both != set(now[: now.index(cell_id)]) & both


def without_attachments(cells: list[Cell]) -> list[Cell]:
    return [{key: cell[key] for key in cell.keys() - {"attachments"}} for cell in cells]


@settings(max_examples=200)
@given(notebooks(), AGENT, AGENT, st.randoms(use_true_random=False))
def test_undoing_a_turn_gives_the_notebook_back(
    notebook: Notebook, earlier: list[Step], steps: list[Step], random: Any
) -> None:
    world = World(notebook)
    world.agent(1, earlier)
    before = copy.deepcopy(world.cells)
    world.agent(2, steps)
    changes = list(world.ledger.changes(2))
    left = copy.deepcopy(world.cells)
    random.shuffle(changes)
    some = random.randint(0, len(changes))
    for change in changes[:some]:
        assert world.undo(2, [change]).kept == ()
    undone = world.undo(2, changes[some:])
    assert undone.kept == () and len(undone.restored) == len(changes) - some
    assert world.cells == before
    assert changes or left == before
    redone = world.redo(2, changes)
    assert redone.kept == ()
    # Attachments that a change of type had dropped stay.
    assert without_attachments(world.cells) == without_attachments(left)
    assert world.undo(2, changes).kept == () and world.cells == before
    # Once more, as after a server that was killed before it could say so.
    assert world.undo(2, changes).kept == () and world.cells == before


def test_many_cells_come_back_in_their_order() -> None:
    cells = [
        {"id": f"c{n}", "cell_type": "raw", "metadata": {}, "source": str(n)} for n in range(20)
    ]
    world = World({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    world.agent(1, [("delete", n, "", "raw") for n in reversed(range(3, 18))])
    assert len(world.cells) == 5
    world.undo(1, world.ledger.changes(1))
    assert world.cells == cells


def test_what_a_change_of_type_has_dropped_comes_back() -> None:
    cell = {"id": "c", "cell_type": "markdown", "metadata": {}, "source": "x"}
    cells: list[Cell] = [{**cell, "attachments": {"a.png": {"image/png": "AA=="}}}]
    world = World({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    world.agent(1, [("retype", 0, "x", "code"), ("retype", 0, "x", "markdown")])
    assert "attachments" not in world.cells[0]
    world.undo(1, world.ledger.changes(1))
    assert world.cells == cells


@settings(max_examples=200)
@given(notebooks(), AGENT, PERSON)
def test_redo_never_touches_what_a_person_has_changed_since(
    notebook: Notebook, steps: list[Step], edits: list[Step]
) -> None:
    world = World(notebook)
    world.agent(1, steps)
    left = {cell["id"]: cell for cell in copy.deepcopy(world.cells)}
    changes = world.ledger.changes(1)
    undone = world.undo(1, changes)
    undone_ids = world.ids
    moved = {change.cell_id for change in changes if change.moved}
    theirs = world.person(edits)
    before = {cell["id"]: cell for cell in copy.deepcopy(world.cells)}
    redone = world.redo(1, changes)
    after = {cell["id"]: cell for cell in world.cells}
    known = set(undone.redoable)
    assert set(redone.restored) | {kept.cell_id for kept in redone.kept} == known
    for cell_id in theirs:
        now = after.get(cell_id)
        by_hand = now is not None and cell_id in left and same(now, left[cell_id])
        assert now == before.get(cell_id) or by_hand
    for cell_id in before.keys() - known:
        assert after[cell_id] == before[cell_id]
    put, stay = set(redone.restored).intersection(left), [c for c in before if c in after]
    cells = {c for c in put if c not in stay or (c in moved and not crossed(c, undone_ids, stay))}
    check_order(world, stay, [*left], cells, moved - cells)


def same(cell: Cell, other: Cell) -> bool:
    """In what a redo compares."""
    return all(cell[key] == other[key] for key in ("source", "cell_type"))


@settings(max_examples=200)
@given(notebooks(), AGENT, PERSON)
def test_what_a_person_has_changed_since_is_never_touched(
    notebook: Notebook, steps: list[Step], edits: list[Step]
) -> None:
    world = World(notebook)
    was = world.ids
    world.agent(1, steps)
    left, changes = world.ids, world.ledger.changes(1)
    theirs = world.person(edits)
    before = {cell["id"]: cell for cell in copy.deepcopy(world.cells)}
    undone = world.undo(1, changes)
    after = {cell["id"]: cell for cell in world.cells}
    changed = {change.cell_id for change in changes}
    assert set(undone.restored) | {kept.cell_id for kept in undone.kept} == changed
    for cell_id in theirs - drafts_of(changes) - by_hand(changes, before):
        assert after.get(cell_id) == before.get(cell_id)
    for cell_id in before.keys() - changed:
        assert after[cell_id] == before[cell_id]
    for kept in undone.kept:
        assert kept.why == "deleted" or after[kept.cell_id] == before[kept.cell_id]
    moved = {change.cell_id for change in changes if change.moved}
    put, stay = set(undone.restored).intersection(was), [c for c in before if c in after]
    cells = {c for c in put if c not in stay or (c in moved and not crossed(c, left, stay))}
    check_order(world, stay, was, cells, moved - cells)


def by_hand(changes: Sequence[CellChange], cells: dict[str, Cell]) -> set[str]:
    """Cells that the person has put back themselves; outputs and the like may follow."""
    return {
        c.cell_id
        for c in changes
        if c.before is not None
        and c.cell_id in cells
        and all(cells[c.cell_id][key] == c.before[key] for key in ("source", "cell_type"))
    }


def drafts_of(changes: Sequence[CellChange]) -> set[str]:
    """Drafts that were cut off while they were written go: what was streamed into them is not
    known."""
    return {c.cell_id for c in changes if (c.kind, c.cell_type, c.source) == ("added", "raw", "")}
