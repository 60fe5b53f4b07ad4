"""Whatever a person does between any two calls of the model, nothing that they have typed, run or
seen succeed is removed or replaced without asking."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.journal.ledger import Ledger
from jupyter_codeinterp.run.turn.notebook import TurnNotebook
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Message, ToolUse, assistant
from jupyter_codeinterp.wire.ports import ModelRequest
from tests.core.order import disorder
from tests.kernels import until
from tests.scripted import Bench, call, run, say

Benches = Callable[..., Bench]
Loop = asyncio.AbstractEventLoop
Cell = dict[str, Any]

RUNS = 80
OK, FAILS = "print('ok')", "1 / 0"
ERROR = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
RESULT = {"output_type": "stream", "name": "stdout", "text": "by hand\n"}
ACTS = ("type", "type", "run", "run", "fail", "begin", "delete", "move", "add")
REPLIES = ("run", "run", "fail", "fail", "two", "edit", "edit", "delete", "markdown", "end")
DECISIONS = ("run", "run", "reject", "edit and run")
EVENTS = ("go on", "go on", "go on", "go on", "stop", "undo")


def rounds(seed: int) -> list[Any]:
    """What the person does first; then what happens next: the mode of a message, the reply to
    it, the decision on a draft, whichever it is time for. (Drawn evenly: hypothesis varies a few
    examples much more often.)"""
    draw = random.Random(seed)
    return [
        (
            [(draw.choice(ACTS), draw.randrange(6)) for _ in range(draw.randrange(3))],
            draw.choice(("auto", "auto", "review")),
            draw.choice(REPLIES),
            draw.choice(DECISIONS),
            draw.choice(EVENTS),
        )
        for _ in range(draw.randrange(4, 15))
    ]


class World:
    """A session, a model that waits to be told what it replies, and a person."""

    def __init__(self, bench: Bench, loop: Loop) -> None:
        self.bench = bench
        self.loop = loop
        self.theirs: dict[str, str] = {}
        """Cells that are the person's by now: what they read."""
        self.number = 0
        self._listen()

    def _listen(self) -> None:
        """The model asks what it is to reply."""
        self.asked = asyncio.Event()
        self.reply: asyncio.Queue[str] = asyncio.Queue()
        model = self.bench.model
        stream = type(model).stream

        async def held(request: ModelRequest) -> Any:
            self.asked.set()
            kind = await self.reply.get()
            self.asked.clear()
            model.script = [self._message(kind)]
            async for event in stream(model, request):
                yield event

        model.stream = held

    def _message(self, kind: str) -> Message:
        self.number += 1
        cell_id = self._some(self.number)["id"] if self.cells else "none"
        source = f"{FAILS if kind == 'fail' else OK}  # {self.number}"
        if kind in ("run", "fail"):
            return run(source)
        if kind == "two":
            calls = (ToolUse(f"t{self.number}-{n}", "run_cell", {"source": source}) for n in (1, 2))
            return assistant(*calls)
        if kind == "edit":
            return call("edit_cell", cell_id=cell_id, source=source)
        if kind == "delete":
            return call("delete_cell", cell_id=cell_id)
        return call("add_markdown", source=source) if kind == "markdown" else say("Done.")

    # --- what is so --------------------------------------------------------------------

    @property
    def cells(self) -> list[Cell]:
        return list(self.bench.document.notebook["cells"])

    def _some(self, which: int) -> Cell:
        """Every other time the cell on which the agent worked last, if it is there."""
        touched = self.bench.session.log.ledger.touched[-1:]
        last = [cell for cell in self.cells if cell["id"] in touched]
        return last[0] if last and which % 2 else self.cells[-1 - which % len(self.cells)]

    def _waiting(self) -> e.Draft | None:
        return self.bench.session.decisions.draft

    def _rest(self) -> None:
        """Until the model, the person or nobody is waited for."""

        def rests() -> bool:
            session = self.bench.session
            return self.asked.is_set() or not session.running or self._waiting() is not None

        self.loop.run_until_complete(until(rests))
        self._check()

    def _check(self) -> None:
        now = {cell["id"]: cell for cell in self.cells}
        for cell_id, source in self.theirs.items():
            assert cell_id in now, f"{cell_id} is gone; it read {source!r}"
            assert now[cell_id]["source"] == source, f"{cell_id} was replaced"

    # --- what happens ------------------------------------------------------------------

    def round(self, acts: Any, mode: Any, reply: str, how: str, turn_of_events: str) -> None:
        for act, which in acts:
            if self.cells or act == "add":
                self._act(act, which)
        session = self.bench.session
        if turn_of_events == "stop" and session.running:
            self.stop()
        elif turn_of_events == "undo" and not session.running:
            self._undo()
        elif not session.running:
            self._call(self.bench.send, "Go", mode)
        elif (draft := self._waiting()) is not None:
            self._decide(draft, how)
        else:
            self.asked.clear()
            self.reply.put_nowait(reply)
        self._rest()

    def _call(self, does: Callable[..., Any], *values: Any) -> None:
        """In the loop."""

        async def call() -> None:
            does(*values)

        self.loop.run_until_complete(call())

    def _decide(self, draft: e.Draft, how: str) -> None:
        # They were asked, whatever becomes of it.
        self.theirs.pop(draft.cell_id, None)
        mine = f"{OK}  # mine" if how == "edit and run" and draft.kind != "delete" else None
        self._call(self.bench.decide, draft, "reject" if how == "reject" else "run", mine)
        self.loop.run_until_complete(until(lambda: self._waiting() is not draft))

    def stop(self) -> None:
        self._call(self.bench.session.task.cancel)
        self.loop.run_until_complete(until(lambda: not self.bench.session.running))
        self.asked.clear()

    def _undo(self) -> None:
        """The last turn. They ask for it, but not for what they have typed."""
        if not self.bench.of(e.TurnEnded):
            return
        turn = self.bench.of(e.TurnEnded)[-1].turn
        changed = {change.cell_id for change in self.bench.session.log.ledger.changes(turn)}
        try:
            self.loop.run_until_complete(self.bench.session.reviews.undo(turn))
        except CommandError as error:
            assert error.code in ("nothing_to_undo", "already_undone")
            return
        for cell_id in (self.theirs.keys() & changed) - self.bench.document.typed.keys():
            self.theirs.pop(cell_id)

    # --- the person --------------------------------------------------------------------

    def _act(self, act: str, which: int) -> None:
        self.number += 1
        document = self.bench.document
        if act == "add":
            self._add(which)
            return
        cell = self._some(which)
        if act == "type":
            document.edit(cell["id"], f"{cell['source']}  # mine {self.number}")
        elif act == "delete":
            self.theirs.pop(cell["id"], None)
            document.delete(cell["id"])
        elif act == "move":
            cells = document.notebook["cells"]
            cells.remove(cell)
            cells.insert(which % (len(cells) + 1), cell)
            document.acts += 1
        elif cell["cell_type"] == "code":
            document.begin_by_hand(cell["id"])
            if act != "begin":
                document.end_by_hand(cell["id"], [RESULT if act == "run" else ERROR])
        else:
            return
        if act not in ("delete", "move"):
            self.theirs[cell["id"]] = cell["source"]

    def _add(self, where: int) -> None:
        new = code_cell(f"p{self.number}", f"{OK}  # mine {self.number}")
        self.bench.document.notebook["cells"].insert(where % (len(self.cells) + 1), new)
        self.bench.document.acts += 1
        self.theirs[new["id"]] = new["source"]


