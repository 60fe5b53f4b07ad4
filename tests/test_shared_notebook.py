"""Ops in a notebook that several people share, against the reference.

``CODEINTERP_INTERLEAVINGS=20000 pytest tests/test_shared_notebook.py`` runs longer, and with other
random numbers every time.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
import nbformat
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from jupyter_ydoc import YNotebook
from pycrdt import Doc, Map, Text

from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.notebook.room import cells as shared_cells
from jupyter_codeinterp.notebook.room.shared import ORIGIN, SharedNotebook
from jupyter_codeinterp.wire.ops import (
    BeginRun,
    Cell,
    Delete,
    FinishRun,
    Insert,
    Notebook,
    Op,
    Receipt,
    SetSource,
    digest,
)
from tests.test_document import OPS, VECTORS

LONG = os.environ.get("CODEINTERP_INTERLEAVINGS")
STEPS = 30
pytestmark = pytest.mark.timeout(0 if LONG else 300)
S = "s1"


def room_with(cells: Sequence[Cell]) -> YNotebook:
    """A room's document, with what its file has."""
    document = YNotebook()
    meta = document.ydoc.get("meta", type=Map)
    with document.ydoc.transaction():
        meta["nbformat"], meta["nbformat_minor"] = 4, 5
        meta["metadata"] = Map({})
        for cell in cells:
            document.ycells.append(document.create_ycell(cell))
    return document


class Room:
    def __init__(self, cells: Sequence[Cell]) -> None:
        self.document = room_with(cells)
        self.shared = SharedNotebook(self.document, set())
        self.seq = 0

    def apply(self, op: Op) -> Receipt:
        self.seq += 1
        with self.document.ydoc.transaction(origin=ORIGIN):
            return self.shared.apply(S, self.seq, op)

    @property
    def cells(self) -> list[Cell]:
        with self.document.ydoc.transaction(origin=ORIGIN):  # one for each access is slow
            return self.shared.read(self.shared.places())


def notebook(cells: Sequence[Cell]) -> Notebook:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}


def _can_be_shared(cells: Sequence[Any]) -> bool:
    """A room cannot hold cells whose fields have other types than nbformat says."""
    return all(
        isinstance(cell.get("metadata"), dict)
        and isinstance(cell.get("source"), str)
        and isinstance(cell.get("outputs", []), list)
        and ("outputs" in cell) == (cell.get("cell_type") == "code")
        for cell in cells
    )


SHARED = [one for one in VECTORS if _can_be_shared(one["before"])]


def test_most_vectors_can_be_shared() -> None:
    assert len(SHARED) > len(VECTORS) * 0.9


@pytest.mark.parametrize("vector", SHARED, ids=lambda vector: vector["name"])
def test_vector(vector: dict[str, Any]) -> None:
    room = Room(vector["before"])
    receipt = room.apply(msgspec.convert(vector["op"], Op))
    assert room.cells == vector["after"]
    assert receipt == msgspec.convert(vector["receipt"], Receipt)


@settings(deadline=None)
@given(st.lists(OPS, max_size=12))
def test_any_ops_do_what_the_reference_does(ops: list[Op]) -> None:
    room, reference = Room([]), notebook([])
    for op in ops:
        reference, expected = apply(reference, op)
        assert room.apply(op) == expected
        assert room.cells == reference["cells"]


def test_an_op_that_the_notebook_has_is_not_done_again() -> None:
    room = Room([])
    insert = Insert("d", "raw", "x", ())
    assert room.apply(insert).status == "done"
    with room.document.ydoc.transaction(origin=ORIGIN):
        room.shared.apply(S, 2, Delete("d", "x"))
        assert room.shared.apply(S, 1, insert) == Receipt(
            "missing", reason="the cell is not in the notebook"
        )
        assert room.shared.applied == {S: 2}


# --- texts ------------------------------------------------------------------------------

TEXTS = st.text(alphabet="ab\nä😀\u200d\U0001d4b3", max_size=12)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_a_text_becomes_the_other_one_exactly(before: str, after: str) -> None:
    document: Any = Doc()
    document["text"] = text = Text(before)
    shared_cells.change_text(text, before, after)
    assert str(text) == after


def test_a_change_leaves_the_rest_of_the_text_alone() -> None:
    """What a person types at the same time, elsewhere in the cell, is merged."""
    room = Room([code("a", "x = 1\ny = 2\nz = 3")])
    person = Person(room)
    person.type(0, len("x = 1"), "00")
    assert room.apply(SetSource("a", "x = 1\ny = 2\nz = 4", "x = 1\ny = 2\nz = 3")).status == "done"
    person.exchange()
    assert room.cells[0]["source"] == "x = 100\ny = 2\nz = 4" == person.cells[0]["source"]


