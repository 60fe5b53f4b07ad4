"""Who works in a notebook: the table of states and events, and what it promises."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from jupyter_codeinterp.base.errors import DocumentError
from jupyter_codeinterp.notebook.live import LiveNotebook, WindowState
from jupyter_codeinterp.notebook.live.hand_over import RETRY_AFTER
from jupyter_codeinterp.notebook.live.holder import TABLE, Event, State, after
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.ops import Insert, Receipt
from jupyter_codeinterp.wire.stores import OpsBySession, StoredOp
from tests.kernels import until
from tests.model_site import Clock

ADR = Path(__file__).parents[1] / "docs" / "adr" / "0004-hand-over.md"
GRACE = 30.0


# --- the table -------------------------------------------------------------------------------


def test_every_state_is_reached_and_every_event_means_something() -> None:
    reached, fresh = set[State](), {State.NOBODY}
    while fresh:
        reached |= fresh
        fresh = {to for (state, _), to in TABLE.items() if state in reached} - reached
    assert reached == set(State)
    assert {event for _, event in TABLE} == set(Event)


@pytest.mark.parametrize("state", State)
def test_a_window_that_comes_is_never_kept_out(state: State) -> None:
    """Whatever the state is, a window that stays gets the lease."""
    for event in (Event.WINDOW_CAME, Event.FILE_CLOSED, Event.LEASE_GIVEN):
        state = after(state, event) or state
    assert state is State.WINDOW


def test_the_file_is_used_only_where_no_window_is() -> None:
    """A window leads out of ``FILE`` by way of the end of what is being written."""
    into = {state for (state, _), to in TABLE.items() if to is State.FILE}
    assert into == {State.OPENING}
    assert {state for (state, _), to in TABLE.items() if to is State.OPENING} == {
        State.WAITING,
        State.BLOCKED,
    }
    assert after(State.FILE, Event.WINDOW_CAME) is State.CLOSING
    assert after(State.CLOSING, Event.FILE_FAILED) is None


def test_the_document_shows_the_table() -> None:
    rows = re.findall(r"^\| (\w+) +\| (.+?) +\| (\w+) +\|$", ADR.read_text(), re.MULTILINE)
    shown = {(state, event, to) for state, event, to in rows if state != "state"}
    table = {
        ("any" if event is Event.GAVE_UP else state.value, event.value, to.value)
        for (state, event), to in TABLE.items()
    }
    assert shown == table


# --- driven by chance ------------------------------------------------------------------------


class Tab:
    def __init__(self) -> None:
        self.frames: list[c.ServerFrame] = []

    def send(self, frame: c.ServerFrame) -> None:
        self.frames.append(frame)


class Writer:
    """Fulfils ``FileWriter``, on a disk that is slow, fails, or is gone."""

    def __init__(self, world: World, live: LiveNotebook) -> None:
        self.world, self.live = world, live
        self.frames: list[c.OpFrame] = []
        self.writing = asyncio.Lock()
        self.worker: asyncio.Task[None] | None = None
        self.closed = False

    async def open(self, cells: Mapping[str, str]) -> tuple[dict[str, int], str]:
        await self.world.disk()
        self.worker = asyncio.ensure_future(self._work())
        return dict(self.world.held), ""

    def rest(self) -> None: ...

    async def look(self) -> tuple[str, dict[str, int]]:
        await self.world.disk()
        return self.world.version, dict(self.world.held)

    async def close(self) -> None:
        self.closed = True
        async with self.writing:
            if self.worker is not None:
                self.worker.cancel()

    def send(self, frame: c.ServerFrame) -> None:
        if isinstance(frame, c.OpFrame):
            self.frames.append(frame)
            self.world.wake.set()
        elif isinstance(frame, c.ReadNotebook) and frame.request_id:
            self.live.answer(
                self, c.SnapshotTaken(frame.notebook, frame.epoch, frame.request_id, ())
            )

    async def _work(self) -> None:
        while True:
            while not self.frames:
                self.world.wake.clear()
                await self.world.wake.wait()
            async with self.writing:
                frames, self.frames = self.frames, []
                if self.closed:
                    return
                self.world.begins_to_write(self.live)
                try:
                    await self.world.disk()
                except DocumentError as error:
                    self.live.lost(error.message)
                    return
                for frame in frames:
                    self.world.apply(self.world.held, frame)
                self.world.version = f"v{len(self.world.applied)}-{frames[-1].epoch}"
                self.live.written(self.world.version, {})
                for f in frames:
                    receipt = c.OpReceipt(f.notebook, f.epoch, f.session_id, f.seq, DONE)
                    self.live.receive(self, receipt)


DONE = Receipt("done")


class World:
    """The file, the journal and the owner of the notebook."""

    has_rooms = False

    def __init__(self) -> None:
        self.held: dict[str, int] = {}
        self.version = "v0"
        self.applied: list[tuple[str, int]] = []
        self.journal: list[StoredOp] = []
        self.gates: list[asyncio.Future[None]] = []
        self.slow = self.failing = False
        self.wake = asyncio.Event()
        self.faults: list[str] = []

    async def disk(self) -> None:
        if self.slow:
            self.gates.append(asyncio.get_running_loop().create_future())
            await self.gates[-1]
        if self.failing:
            raise DocumentError("not_written", "The disk is full.")

    def begins_to_write(self, live: LiveNotebook) -> None:
        if live.has_window:
            self.faults.append("a write began while a window had it open")

    def apply(self, held: dict[str, int], frame: c.OpFrame) -> None:
        if frame.seq > held.get(frame.session_id, 0):
            held[frame.session_id] = frame.seq
            self.applied.append((frame.session_id, frame.seq))

    # --- its owner

    def file_writer(self, live: LiveNotebook) -> Any:
        return Writer(self, live)

    def ops(self, live: LiveNotebook, seqs: Mapping[str, int]) -> OpsBySession:
        return [(key, [op for op in self.journal if op.seq > seq]) for key, seq in seqs.items()]

    def saved(self, saved: Mapping[str, int]) -> None: ...

    def late(self, session_id: str, seq: int, receipt: Receipt) -> None: ...

    def gone(self, live: LiveNotebook, words: str) -> None: ...

    def cells_gone(self, live: LiveNotebook, cell_ids: frozenset[str]) -> None: ...

    def not_saved(self, session_ids: frozenset[str], words: str) -> None: ...

    def note(self, live: LiveNotebook, words: str) -> None: ...


class HandOvers(RuleBasedStateMachine):
    """Windows come, go and lie; writes fail, are slow and succeed; time passes.

    At each moment: no write begins while a window has the notebook open, nobody is blocked with
    a window there, and what waits has somebody to wait for. In the end, with a disk in order,
    each op is done, whatever was before."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = Clock()
        self.asked = 0
        self.tabs: list[Tab] = []
        self.seen: dict[Tab, int] = {}
        self.receipts: list[asyncio.Future[Receipt]] = []
        self._do(self._start)

    def _start(self) -> None:
        self.world = World()
        self.live: Any = LiveNotebook("a.ipynb", self.world, GRACE)

    def _do(self, work: Any) -> None:
        async def working() -> None:
            work()

        self.loop.run_until_complete(working())
        self._settle()

    def _settle(self) -> None:
        self.loop.ticks()
        while any([self._answer(tab) for tab in self.tabs]):
            self.loop.ticks()
        self._check()

    def _answer(self, tab: Tab) -> bool:
        """Whether there was anything to answer."""
        frames, tab.frames = tab.frames, []
        for frame in frames:
            if isinstance(frame, c.OpFrame) and frame.epoch == self.live.epoch:
                receipt = c.OpReceipt("a.ipynb", frame.epoch, frame.session_id, frame.seq, DONE)
                self.loop.run_until_complete(self._received(tab, receipt))
        return bool(frames)

    async def _received(self, tab: Tab, receipt: c.OpReceipt) -> None:
        self.live.receive(tab, receipt)

    def _check(self) -> None:
        assert not self.world.faults
        state, live = self.live.hand_over.state, self.live
        windows = bool(self.tabs)
        assert windows == live.has_window
        if windows:
            assert state in (State.CHECKING, State.WINDOW, State.CLOSING), state
        else:
            assert state not in (State.CHECKING, State.WINDOW), state
        assert (state is State.BLOCKED) == (live.hand_over.blocked is not None)
        if state in (State.WINDOW, State.FILE):
            assert live.is_open
        if live.waits:
            assert state is not State.NOBODY, "it waits for nobody"
        if state is State.BLOCKED:
            assert all(receipt.done() for receipt in self.receipts), "nobody says why it waits"

    # --- what happens --------------------------------------------------------------------

    @rule(edited=st.booleans(), version=st.sampled_from(["", "as the file", "v0", "a lie"]))
    @precondition(lambda self: len(self.tabs) < 3)
    def a_window_comes(self, edited: bool, version: str) -> None:
        tab = Tab()
        self.tabs.append(tab)
        self._announce(tab, edited, version)

    @rule(which=st.integers(0, 2), edited=st.booleans(), version=st.sampled_from(["", "a lie"]))
    @precondition(lambda self: bool(self.tabs))
    def a_window_announces_again(self, which: int, edited: bool, version: str) -> None:
        self._announce(self.tabs[which % len(self.tabs)], edited, version)

    def _announce(self, tab: Tab, edited: bool, version: str) -> None:
        said = self.world.version if version == "as the file" else version
        state = WindowState(dict(self.world.held), version=said, edited=edited)
        self._do(lambda: self.live.open(tab, state))

    @rule(which=st.integers(0, 2), for_good=st.booleans())
    @precondition(lambda self: bool(self.tabs))
    def a_window_goes(self, which: int, for_good: bool) -> None:
        tab = self.tabs.pop(which % len(self.tabs))
        self._do(lambda: self.live.close(tab, for_good=for_good))

    @rule(which=st.integers(0, 2))
    @precondition(lambda self: bool(self.tabs))
    def a_window_takes_the_lease(self, which: int) -> None:
        self._do(lambda: self.live.take(self.tabs[which % len(self.tabs)]))

    @rule(which=st.integers(0, 2))
    @precondition(lambda self: bool(self.tabs))
    def a_window_renames_it(self, which: int) -> None:
        tab = self.tabs[which % len(self.tabs)]
        self.tabs = [tab]
        self._do(lambda: self.live.moved("b.ipynb", tab))

    @rule()
    def an_op(self) -> None:
        self.asked += 1
        op = Insert(f"n{self.asked}", "code", "1", ())
        self.world.journal.append(StoredOp(self.asked, 1, op))
        healthy = any(self.live.held_by(tab) for tab in self.tabs)
        self._do(lambda: self.receipts.append(self.live.apply("S", self.asked, op)))
        if healthy:
            assert self.receipts[-1].result().status == "done", "a healthy window is not used"

    @rule()
    def no_window_is_expected(self) -> None:
        self._do(self.live.hand_over.expect_no_window)

    @rule(seconds=st.sampled_from([1.0, 11.0, 31.0]))
    def time_passes(self, seconds: float) -> None:
        self.loop.pass_time(seconds)
        self._settle()

    @rule(writes=st.booleans(), fails=st.booleans())
    def a_window_comes_to_a_turn_in_the_file(self, writes: bool, fails: bool) -> None:
        """``writes``: in the middle of a write, which ``fails``. Chance seldom comes here."""
        while self.tabs:
            self.a_window_goes(0, True)
        self.the_disk_changes(slow=False)
        self.the_disk_answers(failing=False)
        self.an_op()
        self.time_passes(31.0)
        if writes:
            self.the_disk_changes(slow=True)
            self.an_op()
        self.a_window_comes(False, "as the file")
        self.the_disk_answers(failing=fails)

    @rule(slow=st.booleans())
    def the_disk_changes(self, slow: bool) -> None:
        self.world.slow = slow

    @rule(failing=st.booleans())
    def the_disk_answers(self, failing: bool) -> None:
        self.world.failing = failing
        for gate in self.world.gates:
            if not gate.done():
                gate.set_result(None)
        self.world.gates.clear()
        self._settle()

    @rule()
    def the_server_starts_again(self) -> None:
        held, version = self.world.held, self.world.version
        self.tabs.clear()
        self.receipts.clear()
        self._start_again(held, version)

    def _start_again(self, held: dict[str, int], version: str) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.ticks(3)
        self._do(self._start)
        self.world.held, self.world.version = held, version

    def teardown(self) -> None:
        try:
            self._check_that_it_can_go_on()
        finally:
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.ticks(3)
            self.loop.close()

    def _check_that_it_can_go_on(self) -> None:
        """What had blocked it is gone: a window comes, then none is there, and ops are done."""
        self.the_disk_changes(slow=False)
        self.the_disk_answers(failing=False)
        self.a_window_comes(False, "as the file")
        for _ in range(3):
            self.time_passes(31.0)
        self.an_op()
        assert self.receipts[-1].result().status == "done", "a healthy window is not used"
        while self.tabs:
            self.a_window_goes(0, True)
        self.time_passes(31.0)
        self.an_op()
        self.time_passes(31.0)
        assert self.receipts[-1].result().status == "done", "a healthy file is not used"