def code_cell(cell_id: str, source: str) -> Cell:
    code: Cell = {"cell_type": "code", "outputs": [], "execution_count": None}
    return {"id": cell_id, "source": source, "metadata": {}, **code}


def run_worlds(bench: Benches, loop: Loop, first: int = 0) -> None:
    for seed in range(first, RUNS):
        world = World(bench(), loop)
        try:
            for one in rounds(seed):
                world.round(*one)
        except AssertionError as error:
            raise AssertionError(f"with seed {seed}: {error}") from error
        if world.bench.session.running:
            world.stop()
        loop.run_until_complete(world.bench.session.close())
        assert disorder(world.bench) == []


def test_what_is_the_persons_stays(bench: Benches, jp_asyncio_loop: Loop) -> None:
    run_worlds(bench, jp_asyncio_loop)


def takes_typed_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    take_out = TurnNotebook.take_out

    def all_of_it(self: TurnNotebook, cell_id: str, written: str, typed_too: bool = False) -> None:
        take_out(self, cell_id, written, typed_too=True)

    monkeypatch.setattr(TurnNotebook, "take_out", all_of_it)


def sees_no_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of three guards alone is enough."""
    monkeypatch.setattr(Ledger, "observe", lambda self, cell_id, cell: None)
    monkeypatch.setattr(Ledger, "owns", lambda self, cell: cell.cell_id in self._written)
    monkeypatch.setattr(Ledger, "last_run", lambda self, cell_id: None)


@pytest.mark.parametrize(("plant", "first"), [(takes_typed_drafts, 57), (sees_no_acts, 0)])
def test_it_finds(
    bench: Benches, jp_asyncio_loop: Loop, monkeypatch: pytest.MonkeyPatch, plant: Any, first: int
) -> None:
    """``first`` is a seed that soon finds it; a change of the machine may move it."""
    plant(monkeypatch)
    with pytest.raises(AssertionError, match=r"is gone|was replaced"):
        run_worlds(bench, jp_asyncio_loop, first)
