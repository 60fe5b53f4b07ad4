"""The live notebook by itself: lease and epochs, ops and receipts, reads, what is shown."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import DocumentError
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.journal.sqlite.writer import Writer
from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.notebook.live import LiveNotebook, SessionDocument, WindowState
from jupyter_codeinterp.notebook.live import outbox as outbox_module
from jupyter_codeinterp.notebook.live import reads as reads_module
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.ops import (
    BeginRun,
    CellView,
    Delete,
    FinishRun,
    Insert,
    Notebook,
    Op,
    Receipt,
    SetSource,
    digest,
)
from jupyter_codeinterp.wire.stores import OpsBySession, StoredOp
from tests.kernels import until
from tests.reference_window import notebook

S = "session"
SILENCE = "the notebook's window does not answer"


class Tab:
    """A window in this process. It answers as it is asked, unless it is ``frozen``."""

    def __init__(self, live: LiveNotebook, book: Notebook | None = None) -> None:
        self.live = live
        self.book = book or notebook("x = 20")
        self.applied: dict[str, int] = {}
        self.frozen = False
        self.frames: list[c.ServerFrame] = []
        self.unanswered: list[c.ServerFrame] = []

    def open(self, kernel_id: str = "") -> Tab:
        self.live.open(self, WindowState(dict(self.applied), kernel_id))
        return self

    def send(self, frame: c.ServerFrame) -> None:
        self.frames.append(frame)
        self.unanswered.append(frame)
        if not self.frozen:
            self.answer()

    def answer(self) -> None:
        frames, self.unanswered = self.unanswered, []
        for frame in frames:
            if isinstance(frame, c.OpFrame):
                self.book, receipt = apply(self.book, frame.op)
                self.applied[frame.session_id] = frame.seq
                self.receipt(frame, receipt)
            elif isinstance(frame, c.ReadNotebook):
                self.snapshot(frame)

    def receipt(self, frame: c.OpFrame, receipt: Receipt) -> None:
        answer = c.OpReceipt("a.ipynb", frame.epoch, frame.session_id, frame.seq, receipt)
        self.live.receive(self, answer)

    def snapshot(self, frame: c.ReadNotebook) -> None:
        cells = tuple(
            CellView(cell["id"], cell["cell_type"], cell["source"])
            for cell in self.book["cells"]
            if not frame.cell_ids or cell["id"] in frame.cell_ids
        )
        self.live.answer(self, c.SnapshotTaken("a.ipynb", frame.epoch, frame.request_id, cells))

    def of(self, kind: type[Any]) -> list[Any]:
        return [frame for frame in self.frames if isinstance(frame, kind)]

    @property
    def ops(self) -> list[int]:
        return [frame.seq for frame in self.of(c.OpFrame)]

    @property
    def lease(self) -> c.Lease:
        lease: c.Lease = self.of(c.Lease)[-1]
        return lease

    @property
    def sources(self) -> list[str]:
        return [cell["source"] for cell in self.book["cells"]]


def inserted(number: int) -> Insert:
    return Insert(f"n{number}", "raw", f"cell {number}", ())


def insert(live: LiveNotebook, *numbers: int) -> list[asyncio.Future[Receipt]]:
    return [live.apply(S, number, inserted(number)) for number in numbers]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "RESEND_AFTER", 0.01)
    monkeypatch.setattr(reads_module, "TIMEOUT", 0.05)


# --- lease and epochs ----------------------------------------------------------------


async def test_one_window_holds_the_lease_and_the_other_is_told() -> None:
    live = LiveNotebook("a.ipynb")
    first, second = Tab(live).open(), Tab(live).open()
    assert first.lease.held and not second.lease.held
    live.take(second)
    assert second.lease.held and not first.lease.held
    assert second.lease.epoch == first.lease.epoch > first.of(c.Lease)[0].epoch
    live.take(Tab(live))
    assert live.held_by(second), "a window that has not opened it gets no lease"
    live.close(second)
    assert first.lease.held and first.lease.epoch > second.lease.epoch


async def test_the_holder_that_says_again_that_it_is_open_keeps_its_epoch() -> None:
    """It does so when its document was read anew: then it gets the ops that are missing."""
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    epoch = live.epoch
    insert(live, 1, 2)
    tab.open()
    assert (live.epoch, tab.lease.epoch, tab.ops) == (epoch, epoch, [1, 2])
    tab.book, tab.applied = notebook("x = 20"), {S: 1}
    tab.open()
    assert (live.epoch, tab.ops) == (epoch, [1, 2, 2])


async def test_a_lease_names_the_copy_that_it_is_for() -> None:
    live = LiveNotebook("a.ipynb")
    holder, other = Tab(live), Tab(live)
    live.open(holder, WindowState({}, announcement=1))
    live.open(holder, WindowState({}, announcement=2))
    live.open(other, WindowState({}, announcement=7))
    live.take(other)
    assert [(f.held, f.announcement) for f in holder.of(c.Lease)] == [
        (True, 1),
        (True, 2),
        (False, 2),
    ]
    assert [(f.held, f.announcement) for f in other.of(c.Lease)] == [(False, 7), (True, 7)]


async def test_an_epoch_never_comes_back() -> None:
    """Not in another notebook, nor in one that was forgotten and opened again."""
    seen = []
    for path in ("a.ipynb", "b.ipynb", "a.ipynb"):
        live = LiveNotebook(path)
        first = Tab(live).open()
        seen.append(live.epoch)
        live.close(first)
        Tab(live).open()
        seen.append(live.epoch)
    assert seen == sorted(set(seen))


async def test_only_the_holders_kernel_counts() -> None:
    live = LiveNotebook("a.ipynb")
    first, second = Tab(live).open("k1"), Tab(live).open("k2")
    assert live.kernel_id == "k1"
    live.kernel_of(second, "k3")
    live.kernel_of(Tab(live), "k4")
    assert live.kernel_id == "k1"
    live.close(first)
    assert live.kernel_id == "k3"
    live.kernel_of(second, "k5")
    assert live.kernel_id == "k5"
    live.close(second)
    assert live.kernel_id == ""


# --- ops and receipts ----------------------------------------------------------------


async def test_receipts_of_another_window_or_epoch_are_ignored() -> None:
    live = LiveNotebook("a.ipynb")
    tab, other = Tab(live).open(), Tab(live).open()
    tab.frozen = other.frozen = True
    (receipt,) = insert(live, 1)
    old: c.OpFrame = tab.of(c.OpFrame)[-1]
    other.receipt(old, Receipt("done"))
    assert not receipt.done()
    live.take(other)
    tab.receipt(old, Receipt("conflict"))
    other.receipt(old, Receipt("conflict"))
    assert not receipt.done(), "of an older epoch"
    other.answer()
    assert receipt.result().status == "conflict" or receipt.result().status == "done"
    assert receipt.result() == Receipt("done")


async def test_a_receipt_that_was_lost_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough that a busy machine does not ask a third time.
    monkeypatch.setattr(outbox_module, "RESEND_AFTER", 0.3)
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    tab.frozen = True
    (receipt,) = insert(live, 1)
    await until(lambda: len(tab.ops) == 2)
    assert tab.ops == [1, 1], "under the same number"
    tab.answer()
    assert (await receipt).status == "done"
    assert tab.sources.count("cell 1") == 1
    await asyncio.sleep(0.5)
    assert tab.ops == [1, 1], "no more once there is a receipt"


async def test_a_window_that_does_not_answer_leaves_an_op_pending(impatient: None) -> None:
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    tab.frozen = True
    (receipt,) = insert(live, 1)
    assert (await receipt).status == "pending"
    assert tab.ops == [1, 1, 1]
    tab.frozen = False
    tab.answer()
    assert receipt.result().status == "pending", "the turn has gone on"
    # It has been done after all, so a document that lacks it gets it.
    live.close(tab)
    assert Tab(live).open().ops == [1]


async def test_ops_wait_while_no_window_has_the_notebook_open(impatient: None) -> None:
    live = LiveNotebook("a.ipynb")
    first, second = insert(live, 1, 2)
    await asyncio.sleep(0.05)
    assert not first.done() and not live.idle
    tab = Tab(live).open()
    assert tab.ops == [1, 2] and first.result().status == second.result().status == "done"


async def test_a_window_gets_what_its_document_lacks_in_order_and_once() -> None:
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    ops: list[Op] = [
        inserted(1),
        SetSource("n1", "1 + 1", "cell 1"),
        SetSource("n1", "never", "something else"),
        BeginRun("n1", digest("1 + 1"), "r1"),
        FinishRun("n1", "r1", (), 1),
        Delete("gone", ""),
    ]
    receipts = [live.apply(S, seq, op) for seq, op in enumerate(ops, 1)]
    assert [receipt.result().status for receipt in receipts] == [
        "done", "done", "conflict", "done", "done", "done",
    ]  # fmt: skip
    live.close(tab)
    # The file was saved after the first op; the third was refused, and stays so.
    saved, _ = apply(notebook("x = 20"), ops[0])
    fresh = Tab(live, saved)
    fresh.applied = {S: 1}
    fresh.open()
    assert fresh.ops == [2, 4, 5, 6]
    assert fresh.book == tab.book
    # Also when the turn is over: only what the file holds is not sent again.
    live.end_turn(S)
    live.close(fresh)
    again = Tab(live).open()
    assert again.ops == [1, 2, 4, 5, 6]
    live.file_state(again, c.FileState("a.ipynb", {S: 4}, "v2", False))
    live.close(again)
    assert Tab(live).open().ops == [5, 6]


async def test_what_the_person_went_back_on_is_not_done_again() -> None:
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    insert(live, 1, 2)
    live.end_turn(S)
    other = [live.apply("other", 1, inserted(3))]
    assert other[0].result().status == "done"
    tab.book, tab.applied = notebook("x = 20"), {}
    live.open(tab, WindowState({}), reverted=True)
    assert tab.ops == [1, 2, 1, 1], "but for the turn that is running"
    live.close(tab)
    assert Tab(live).open().ops == [1]


async def test_what_was_closed_without_being_saved_is_given_up() -> None:
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    insert(live, 1, 2)
    live.end_turn(S)
    live.file_state(tab, c.FileState("a.ipynb", {S: 1}, "v1", True))
    live.close(tab, for_good=True)
    assert Tab(live).open().ops == []


async def test_what_is_open_at_the_end_of_a_turn_is_still_sent() -> None:
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    insert(live, 1)
    live.close(tab)
    live.apply(S, 2, Delete("n1", "cell 1"))
    live.end_turn(S)
    tab.open()
    assert tab.ops == [1, 2] and "cell 1" not in tab.sources


async def test_giving_up_answers_what_waits() -> None:
    live = LiveNotebook("a.ipynb")
    ours, theirs = live.apply(S, 1, inserted(1)), live.apply("other", 1, inserted(2))
    live.drop(S)
    assert ours.result().status == "pending" and not theirs.done()
    live.give_up("the server is stopping")
    assert theirs.result() == Receipt("pending", reason="the server is stopping")
    assert live.idle


# --- a copy that is behind the file ----------------------------------------------------


class Keeper:
    """Fulfils ``Owner``: a journal of ops, and the file as it is looked at."""

    has_rooms = False

    def __init__(self, version: str = "v2", holds: dict[str, int] | None = None) -> None:
        self.version, self.holds = version, holds or {}
        self.journal: list[StoredOp] = []
        self.marks: dict[str, int] = {}
        self.opened = self.looking = False

    def look_for(self, cell_id: str) -> None: ...

    def rest(self) -> None: ...

    def cells_gone(self, live: LiveNotebook, cell_ids: frozenset[str]) -> None: ...

    def not_saved(self, session_ids: frozenset[str], words: str) -> None: ...

    def file_writer(self, live: LiveNotebook) -> Keeper:
        return self

    async def look(self) -> tuple[str, dict[str, int]]:
        self.looking = True
        await asyncio.sleep(0)
        return self.version, self.holds

    async def open(self, cells: Mapping[str, str]) -> tuple[dict[str, int], str]:
        self.opened = True
        return self.holds, ""

    async def close(self) -> None: ...

    def send(self, frame: c.ServerFrame) -> None: ...

    def ops(self, live: LiveNotebook, seqs: Mapping[str, int]) -> OpsBySession:
        return [(key, [op for op in self.journal if op.seq > seq]) for key, seq in seqs.items()]

    def saved(self, saved: Mapping[str, int]) -> None:
        self.marks.update(saved)

    def late(self, session_id: str, seq: int, receipt: Receipt) -> None: ...

    def gone(self, live: LiveNotebook, words: str) -> None: ...

    def note(self, live: LiveNotebook, words: str) -> None: ...


def stored(*numbers: int) -> list[StoredOp]:
    return [StoredOp(n, 1, inserted(n), Receipt("done")) for n in numbers]


async def test_a_tab_that_slept_while_another_saved_reads_the_file_first() -> None:
    live = LiveNotebook("a.ipynb", Keeper("v2", {S: 1}))
    slept = Tab(live)
    live.open(slept, WindowState({}, version="v1"))
    other = Tab(live)
    live.open(other, WindowState({}, version="v1"))
    live.take(other)
    insert(live, 1)
    live.file_state(other, c.FileState("a.ipynb", {S: 1}, "v2", False))
    live.close(other)
    await until(lambda: slept.of(c.ReloadNotebook))
    assert not live.is_open
    live.open(slept, WindowState({S: 1}, saved={S: 1}, version="v2"))
    assert live.held_by(slept) and slept.ops == []


async def test_a_tab_takes_the_lease_once_it_has_read_the_file() -> None:
    """It was told to do that first, and asks no second time."""
    live = LiveNotebook("a.ipynb", Keeper("v2", {S: 1}))
    holder, behind = Tab(live), Tab(live)
    live.open(holder, WindowState({S: 1}, saved={S: 1}, version="v2"))
    live.open(behind, WindowState({}, version="v1"))
    live.take(behind)
    await until(lambda: behind.of(c.ReloadNotebook))
    assert live.held_by(holder)
    live.open(behind, WindowState({S: 1}, saved={S: 1}, version="v2"))
    await until(lambda: live.held_by(behind))


async def test_an_old_copy_with_edits_gets_what_the_file_has_since() -> None:
    """After a restart as well, when only the journal knows the ops. What was given up, and is
    not in the file, stays away."""
    keeper = Keeper("v2", {S: 2})
    keeper.journal = stored(1, 2, 3)
    live = LiveNotebook("a.ipynb", keeper)
    live.know_saved({S: 3})
    tab = Tab(live)
    live.open(tab, WindowState({}, version="v1", edited=True))
    await until(lambda: live.held_by(tab))
    assert tab.ops == [1, 2]
    assert not tab.of(c.ReloadNotebook)
    # For that copy alone: here the file is an old one, put back.
    keeper.version, keeper.holds = "v0", {}
    fresh = Tab(live)
    live.open(fresh, WindowState({}, version="v0"))
    live.close(tab)
    await until(lambda: live.held_by(fresh))
    assert fresh.ops == []


async def test_an_old_file_that_was_put_back_is_taken_as_it_is() -> None:
    keeper = Keeper("v1")
    keeper.journal = stored(1)
    live = LiveNotebook("a.ipynb", keeper)
    live.know_saved({S: 1})
    for edited in (False, True):
        tab = Tab(live)
        live.open(tab, WindowState({}, version="v1", edited=edited))
        await until(partial(live.held_by, tab))
        assert tab.ops == [] and not tab.of(c.ReloadNotebook)
        live.close(tab)


async def test_a_tab_that_goes_while_it_is_to_read_the_file_makes_room() -> None:
    live = LiveNotebook("a.ipynb", Keeper("v2", {S: 1}))
    holder, behind, third = Tab(live), Tab(live), Tab(live)
    live.open(holder, WindowState({S: 1}, saved={S: 1}, version="v2"))
    live.open(behind, WindowState({}, version="v1"))
    live.open(third, WindowState({S: 1}, saved={S: 1}, version="v2"))
    live.close(holder)
    await until(lambda: behind.of(c.ReloadNotebook))
    live.close(behind)
    await until(lambda: live.held_by(third))


async def test_a_look_at_the_file_that_was_interrupted_is_taken_again() -> None:
    """Another window came meanwhile, and went."""
    keeper = Keeper("v2", {S: 1})
    live = LiveNotebook("a.ipynb", keeper)
    live.know_saved({S: 1})
    behind, other = Tab(live), Tab(live)
    live.open(behind, WindowState({}, version="v1"))
    await asyncio.sleep(0)
    assert keeper.looking
    live.open(other, WindowState({S: 1}, saved={S: 1}, version="v2"))
    assert live.held_by(other)
    live.close(other)
    await until(lambda: behind.of(c.ReloadNotebook))
    assert not live.is_open


async def test_a_look_at_the_file_is_good_for_one_lease() -> None:
    """Another window has saved since."""
    keeper = Keeper("v1")
    keeper.journal = stored(1)
    live = LiveNotebook("a.ipynb", keeper)
    live.know_saved({S: 1})
    tab, other = Tab(live), Tab(live)
    live.open(tab, WindowState({}, version="v1"))
    await until(lambda: live.held_by(tab))
    live.open(other, WindowState({}, version="v1"))
    live.take(other)
    await until(lambda: live.held_by(other))
    keeper.version, keeper.holds = "v2", {S: 2}
    live.file_state(other, c.FileState("a.ipynb", {S: 2}, "v2", False))
    live.close(other)
    await until(lambda: tab.of(c.ReloadNotebook))
    assert not live.is_open


async def test_what_the_stand_in_wrote_is_kept_until_a_window_has_read_it() -> None:
    """One that comes back with edits and an older copy needs it, in this life of the server
    or in the next."""
    keeper = Keeper()
    live = LiveNotebook("a.ipynb", keeper, grace=0)
    (receipt,) = insert(live, 1)
    await until(lambda: live.in_file)
    live.written("v2", {})
    live.receive(keeper, c.OpReceipt("a.ipynb", live.epoch, S, 1, Receipt("done")))
    live.written("v3", {})
    assert receipt.result().status == "done" and keeper.marks == {}
    edited = Tab(live)
    live.open(edited, WindowState({}, version="v1", edited=True))
    await until(lambda: live.held_by(edited))
    assert edited.ops == [1]
    live.file_state(edited, c.FileState("a.ipynb", {S: 1}, "v4", False))
    assert keeper.marks == {S: 1}


# --- one after the other -----------------------------------------------------------------


async def test_an_op_waits_until_the_one_before_it_is_answered() -> None:
    """Else a document whose marker has passed an op that it refused would be taken to have
    applied it, its receipt being lost."""
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    tab.frozen = True
    receipts = [live.apply(S, 1, SetSource("c1", "mine", "not this")), *insert(live, 2, 3)]
    other = live.apply("other", 1, inserted(4))
    assert [(f.session_id, f.seq) for f in tab.of(c.OpFrame)] == [(S, 1), ("other", 1)]
    live.close(tab)
    fresh = Tab(live).open()
    assert [receipt.result().status for receipt in receipts] == ["conflict", "done", "done"]
    assert other.result().status == "done" and fresh.applied == {S: 3, "other": 1}


async def test_ops_behind_one_that_nobody_answers_are_pending_with_it(impatient: None) -> None:
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    tab.frozen = True
    receipts = insert(live, 1, 2)
    assert [(await receipt).status for receipt in receipts] == ["pending", "pending"]
    assert tab.ops == [1, 1, 1]
    tab.frozen = False
    tab.answer()
    assert tab.ops[3:] == [2] and "cell 2" in tab.sources, "it goes on when one is answered"


async def test_a_turn_that_runs_keeps_the_notebook() -> None:
    """What a person goes back on is done again for a turn that runs; so it must be known to
    run, though no window has the notebook open for a moment."""
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    insert(live, 1)
    live.close(tab)
    assert not live.idle
    live.end_turn(S)
    assert live.idle


async def test_later_reports_of_a_run_replace_each_other_while_the_notebook_is_closed() -> None:
    live = LiveNotebook("a.ipynb")
    insert(live, 1)
    for seq in range(2, 100):
        output = {"output_type": "stream", "name": "stdout", "text": f"{seq}\n"}
        live.apply_later(S, seq, FinishRun("x", f"r{seq % 2}", (output,), 1))
    assert Tab(live).open().ops == [1, 98, 99]
    assert not live.waits


async def test_ops_of_the_journal_go_before_later_ones() -> None:
    live = LiveNotebook("a.ipynb")
    insert(live, 3)
    live.restore(S, stored(1, 2))
    assert Tab(live).open().ops == [1, 2, 3]


async def test_ops_of_the_journal_go_between_those_that_are_there() -> None:
    live = LiveNotebook("a.ipynb")
    live.restore("other", stored(1))
    live.restore(S, stored(2, 4))
    live.restore(S, stored(1, 2, 3, 4, 5))
    assert [(f.session_id, f.seq) for f in Tab(live).open().of(c.OpFrame)] == [
        ("other", 1), *((S, seq) for seq in range(1, 6))
    ]  # fmt: skip


async def test_taking_up_ops_takes_steps_in_proportion_to_their_number() -> None:
    few, many = (_steps(partial(LiveNotebook("a.ipynb").restore, S, stored(*range(1, n + 1))))
                 for n in (50, 500))  # fmt: skip
    assert many < 12 * few


def _steps(work: Callable[[], object]) -> int:
    """The lines of Python that are carried out."""
    steps = 0

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


# --- reads ---------------------------------------------------------------------------


async def test_a_read_waits_for_a_window_and_follows_the_lease(impatient: None) -> None:
    live = LiveNotebook("a.ipynb")
    reading = asyncio.ensure_future(live.read())
    await asyncio.sleep(0.1)
    assert not reading.done() and not live.idle
    frozen = Tab(live)
    frozen.frozen = True
    frozen.open()
    await until(lambda: frozen.of(c.ReadNotebook))
    live.close(frozen)
    other = Tab(live, notebook("other")).open()
    assert (await reading).cells[0].source == "other"
    assert len(other.of(c.ReadNotebook)) == 1


async def test_a_window_that_does_not_answer_a_read(impatient: None) -> None:
    live = LiveNotebook("a.ipynb")
    tab = Tab(live)
    tab.frozen = True
    tab.open()
    with pytest.raises(DocumentError) as error:
        await live.read()
    assert error.value.code == "not_open"
    tab.answer()  # too late: nobody listens any more


async def test_an_old_snapshot_is_no_answer(impatient: None) -> None:
    live = LiveNotebook("a.ipynb")
    tab, other = Tab(live).open(), Tab(live)
    tab.frozen = other.frozen = True
    reading = asyncio.ensure_future(live.read())
    await until(lambda: tab.of(c.ReadNotebook))
    other.open()
    other.snapshot(tab.of(c.ReadNotebook)[0])
    live.take(other)
    live.take(tab)
    tab.snapshot(tab.of(c.ReadNotebook)[0])
    await asyncio.sleep(0)
    assert not reading.done()
    await until(lambda: len(tab.of(c.ReadNotebook)) > 1)
    tab.snapshot(tab.of(c.ReadNotebook)[-1])
    assert (await reading).cells[0].source == "x = 20"


async def test_a_save_is_a_request() -> None:
    live = LiveNotebook("a.ipynb")
    live.save()
    tab = Tab(live).open()
    assert tab.of(c.ReadNotebook) == []
    live.save()
    (read,) = tab.of(c.ReadNotebook)
    assert read.save and live.idle is False and live._reads._open == {}


# --- what is shown -------------------------------------------------------------------


async def test_code_that_is_being_written_is_shown_to_a_new_window() -> None:
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    live.apply(S, 1, Insert("n1", "raw", "", ()))
    live.preview.stream(S, "d1", "n1", "insert", 0, "for x in")
    live.preview.stream(S, "d1", "n1", "insert", 8, " y:")
    live.close(tab)
    live.preview.stream(S, "d1", "n1", "insert", 11, "\n  pass")
    fresh = Tab(live).open()
    assert [type(frame) for frame in fresh.frames] == [c.Lease, c.OpFrame, c.StreamFrame]
    (shown,) = fresh.of(c.StreamFrame)
    assert (shown.start, shown.text, shown.epoch) == (0, "for x in y:\n  pass", live.epoch)
    live.apply(S, 2, SetSource("n1", "for x in y:\n  pass", ""))
    live.take(Tab(live).open())
    late = Tab(live).open()
    live.take(late)
    assert late.of(c.StreamFrame) == [], "an op has brought it"


async def test_outputs_of_a_running_cell_are_shown_to_a_new_window() -> None:
    live = LiveNotebook("a.ipynb")
    tab = Tab(live).open()
    one, two, three = ({"output_type": "stream", "name": "stdout", "text": t} for t in "123")
    live.preview.outputs(S, "n1", "r1", 0, (one, two))
    live.preview.outputs(S, "n1", "r1", 1, (three,))
    live.close(tab)
    fresh = Tab(live).open()
    (shown,) = fresh.of(c.OutputsFrame)
    assert (shown.run_id, shown.start, shown.outputs) == ("r1", 0, (one, three))
    # Another run of the same cell begins with nothing.
    live.preview.outputs(S, "n1", "r2", 0, ())
    live.take(Tab(live).open())
    late = Tab(live).open()
    live.take(late)
    assert [(f.run_id, f.outputs) for f in late.of(c.OutputsFrame)] == [("r2", ())]
    live.apply(S, 1, FinishRun("n1", "r2", (), 1))
    live.close(late)
    assert Tab(live).open().of(c.OutputsFrame) == []


async def test_a_move_takes_one_window_along() -> None:
    live = LiveNotebook("a.ipynb")
    holder, renamer = Tab(live).open("k1"), Tab(live).open("k2")
    holder.frozen = True
    (receipt,) = insert(live, 1)
    others = live.moved("b.ipynb", renamer)
    assert list(others) == [holder] and others[holder].kernel_id == "k1"
    assert live.path == "b.ipynb" and live.held_by(renamer)
    assert renamer.of(c.OpFrame)[-1].notebook == "b.ipynb"
    assert receipt.result().status == "done", "the op that was on its way has followed"


# --- as a session sees it ------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "sessions.db")
    store.create(SessionInfo(S, "a.ipynb", "", "m", "review", False, 0.0, 0.0))
    yield store
    store.close()


async def test_no_turn_depends_on_a_save(store: SqliteStore, impatient: None) -> None:
    live = LiveNotebook("a.ipynb")
    document = SessionDocument(lambda: live, store, S)
    await asyncio.wait_for(document.save(), 30)
    tab = Tab(live)
    tab.frozen = True
    tab.open()
    await asyncio.wait_for(document.save(), 30)
    assert tab.of(c.ReadNotebook)[0].save


async def test_a_turn_begins_with_an_open_notebook_and_then_waits_for_it(
    store: SqliteStore,
) -> None:
    live = LiveNotebook("a.ipynb")
    document = SessionDocument(lambda: live, store, S)
    for turn in (1, 2):
        document.begin_turn(turn)
        with pytest.raises(DocumentError, match="not open in any window"):
            await document.snapshot()
        tab = Tab(live).open()
        assert (await document.snapshot()).path == "a.ipynb"
        live.close(tab)
        looking = asyncio.ensure_future(document.snapshot())
        await asyncio.sleep(0)
        assert not looking.done()
        tab.open()
        assert (await looking).cells[0].source == "x = 20"
        live.close(tab)


async def test_ops_are_numbered_and_journaled(store: SqliteStore, impatient: None) -> None:
    live = LiveNotebook("a.ipynb")
    document = SessionDocument(lambda: live, store, S)
    document.begin_turn(3)
    waiting = document.apply(inserted(1))
    assert [(op.seq, op.turn, op.receipt) for op in store.ops(S)] == [(1, 3, None)]
    tab = Tab(live).open()
    receipt = await waiting
    await asyncio.sleep(0)
    assert store.ops(S)[0].receipt == receipt
    tab.frozen = True
    assert (await document.apply(inserted(2))).status == "pending"
    assert store.ops(S)[1].receipt == Receipt("pending", reason=SILENCE), "nobody knows"
    # After a restart of the server the numbers go on.
    again = SessionDocument(lambda: live, store, S)
    assert not isinstance(again.apply(inserted(3)), Receipt)
    assert store.ops(S)[-1].seq == 3
    live.give_up("the test is over")


async def test_an_op_leaves_when_the_journal_has_it(store: SqliteStore) -> None:
    """On a network drive appends come later. If the server ends between, its number is free."""
    may = threading.Event()

    @contextlib.contextmanager
    def slow() -> Iterator[None]:
        may.wait()
        with store._transaction():
            yield

    live = LiveNotebook("a.ipynb")
    document = SessionDocument(lambda: live, store, S)
    tab = Tab(live).open()
    store.writer = Writer(slow)
    document.begin_turn(1)
    first, second = document.apply(inserted(1)), document.apply(inserted(2))
    try:
        await asyncio.sleep(0)
        assert tab.of(c.OpFrame) == []
    finally:
        may.set()
    assert [(await one).status for one in (first, second)] == ["done", "done"]
    document.apply_later(1, inserted(3))
    await until(lambda: len(tab.of(c.OpFrame)) == 3)
    assert [one.seq for one in tab.of(c.OpFrame)] == [one.seq for one in store.ops(S)] == [1, 2, 3]
    live.give_up("the test is over")