def test_a_stream_that_goes_on_is_only_added_to() -> None:
    room = Room([code("a", "x")])
    assert room.apply(BeginRun("a", digest("x"), "r")).status == "done"
    sizes = []
    with room.document.ydoc.transaction(origin=ORIGIN):
        for length in (1000, 2000, 3000):
            before = room.document.ydoc.get_state()
            out = {"output_type": "stream", "name": "stdout", "text": "x" * length}
            room.shared.show_outputs("a", "r", 0, [out])
            sizes.append(len(room.document.ydoc.get_update(before)))
    assert max(sizes) < 1500
    assert room.cells[0]["outputs"][0]["text"] == "x" * 3000


# --- runs -------------------------------------------------------------------------------


def test_each_run_begins_with_a_new_cell_so_that_pages_learn_whether_to_trust_it() -> None:
    room = Room([code("a", "x", trusted=True)])
    before = room.document.ycells[0].integrated
    assert room.apply(BeginRun("a", digest("x"), "r", trusted=False)).status == "done"
    cell = room.document.ycells[0]
    assert cell.integrated is not before
    assert cell["execution_state"] == "running"
    assert "trusted" not in room.cells[0]["metadata"]


def test_a_page_that_trusts_a_cell_meanwhile_does_not_lend_trust_to_outputs() -> None:
    room = Room([code("a", "x")])
    room.apply(BeginRun("a", digest("x"), "r", trusted=False))
    room.document.ycells[0]["metadata"]["trusted"] = True  # its person ran it there
    html = {"output_type": "display_data", "data": {"text/html": "<script>"}, "metadata": {}}
    with room.document.ydoc.transaction(origin=ORIGIN):
        room.shared.show_outputs("a", "r", 0, [html])
    assert room.cells[0]["outputs"] == []
    events: list[Any] = []
    room.document.ycells.observe(events.append)
    room.apply(FinishRun("a", "r", (html,), 1, trusted=False))
    assert events, "a page makes a new cell of it, without trust"
    assert room.cells[0]["outputs"] == [html] and room.cells[0]["metadata"].get("trusted") is None


# --- people -----------------------------------------------------------------------------


def code(cell_id: str, source: str, *, trusted: bool = False) -> Cell:
    metadata = {"trusted": True} if trusted else {}
    fields: Cell = {"outputs": [], "execution_count": None, "metadata": metadata}
    return {"id": cell_id, "cell_type": "code", "source": source, **fields}


