"""A cell from draft to result: the table of states and events, and what it promises."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.ledger import Ledger
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.run.approval.decisions import Decisions
from jupyter_codeinterp.run.deciding import carry_out
from jupyter_codeinterp.run.job import CellJob
from jupyter_codeinterp.run.states import TABLE, CellEvent, CellState, after
from jupyter_codeinterp.run.turn.limits import Limits
from jupyter_codeinterp.run.turn.notebook import TurnNotebook
from jupyter_codeinterp.run.turn.results import Results
from jupyter_codeinterp.run.turn.turn import Turn
from jupyter_codeinterp.view.context import Context
from jupyter_codeinterp.view.redaction.private_names import PrivateNames
from jupyter_codeinterp.view.untrusted import Untrusted
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.messages import ToolUse
from jupyter_codeinterp.wire.ports import ExecutionDone, KernelInfo
from tests.model_site import Clock
from tests.reference_window import notebook
from tests.scripted import MemoryDocument, MemoryPlace

WRITTEN, TYPED, EDITED = "x = 1", "x = 1  # mine", "x = 2"

# --- the table -------------------------------------------------------------------------------


def test_every_state_is_reached_and_every_event_means_something() -> None:
    reached, fresh = set[CellState](), {CellState.WRITING}
    while fresh:
        reached |= fresh
        fresh = {to for (state, _), to in TABLE.items() if state in reached} - reached
    assert reached == set(CellState)
    assert {event for _, event in TABLE} == set(CellEvent)


@pytest.mark.parametrize("event", CellEvent)
def test_a_result_is_final(event: CellEvent) -> None:
    assert after(CellState.ENDED, event) is CellState.ENDED


def test_code_runs_only_after_a_decision_and_after_the_notebook_has_compared_the_cell() -> None:
    ways = {to: {state for (state, _), end in TABLE.items() if end is to} for to in CellState}
    assert ways[CellState.RUNNING] == {CellState.PLACED}
    assert ways[CellState.PLACED] == {CellState.DECIDED}
    assert ways[CellState.DECIDED] == {CellState.CHECKING, CellState.WAITING}


# --- driven by chance ------------------------------------------------------------------------


class MemoryKernel:
    """Implements ``Kernel``. The test says when a run ends."""

    kernel_id = "k"

    def __init__(self) -> None:
        self.start = 1
        self.idle = asyncio.Event()
        self.end: asyncio.Future[None] | None = None
        self.ran: list[str] = []

    async def info(self) -> KernelInfo:
        return KernelInfo(self.kernel_id, self.start, "python", "3")

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[MemorySlot]:
        await self.idle.wait()
        yield MemorySlot(self, await self.info())


class MemorySlot:
    begun = True

    def __init__(self, kernel: MemoryKernel, info: KernelInfo) -> None:
        self.info = info
        self._kernel = kernel

    @property
    def sent(self) -> bool:
        return self._kernel.end is not None

    def new_msg_id(self) -> str:
        return uuid.uuid4().hex

    async def execute(self, source: str, **_: Any) -> AsyncIterator[ExecutionDone]:
        self._kernel.ran.append(source)
        self._kernel.end = asyncio.get_running_loop().create_future()
        await self._kernel.end
        yield ExecutionDone("ok", (), 1, 0.0)

    async def stopped(self) -> ExecutionDone:
        return ExecutionDone("interrupted", (), 1, 0.0)

    def listen_on(self, hear: Any) -> None: ...


class WatchedJob(CellJob):
    """Takes no step that is not in the table."""

    def go(self, event: CellEvent) -> None:
        assert (self.state, event) in TABLE, (self.state, event)
        super().go(event)


class CellJobs(RuleBasedStateMachine):
    """A person decides, edits, types, runs by hand, deletes and stops; the kernel is busy and is
    restarted. The reference below says in a few lines what must come of it."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = Clock()
        self.folder = TemporaryDirectory()
        self.store = SqliteStore(Path(self.folder.name) / "sessions.db")
        self.state = CellState.ENDED
        """What the reference says, as do the next ones, which ``begin`` sets."""
        self.busy = False

    @precondition(lambda self: self.state is CellState.ENDED)
    @rule(
        mode=st.sampled_from(("review", "review", "auto")),
        busy=st.booleans(),
        stops=st.sampled_from((False, False, False, True)),
    )
    def begin(self, mode: e.Mode, busy: bool, stops: bool) -> None:
        self.mode, self.busy = mode, busy
        """Whether nobody is asked; whether the kernel runs something else."""
        self.state = CellState.WRITING
        self.source = self.in_cell = WRITTEN
        """What the job knows of the cell; what it reads."""
        self.decided = self.decided_by = ""
        self.starts = (0, 1)
        """The kernel's start of the decision, and the present one."""
        self.by_hand, self.is_there = False, True
        self._do(self._begin)
        if stops:
            self._stop()
            return
        self._do(self._write)
        self._decide_or_ask(by_policy=self.mode == "auto")
        self._check()

    def _begin(self) -> None:
        session_id = uuid.uuid4().hex
        info = SessionInfo(session_id, "memory.ipynb", "", "m", self.mode, False, 0, 0)
        self.store.create(info)
        self.document = MemoryDocument(self.store, session_id, notebook("a = 0"))
        self.kernel, self.decisions, ledger = MemoryKernel(), Decisions(), Ledger()
        self.events: list[e.Event] = []
        private, untrusted = PrivateNames(), Untrusted()
        if not self.busy:
            self.kernel.idle.set()

        async def came_late(*_: object) -> None: ...

        self.turn = Turn(
            number=1,
            since=1,
            session_id=session_id,
            model="m",
            mode=self.mode,
            always_ask=False,
            workplace=MemoryPlace(self.document, cast("Any", self.kernel)),
            notebook=TurnNotebook(1, self.document, ledger, private, lambda error: None),
            store=self.store,
            decisions=self.decisions,
            ledger=ledger,
            context=Context(),
            untrusted=untrusted,
            results=Results(untrusted),
            private=private,
            hooks=(),
            came_late=came_late,
            show=self.events.append,
            limits=Limits(),
        )
        call = ToolUse("t1", "run_cell", {})
        self.job = WatchedJob(self.turn, call, "insert", "new", Sentence("A cell"))
        self.job.place_at(())

    # --- what happens ------------------------------------------------------------------

    def _write(self) -> None:
        self.task = asyncio.ensure_future(carry_out(self.job, WRITTEN))

    @precondition(lambda self: self.state is CellState.WAITING)
    @rule(edits=st.booleans(), meanwhile=st.sampled_from(("", "type", "restart")))
    def run(self, edits: bool, meanwhile: str) -> None:
        if meanwhile == "restart":
            self.restart()
        elif meanwhile and self.is_there and not self.by_hand:
            self.type()
        source = EDITED if edits else self.source
        self._do(lambda: self._answer("run", source))
        self.decided, self.decided_by, self.state = source, "person", CellState.DECIDED
        self._go_on()
        self._check()

    @precondition(lambda self: self.state is CellState.WAITING)
    @rule()
    def reject(self) -> None:
        self._do(lambda: self._answer("reject", self.source))
        self.state = CellState.ENDED
        self._check("rejected")

    def _answer(self, action: Any, source: str) -> None:
        draft = self.decisions.draft
        assert draft is not None and draft.source == self.source
        self.decisions.decide(draft.draft_id, draft.nonce, action, source, False)

    @precondition(lambda self: self._is_open and self.is_there)
    @rule()
    def type(self) -> None:
        self.in_cell = f"{TYPED}{len(self.in_cell)}"
        self.document.edit("new", self.in_cell)

    @precondition(lambda self: self._is_open)
    @rule()
    def restart(self) -> None:
        self.kernel.start += 1
        self.starts = (self.starts[0], self.kernel.start)

    @precondition(lambda self: self.state is CellState.WAITING)
    @rule()
    def be_busy(self) -> None:
        self.kernel.idle.clear()
        self.busy = True

    @precondition(lambda self: self.busy)
    @rule()
    def be_idle(self) -> None:
        self.busy = False
        self._do(self.kernel.idle.set)
        if self.state is CellState.DECIDED:
            self._go_on()
        self._check()

    @precondition(lambda self: self._is_open and self.is_there and not self.by_hand)
    @rule()
    def run_it_by_hand(self) -> None:
        cell = self.document.cell("new")
        assert cell is not None
        cell["cell_type"] = "code"
        self.document.end_by_hand("new", [])
        self._do(lambda: self.decisions.run_by_hand("new", self.in_cell))
        self.by_hand = True
        if self.state is CellState.WAITING:
            self.state = CellState.DECIDED
            self._go_on()
        self._check("ok")

    @precondition(lambda self: self._is_open and self.is_there and not self.by_hand)
    @rule()
    def delete(self) -> None:
        self.document.delete("new")
        self._do(lambda: self.decisions.gone("new"))
        self.is_there = False
        if self.state is CellState.WAITING:
            self.state = CellState.ENDED
        self._check()

    @precondition(lambda self: self.state is CellState.RUNNING)
    @rule()
    def end(self) -> None:
        self._do(lambda: cast("Any", self.kernel.end).set_result(None))
        self.state = CellState.ENDED
        self._check("ok")

    @precondition(lambda self: self.state is not CellState.ENDED)
    @rule(how=st.sampled_from(("wait", "wait", "wait", "stop")))
    def wait_or_stop(self, how: str) -> None:
        self.loop.pass_time(1.0)
        if how == "stop":
            self._stop()
        self._check()

    def _stop(self) -> None:
        before = self.state
        if before is not CellState.WRITING:
            self._do(self.task.cancel)
        self._do(lambda: self.job.stop("Not started."))
        self.state = CellState.ENDED
        not_run = "not_confirmed" if self.by_hand else "not_started"
        self._check("interrupted" if before is CellState.RUNNING else not_run)
        asked = [one for one in self.events if isinstance(one, e.DraftWaiting)]
        decided = [one for one in self.events if isinstance(one, e.DraftDecided)]
        assert (before is CellState.WAITING) == (bool(decided) and decided[-1].by == "stop")
        assert len(asked) <= len(decided), "a card waits for ever"

    # --- the reference -----------------------------------------------------------------

    @property
    def _is_open(self) -> bool:
        """Whether a person can still do something about it before it runs."""
        return self.state in (CellState.WAITING, CellState.DECIDED)

    def _decide_or_ask(self, by_policy: bool) -> None:
        self.starts = (self.starts[1], self.starts[1])
        self.state = CellState.WAITING
        if by_policy:
            self.decided, self.decided_by, self.state = self.source, "policy", CellState.DECIDED
            self._go_on()

    def _go_on(self) -> None:
        """After a decision: what an idle kernel makes of it."""
        if self.busy:
            return
        if self.by_hand:
            self.state = CellState.ENDED
        elif self.starts[0] != self.starts[1]:
            self.source = self.decided
            self._decide_or_ask(self.decided_by == "policy")
        elif not self.is_there:
            self.state = CellState.ENDED
        elif self.in_cell != self.source and self.in_cell != self.decided:
            self.source = self.in_cell
            self._decide_or_ask(by_policy=False)
        else:
            self.source = self.in_cell = self.decided
            self.state = CellState.RUNNING

    def _check(self, status: str = "") -> None:
        assert self.job.state is self.state
        result = self.job.result
        assert (result is not None) == (self.state is CellState.ENDED)
        if status and result is not None:
            assert result.done.status == status
        assert len(self.kernel.ran) <= 1
        assert self.kernel.ran in ([], [self.decided]), "other bytes ran than the decided ones"
        if self.state in (CellState.WAITING, CellState.DECIDED):
            assert not self.kernel.ran

    # --- inside ------------------------------------------------------------------------

    def _do(self, work: Any) -> None:
        async def working() -> None:
            work()

        self.loop.run_until_complete(working())
        self.loop.ticks(40)

    def teardown(self) -> None:
        if self.state is not CellState.ENDED:
            self._stop()
        self.store.close()
        self.loop.close()
        self.folder.cleanup()


CellJobs.TestCase.settings = settings(max_examples=30, stateful_step_count=50, deadline=None)
test_whatever_a_person_does_exactly_the_decided_bytes_run_or_none = CellJobs.TestCase