TestHandOvers = HandOvers.TestCase
TestHandOvers.settings = settings(max_examples=200, stateful_step_count=30, deadline=None)


# --- a block ends with its cause ----------------------------------------------------------------


async def test_a_window_that_comes_while_a_write_fails_is_not_blocked() -> None:
    """The failure is heard while the file writer is being closed."""
    world = World()
    live = LiveNotebook("a.ipynb", world, grace=0)
    insert = Insert("n1", "code", "1", ())
    world.journal.append(StoredOp(1, 1, insert))
    first = live.apply("S", 1, insert)
    await until(lambda: live.in_file)
    assert (await first).status == "done"
    world.slow = True
    second = live.apply("S", 2, Insert("n2", "code", "2", ()))
    await until(lambda: world.gates)
    tab = Tab()
    live.open(tab, WindowState(dict(world.held), version=world.version))
    await asyncio.sleep(0)
    world.failing = True
    world.gates[0].set_result(None)
    await until(lambda: live.held_by(tab))
    (frame,) = [frame for frame in tab.frames if isinstance(frame, c.OpFrame)]
    live.receive(tab, c.OpReceipt("a.ipynb", live.epoch, "S", frame.seq, DONE))
    assert (await second).status == "done"
    third = live.apply("S", 3, Insert("n3", "code", "3", ()))
    await asyncio.sleep(0)
    assert not third.done(), "a healthy window is not blocked"
    live.receive(tab, c.OpReceipt("a.ipynb", live.epoch, "S", 3, DONE))
    assert (await third).status == "done"


def test_a_file_that_could_not_be_written_is_tried_again() -> None:
    """In the same turn, and without a window."""
    machine = HandOvers()
    try:
        machine.the_disk_answers(failing=True)
        machine.an_op()
        machine.time_passes(31.0)
        assert machine.receipts[0].result().status == "pending"
        machine.an_op()
        assert machine.receipts[1].result().reason == "The disk is full."
        machine.the_disk_answers(failing=False)
        machine.time_passes(RETRY_AFTER)
        machine.an_op()
        assert machine.receipts[2].result().status == "done"
        assert machine.world.applied == [("S", 1), ("S", 2), ("S", 3)]
    finally:
        machine.teardown()