class Person:
    """A page with a copy of the notebook; changes travel only with ``exchange``."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.document = YNotebook()
        self.exchange()

    @property
    def cells(self) -> list[Cell]:
        with self.document.ydoc.transaction():
            return [shared_cells.read(cell) for cell in self.document.ycells]

    @property
    def ids(self) -> list[str]:
        with self.document.ydoc.transaction():
            return [cell["id"] for cell in self.document.ycells]

    def send(self) -> None:
        mine, theirs = self.document.ydoc, self._room.document.ydoc
        theirs.apply_update(mine.get_update(theirs.get_state()))

    def fetch(self) -> None:
        mine, theirs = self.document.ydoc, self._room.document.ydoc
        mine.apply_update(theirs.get_update(mine.get_state()))

    def exchange(self) -> None:
        self.send()
        self.fetch()

    def type(self, index: int, place: int, text: str) -> None:
        source = self.document.ycells[index]["source"]
        source.insert(len(str(source)[:place].encode()), text)


class Machine(RuleBasedStateMachine):
    """Two people and the agent, whose changes reach each other at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.room = Room([code(one, f"{one} = 1\n") for one in "abc"])
        self.people = [Person(self.room), Person(self.room)]
        self.number = 0
        self.typed: dict[str, set[str]] = {}
        """Words by the cell that they were typed into."""
        self.excused: set[str] = set()
        """Cells that a person has deleted, or that an op replaced or deleted."""
        self.inserted: set[str] = set()

    def _next(self) -> int:
        self.number += 1
        return self.number

    # --- the agent -------------------------------------------------------------------

    def _op(self, op: Op) -> Receipt:
        before = notebook(self.room.cells)
        after, expected = apply(before, op)
        receipt = self.room.apply(op)
        assert receipt == expected
        assert self.room.cells == after["cells"]
        if receipt.status == "done" and isinstance(op, (BeginRun, Delete, SetSource)):
            self._replaced(op)
        return receipt

    def _replaced(self, op: BeginRun | Delete | SetSource) -> None:
        """What a person types at the same time into such a cell is lost with it."""
        replaces = not isinstance(op, SetSource) or op.cell_type is not None
        if replaces and any(op.cell_id in person.ids for person in self.people):
            self.excused.add(op.cell_id)

    def _some(self, number: int) -> Cell | None:
        shared = self.room.shared
        with self.room.document.ydoc.transaction(origin=ORIGIN):
            places = shared.places()
            return shared.read([number % len(places)])[0] if places else None

    @rule(number=st.integers(0, 20))
    def agent_inserts(self, number: int) -> None:
        near = self._some(number)
        cell_id = f"n{self._next()}"
        after = (near["id"],) if near else ()
        assert self._op(Insert(cell_id, "raw", f"draft_{cell_id}", after)).status == "done"
        self.inserted.add(cell_id)

    @rule(number=st.integers(0, 20))
    def agent_edits(self, number: int) -> None:
        if cell := self._some(number):
            source = f"{cell['source']}\nagent_{self._next()}"
            self._op(SetSource(cell["id"], source, cell["source"]))

    @rule(number=st.integers(0, 20))
    def agent_edits_what_has_changed(self, number: int) -> None:
        if cell := self._some(number):
            receipt = self._op(SetSource(cell["id"], "mine alone", "an earlier source"))
            assert receipt.status == "conflict"

    @rule(number=st.integers(0, 20), trusted=st.booleans())
    def agent_runs(self, number: int, trusted: bool) -> None:
        if cell := self._some(number):
            run_id = f"r{self._next()}"
            begin = BeginRun(cell["id"], digest(cell["source"]), run_id, trusted=trusted)
            if self._op(begin).status == "done":
                out = {"output_type": "stream", "name": "stdout", "text": run_id}
                self._op(FinishRun(cell["id"], run_id, (out,), self.number, trusted=trusted))

    @rule(number=st.integers(0, 20))
    def agent_deletes(self, number: int) -> None:
        cell = self._some(number)
        if cell and self._op(Delete(cell["id"], cell["source"])).status == "done":
            self.excused.add(cell["id"])

    # --- people ----------------------------------------------------------------------

    @rule(who=st.integers(0, 1), number=st.integers(0, 20), place=st.integers(0, 30))
    def types(self, who: int, number: int, place: int) -> None:
        person = self.people[who]
        if ids := person.ids:
            at = number % len(ids)
            word = f"<{self._next()}ä😀>"
            places = _between_words(str(person.document.ycells[at]["source"]))
            person.type(at, places[place % len(places)], word)
            self.typed.setdefault(ids[at], set()).add(word)

    @rule(who=st.integers(0, 1), number=st.integers(0, 20))
    def adds(self, who: int, number: int) -> None:
        person = self.people[who]
        cell = code(f"p{self._next()}", "mine")
        index = number % (len(person.ids) + 1)
        person.document.ycells.insert(index, person.document.create_ycell(cell))

    @rule(who=st.integers(0, 1), number=st.integers(0, 20))
    def removes(self, who: int, number: int) -> None:
        person = self.people[who]
        if ids := person.ids:
            at = number % len(ids)
            self.excused.add(ids[at])
            del person.document.ycells[at]

    @rule(who=st.integers(0, 1), sends=st.booleans())
    def travels(self, who: int, sends: bool) -> None:
        (self.people[who].send if sends else self.people[who].fetch)()

    # --- what must hold --------------------------------------------------------------

    def teardown(self) -> None:
        for person in [*self.people, *self.people]:
            person.exchange()
        cells = self.room.cells
        for person in self.people:
            assert person.cells == cells, "all have the same notebook in the end"
        ids = [cell["id"] for cell in cells]
        assert len(ids) == len(set(ids)), "no cell is there twice"
        for cell_id in self.inserted - self.excused:
            assert cell_id in ids, "no cell of the agent's is lost"
        sources = {cell["id"]: cell["source"] for cell in cells}
        for cell_id, words in self.typed.items():
            for word in words if cell_id not in self.excused else ():
                assert sources[cell_id].count(word) == 1, "no word of a person's is lost"
        nbformat.validate(nbformat.from_dict(notebook(cells)))


def _between_words(source: str) -> list[int]:
    """Places at which a word does not split another one."""
    return [i for i in range(len(source) + 1) if source[:i].count("<") == source[:i].count(">")]


def test_what_people_and_the_agent_do_at_once_comes_together() -> None:
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=300,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        ),
    )


@pytest.mark.skipif(not LONG, reason="CODEINTERP_INTERLEAVINGS says how many")
def test_it_comes_together_in_many_more_ways() -> None:
    """The same without hypothesis, which takes most of the time. An error names its seed."""
    first = secrets.randbelow(2**32)
    for seed in range(first, first + int(LONG or 0)):
        try:
            interleave(random.Random(seed))
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


def interleave(chance: random.Random) -> None:
    """One interleaving: up to ``STEPS`` of what the machine's rules do, by chance."""
    machine = Machine()
    some = partial(chance.randint, 0, 20)
    who = partial(chance.randint, 0, 1)
    steps: list[Callable[[], None]] = [
        lambda: machine.agent_inserts(number=some()),
        lambda: machine.agent_edits(number=some()),
        lambda: machine.agent_edits_what_has_changed(number=some()),
        lambda: machine.agent_runs(number=some(), trusted=chance.random() < 0.5),
        lambda: machine.agent_deletes(number=some()),
        lambda: machine.types(who=who(), number=some(), place=chance.randint(0, 30)),
        lambda: machine.adds(who=who(), number=some()),
        lambda: machine.removes(who=who(), number=some()),
        lambda: machine.travels(who=who(), sends=chance.random() < 0.5),
    ]
    for _ in range(chance.randint(1, STEPS)):
        chance.choice(steps)()
    machine.teardown()
