"""Undo and redo in any order, with a person's edits between, and from two windows at once."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Sequence

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.journal.changes import CellChange
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import Notebook, Snapshot
from tests.core.test_undo import tidied
from tests.core.test_undo_property import AGENT, PLACES, Cell, Step, World, notebooks
from tests.scripted import Bench

Benches = Callable[..., Bench]


class Sequences(RuleBasedStateMachine):
    """After whatever came before: nothing of the person's changes, nothing that they deleted comes
    back, what they or nobody moved stays, and a redo after an undo gives the notebook that was
    there."""

    @initialize(notebook=notebooks())
    def begin(self, notebook: Notebook) -> None:
        self.world = World(notebook)
        self.turns = 0
        self.number = 0
        self.theirs: dict[str, Cell] = {}
        """What the person wrote, and no turn has changed since."""
        self.deleted: set[str] = set()
        self.moved: list[str] = []
        """What the person has moved or deleted since the agent's last work."""

    @rule(steps=AGENT)
    def turn(self, steps: list[Step]) -> None:
        self.turns += 1
        self.world.agent(self.turns, steps)
        self.moved = []
        self.forget_changed()

    @rule(place=PLACES, kind=st.sampled_from(["edit", "add", "delete", "run", "move"]))
    def person(self, place: int, kind: str) -> None:
        cells = copy.deepcopy(self.world.cells)
        self.number += 1
        source = f"mine {self.number}"
        if kind == "add" or not cells:
            cell: Cell = {"id": f"p{self.number}", "cell_type": "raw", "metadata": {}}
            cells.insert(place, {**cell, "source": source})
            self.theirs[cell["id"]] = cells[min(place, len(cells) - 1)]
        else:
            cell = cells[place % len(cells)]
            if kind == "delete":
                cells.remove(cell)
                self.theirs.pop(cell["id"], None)
                self.deleted.add(cell["id"])
                self.moved.append(cell["id"])
            elif kind == "move":
                cells.remove(cell)
                cells.insert(self.number % (len(cells) + 1), cell)
                self.moved += [cell["id"]] if cells != self.world.cells else []
            elif kind == "edit":
                cell["source"] = source
                self.theirs[cell["id"]] = cell
            elif cell["cell_type"] == "code":
                cell |= {"execution_count": 1000 + self.number, "outputs": []}
                if cell["id"] in self.theirs:
                    self.theirs[cell["id"]] = cell
        self.world.document.notebook = {**self.world.document.notebook, "cells": cells}

    @precondition(lambda self: self.turns > 0)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        turn = data.draw(st.integers(1, self.turns))
        changes = self.world.ledger.changes(turn)
        before = copy.deepcopy(self.world.cells)
        done = self.world.undo(turn, changes)
        self.check(before, changes)
        again = data.draw(st.booleans())
        if again and set(done.redoable) == set(done.restored):
            # At once, so that nothing but these cells has changed.
            redone = self.world.redo(turn, changes)
            if not redone.kept:
                assert self.world.cells == before
            self.check(before, changes)

    @precondition(lambda self: self.turns > 0)
    @rule(data=st.data())
    def redo(self, data: st.DataObject) -> None:
        turn = data.draw(st.integers(1, self.turns))
        before = copy.deepcopy(self.world.cells)
        changes = self.world.ledger.changes(turn)
        self.world.redo(turn, changes)
        self.check(before, changes)

    def check(self, before: list[Cell], changes: Sequence[CellChange]) -> None:
        now = {cell["id"]: cell for cell in self.world.cells}
        for cell_id, cell in self.theirs.items():
            assert now.get(cell_id) == cell
        assert not self.deleted & now.keys()
        was = [cell["id"] for cell in before]
        may_go = {change.cell_id for change in changes if change.moved}
        if len(self.moved) == 1:  # What comes after it may bring it back.
            may_go -= {*self.moved}
        stay = [cell_id for cell_id in was if cell_id in now and cell_id not in may_go]
        assert [cell_id for cell_id in now if cell_id in stay] == stay
        self.moved = []

    def forget_changed(self) -> None:
        now = {cell["id"]: cell for cell in self.world.cells}
        self.theirs = {
            cell_id: cell for cell_id, cell in self.theirs.items() if now.get(cell_id) == cell
        }
        self.deleted -= now.keys()


Sequences.TestCase.settings = settings(max_examples=60, stateful_step_count=12, deadline=None)
test_any_order = Sequences.TestCase


async def both(*work: object) -> list[str]:
    """How each ended: "" or the code of its error."""
    ended = await asyncio.gather(*work, return_exceptions=True)  # type: ignore[call-overload]
    return sorted(one.code if isinstance(one, CommandError) else "" for one in ended)


async def test_two_windows_undo_at_once(bench: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    """One window undoes the turn. The other gets an error, and nothing happens twice."""
    b, _ = await tidied(bench)
    look = b.document.snapshot

    async def slow() -> Snapshot:
        await asyncio.sleep(0.01)
        return await look()

    monkeypatch.setattr(b.document, "snapshot", slow)
    before = copy.deepcopy(b.document.notebook["cells"])
    reviews = b.session.reviews
    assert await both(reviews.undo(1, window=1), reviews.undo(1, window=2)) == ["", "busy"]
    undone = copy.deepcopy(b.document.notebook["cells"])
    assert await both(reviews.redo(1, window=1), reviews.undo(1, window=2)) == ["", "busy"]
    assert b.document.notebook["cells"] == before
    assert await both(reviews.undo(1, window=2), reviews.redo(1, window=1)) == ["", "busy"]
    assert b.document.notebook["cells"] == undone
    b.restart_server()
    with pytest.raises(CommandError, match="already undone"):
        await b.session.reviews.undo(1, window=1)
    await b.session.reviews.redo(1, window=2)
    assert b.document.notebook["cells"] == before
    assert [one.window for one in b.of(e.TurnUndone)] == [1, 2]
    assert [one.window for one in b.of(e.TurnRedone)] == [1, 2]
