from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.base.errors import StoreError
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.ledger import Ledger, outputs_of, undo_op
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.journal.sqlite import file as journal_file
from jupyter_codeinterp.journal.sqlite import journal as journal_base
from jupyter_codeinterp.journal.sqlite.schema import REMOVED_EVENTS, REMOVED_TABLES
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import (
    Draft,
    DraftWaiting,
    Event,
    Note,
    RunStarted,
    StepDiscarded,
    StepStarted,
    TextDelta,
    TextDone,
    ThinkingDelta,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from jupyter_codeinterp.wire.messages import (
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
    assistant,
    user,
)
from jupyter_codeinterp.wire.ops import (
    BeginRun,
    Delete,
    FinishRun,
    Insert,
    Receipt,
    Restore,
    digest,
)
from jupyter_codeinterp.wire.stores import StoredOp
from tests.kept_outputs import kept_outputs, put_outputs


def info(session_id: str = "s1", notebook: str = "a.ipynb", changed: float = 1.0) -> SessionInfo:
    return SessionInfo(session_id, notebook, "Title", "model", "review", False, 0.5, changed)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal" / "journal.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(path)
    store.create(info())
    yield store
    store.close()


def journal(store: SqliteStore, *events: Event, session_id: str = "s1") -> list[tuple[int, Event]]:
    """Append one by one, numbered on; what is left then."""
    kept = store.events(session_id)
    for seq, event in enumerate(events, kept[-1][0] + 1 if kept else 1):
        store.append_events(session_id, [(seq, event)])
    return store.events(session_id)


# --- sessions ------------------------------------------------------------------------


def test_sessions_newest_first_and_by_notebook(store: SqliteStore) -> None:
    store.create(info("s2", "b.ipynb", 3.0))
    store.create(info("s3", "a.ipynb", 2.0))
    assert [s.session_id for s in store.list()] == ["s2", "s3", "s1"]
    assert [s.session_id for s in store.list("a.ipynb")] == ["s3", "s1"]
    assert store.list("none.ipynb") == []
    store.update(info("s1", "a.ipynb", 9.0))
    assert store.list()[0] == info("s1", "a.ipynb", 9.0)
    assert store.get("unknown") is None


def test_last_seq_is_the_journals(store: SqliteStore) -> None:
    store.append_events("s1", [(1, Note(Sentence("a"))), (7, Note(Sentence("b")))])
    session = store.get("s1")
    assert session is not None and session.last_seq == 7


def test_rename_notebook(store: SqliteStore) -> None:
    store.create(info("s2", "b.ipynb"))
    store.rename_notebook("a.ipynb", "c.ipynb")
    assert [(s.session_id, s.notebook) for s in store.list()] == [
        ("s1", "c.ipynb"),
        ("s2", "b.ipynb"),
    ]
    session = store.get("s1")
    assert session is not None and session.notebook == "c.ipynb"


def test_delete_takes_everything_of_one_session(store: SqliteStore, path: Path) -> None:
    store.create(info("s2"))
    for session_id in ("s1", "s2"):
        store.append_events(session_id, [(1, Note(Sentence("a")))])
        store.append_messages(session_id, (user(Text("hi")),), 1)
        store.append_request(session_id, 1, {"system": "be good"})
        store.append_op(session_id, StoredOp(1, 1, Delete("c", "x")))
        put_outputs(store, session_id, "c", ({"output_type": "stream"},))
    store.delete("s1")
    store.delete("never was")
    db = sqlite3.connect(path)
    tables = ("sessions", "events", "messages", "prompts", "requests", "ops", "cell_outputs")
    left = {t: db.execute(f"SELECT DISTINCT session_id FROM {t}").fetchall() for t in tables}
    db.close()
    assert left == {table: [("s2",)] for table in tables}


# --- events --------------------------------------------------------------------------


def test_events_come_back_as_they_were(store: SqliteStore) -> None:
    draft = Draft(
        "d", "c", "edit", "e", Sentence("t"), "é = 1\n", "nonce", notices=(Sentence("!"),)
    )
    events: list[Event] = [
        DraftWaiting(draft),
        UsageChanged(Usage(1, 2, 3, 4), 0.25),
        TurnEnded(1, "end_turn", added=("a", "b")),
    ]
    assert [event for _, event in journal(store, *events)] == events


def test_after(store: SqliteStore) -> None:
    journal(store, Note(Sentence("a")), Note(Sentence("b")), Note(Sentence("c")))
    assert store.events("s1", 1) == [(2, Note(Sentence("b"))), (3, Note(Sentence("c")))]
    assert store.events("s1", 3) == []
    assert store.events("unknown") == []


START = TurnStarted(1, "hi", "review", "model")


def test_a_finished_text_needs_no_parts(store: SqliteStore) -> None:
    kept = journal(
        store,
        START,
        StepStarted(1),
        TextDelta(0, "Hel"),
        TextDelta(0, "lo"),
        TextDelta(1, "other"),
        TextDone(0, "Hello"),
    )
    assert kept == [
        (1, START),
        (2, StepStarted(1)),
        (5, TextDelta(1, "other")),
        (6, TextDone(0, "Hello")),
    ]
    store.append_events("s1", [(7, TextDone(1, "other"))])
    assert [seq for seq, _ in store.events("s1")] == [1, 2, 6, 7]


def test_an_unfinished_text_of_an_earlier_step_stays(store: SqliteStore) -> None:
    kept = journal(
        store,
        StepStarted(1),
        TextDelta(0, "Half a sen"),
        TurnEnded(1, "cancelled"),
        StepStarted(2),
        TextDelta(0, "New"),
        TextDone(0, "New"),
        TurnEnded(2, "end_turn"),
    )
    assert [seq for seq, _ in kept] == [1, 2, 3, 4, 6, 7]


def test_a_discarded_step_loses_its_parts(store: SqliteStore) -> None:
    kept = journal(
        store,
        StepStarted(1),
        TextDelta(0, "a"),
        TextDelta(1, "b"),
        StepDiscarded(1, Sentence("broken")),
    )
    assert [seq for seq, _ in kept] == [1, 4]


def test_thinking_is_folded_when_the_turn_ends(store: SqliteStore) -> None:
    end = TurnEnded(1, "end_turn")
    kept = journal(
        store,
        START,
        StepStarted(1),
        ThinkingDelta(0, "a"),
        ThinkingDelta(0, "b"),
        ThinkingDelta(2, "c"),
        ThinkingDelta(0, "d"),
        StepStarted(2),
        ThinkingDelta(0, "e"),
        end,
    )
    assert kept == [
        (1, START),
        (2, StepStarted(1)),
        (3, ThinkingDelta(0, "abd")),
        (5, ThinkingDelta(2, "c")),
        (7, StepStarted(2)),
        (8, ThinkingDelta(0, "e")),
        (9, end),
    ]


def test_compaction_leaves_other_sessions_alone(store: SqliteStore) -> None:
    store.create(info("s2"))
    journal(store, TextDelta(0, "a"), ThinkingDelta(0, "b"), ThinkingDelta(0, "b"), session_id="s2")
    journal(
        store,
        TextDelta(0, "a"),
        Note(Sentence("x")),
        Note(Sentence("y")),
        TextDone(0, "a"),
        TurnEnded(1, "error"),
    )
    assert [seq for seq, _ in store.events("s2")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("session_id", "seq", "code"), [("unknown", 5, "unknown_session"), ("s1", 1, "repeated")]
)
def test_a_wrong_append_changes_nothing(
    store: SqliteStore, session_id: str, seq: int, code: str
) -> None:
    store.append_events("s1", [(1, Note(Sentence("a")))])
    with pytest.raises(StoreError) as raised:
        store.append_events(session_id, [(9, Note(Sentence("b"))), (seq, Note(Sentence("c")))])
    assert raised.value.code == code
    assert store.events("s1") == [(1, Note(Sentence("a")))]
    store.append_events("s1", [(2, Note(Sentence("goes on")))])


async def test_settling_waits_for_the_disk_and_for_the_log_that_holds_it_all(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append_events("s1", [(1, RunStarted("c", "a", "r", "m"))])
    synced: list[int] = []

    def fsync(number: int) -> None:
        os.write(number, b"")  # Windows refuses to sync what is open for reading alone.
        synced.append(os.fstat(number).st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    await store.settle()
    log = path.with_name(f"{path.name}-wal")
    assert synced == [log.stat().st_ino]


def _salt(log: Path) -> bytes:
    """Differs each time that SQLite begins the log anew."""
    return log.read_bytes()[16:24]


async def test_tidying_lets_the_log_begin_anew(store: SqliteStore, path: Path) -> None:
    log = path.with_name(f"{path.name}-wal")

    def write(first: int) -> int:
        for seq in range(first, first + 200):
            store.append_events("s1", [(seq, Note(Sentence("x" * 4_000)))])
        return log.stat().st_size

    size = write(1)
    assert write(201) > 1.9 * size, "nothing is folded in the middle of an append"
    await store.tidy()
    begun = _salt(log)
    assert write(401) < 2.1 * size
    assert _salt(log) == begun, "an append that begins the log waits for the disk"
    assert len(store.events("s1")) == 600


# --- messages and requests -----------------------------------------------------------

ASKED = user(Text("Which region?"))
CALLED = assistant(Thinking("hm", "sig=="), ToolUse("t1", "run_cell", {"source": "1"}))
ANSWERED = user(ToolResult("t1", (Text("status=ok"),), True))


def test_messages_of_the_newest_conversation(store: SqliteStore) -> None:
    assert store.messages("s1") == (1, ())
    store.append_messages("s1", (ASKED,), 1)
    store.append_messages("s1", (CALLED, ANSWERED), 1)
    assert store.messages("s1") == (1, (ASKED, CALLED, ANSWERED))
    store.append_messages("s1", (user(Text("summary")),), 2)
    assert store.messages("s1") == (2, (user(Text("summary")),))


def test_request_shows_the_messages_of_its_time(store: SqliteStore) -> None:
    request = {"model": "m", "system": "be good", "tools": ["run_cell"], "messages": 1}
    store.append_messages("s1", (ASKED,), 1)
    store.append_request("s1", 1, request)
    store.append_messages("s1", (CALLED, ANSWERED), 1)
    store.append_request("s1", 2, request)
    store.append_messages("s1", (user(Text("summary")),), 2)
    store.append_request("s1", 3, request)

    def texts(step: int) -> int:
        shown = store.request("s1", step)
        assert shown is not None
        assert (shown["model"], shown["system"], shown["tools"]) == ("m", "be good", ["run_cell"])
        return len(shown["messages"])

    assert [texts(step) for step in (1, 2, 3)] == [1, 3, 1]
    shown = store.request("s1", 2)
    assert shown is not None and msgspec.convert(shown["messages"], list[Message]) == [
        ASKED,
        CALLED,
        ANSWERED,
    ]
    assert store.request("s1", 4) is None


def test_the_system_prompt_is_kept_once(store: SqliteStore, path: Path) -> None:
    for step in range(30):
        store.append_request("s1", step, {"system": "long prompt" * 100})
    store.append_request("s1", 31, {"system": "another"})
    db = sqlite3.connect(path)
    assert db.execute("SELECT count(*) FROM prompts").fetchone() == (2,)
    db.close()


# --- ops and outputs -----------------------------------------------------------------


def test_ops_and_receipts(store: SqliteStore) -> None:
    first = StoredOp(1, 1, Insert("a", "raw", "x", ("b",), {"codeinterp": {"turn": 1}}))
    second = StoredOp(2, 1, BeginRun("a", digest("x"), "run"))
    store.append_op("s1", first)
    store.append_op("s1", second)
    assert store.ops("s1") == [first, second]
    receipt = Receipt("done", "x", before={"id": "a", "source": ""}, after=("b",))
    store.set_receipt("s1", 2, receipt)
    assert store.ops("s1", 1) == [StoredOp(2, 1, second.op, receipt)]
    with pytest.raises(StoreError):
        store.set_receipt("s1", 3, receipt)


def test_ops_that_the_saved_file_does_not_have(store: SqliteStore) -> None:
    ops = [StoredOp(seq, 1, Delete(f"c{seq}", "x")) for seq in (1, 2, 3)]
    for op in ops:
        store.append_op("s1", op)
    store.create(info("s2"))
    store.append_op("s2", ops[0])
    store.create(info("s3"))
    store.create(info("s4", "b.ipynb"))
    store.append_op("s4", ops[1])
    assert store.unsaved_ops("a.ipynb") == [("s1", ops), ("s2", ops[:1])]
    assert store.unsaved_ops("b.ipynb") == [("s4", ops[1:2])]
    assert store.unsaved_ops("none.ipynb") == []
    store.set_saved("s1", 2)
    store.set_saved("s2", 1)
    assert store.unsaved_ops("a.ipynb") == [("s1", ops[2:])]
    store.rename_notebook("a.ipynb", "c.ipynb")
    assert store.unsaved_ops("c.ipynb") == [("s1", ops[2:])]


def test_ops_of_two_sessions_are_kept_in_their_order(store: SqliteStore, path: Path) -> None:
    """One may build on the other's."""
    store.create(info("s2"))
    ops = [StoredOp(seq, 1, Delete(f"c{seq}", "x")) for seq in (1, 2)]
    store.append_op("s2", ops[0])
    store.append_op("s1", ops[0])
    store.append_op("s2", ops[1])
    in_order = [("s2", ops[:1]), ("s1", ops[:1]), ("s2", ops[1:])]
    assert store.unsaved_ops("a.ipynb") == in_order
    store.close()
    again = SqliteStore(path)
    assert again.unsaved_ops("a.ipynb") == in_order
    assert again.saved_ops("a.ipynb") == {}
    again.set_saved("s2", 1)
    assert again.saved_ops("a.ipynb") == {"s2": 1}
    again.close()


def test_ops_that_another_server_is_about_to_have_saved(store: SqliteStore, path: Path) -> None:
    op = StoredOp(1, 1, Delete("c", "x"))
    store.append_op("s1", op)
    store.take_lease("s1")
    other = SqliteStore(path)
    assert other.unsaved_ops("a.ipynb") == []
    assert store.unsaved_ops("a.ipynb") == [("s1", [op])]
    store.release_lease("s1")
    assert other.unsaved_ops("a.ipynb") == [("s1", [op])]
    other.close()


def test_what_is_saved_never_goes_down(store: SqliteStore) -> None:
    first, second = StoredOp(1, 1, Delete("a", "x")), StoredOp(2, 1, Delete("b", "x"))
    store.append_op("s1", first)
    store.append_op("s1", second)
    store.set_saved("s1", 1)
    store.set_saved("s1", 0)
    store.update(info())
    assert store.unsaved_ops("a.ipynb") == [("s1", [second])]
    store.set_saved("unknown", 5)
    assert store.get("unknown") is None


def test_outputs_are_the_last_ones(store: SqliteStore) -> None:
    assert kept_outputs(store, "s1", "a") is None
    put_outputs(store, "s1", "a", ({"output_type": "stream", "name": "stdout", "text": "1"},))
    last: tuple[dict[str, Any], ...] = (
        {"output_type": "display_data", "data": {"image/png": "x" * 100_000}, "metadata": {}},
    )
    put_outputs(store, "s1", "a", last)
    assert kept_outputs(store, "s1", "a") == last


def test_everything_written_is_scrubbed(path: Path) -> None:
    store = SqliteStore(path, scrub=lambda text: text.replace("SECRET", "[key removed]"))
    store.create(info(notebook="SECRET.ipynb"))
    store.append_events("s1", [(1, Note(Sentence("SECRET")))])
    store.append_messages("s1", (user(Text("SECRET")),), 1)
    store.append_request("s1", 1, {"system": "SECRET", "x": "SECRET"})
    store.append_op("s1", StoredOp(1, 1, Delete("SECRET", "SECRET")))
    store.set_receipt("s1", 1, Receipt("done", "SECRET"))
    put_outputs(store, "s1", "a", ({"text": "SECRET"},))
    store.rename_notebook("SECRET.ipynb", "SECRET2.ipynb")
    assert store.list("SECRET2.ipynb")[0].notebook == "[key removed]2.ipynb"
    assert store.events("s1") == [(1, Note(Sentence("[key removed]")))]
    store.close()
    for file in path.parent.iterdir():
        assert b"SECRET" not in file.read_bytes(), file.name


# --- the file ------------------------------------------------------------------------


def test_it_is_for_its_owner_only(path: Path) -> None:
    old = os.umask(0)
    try:
        store = SqliteStore(path)
        store.create(info())
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(f.stat().st_mode) for f in path.parent.iterdir()} == {0o600}
    assert len(list(path.parent.iterdir())) == 3  # with -wal and -shm
    store.close()


def test_a_file_open_to_others_is_closed_to_them(path: Path) -> None:
    path.parent.mkdir()
    path.touch(0o644)
    SqliteStore(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_write_ahead_log_where_it_works(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    # This VFS has no shared memory.
    db = sqlite3.connect(f"file:{tmp_path / 'x'}?vfs=unix-dotfile", uri=True, isolation_level=None)
    assert journal_file.journal_mode(db, path) == "delete"
    db.execute("CREATE TABLE works (a)")
    db.close()


@pytest.mark.parametrize("kind", [0x6969, 0x517B, 0xFF534D42, 0x65735546])
async def test_on_a_network_drive_all_of_it_works_without_a_log(
    path: Path, monkeypatch: pytest.MonkeyPatch, kind: int
) -> None:
    """The journal of an earlier version is there, with a log. Two servers share it."""
    SqliteStore(path).close()
    monkeypatch.setattr(journal_file, "_kind_of_file_system", lambda folder: kind)
    store, other = SqliteStore(path), SqliteStore(path)
    for one in (store, other):
        assert one._db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert one._db.execute("PRAGMA synchronous").fetchone() == (2,)
    store.create(info())
    assert not store.take_lease("s1") and other.take_lease("s1")
    store.append_events("s1", [(1, Note(Sentence("a")))])
    await store.settle()
    await store.tidy()
    assert other.events("s1") == [(1, Note(Sentence("a")))]
    store.close()
    other.close()
    assert sorted(file.name for file in list_of(path)) == [path.name]
    store = SqliteStore(path)
    assert store.events("s1") == [(1, Note(Sentence("a")))] and store.warning == ""
    store.close()


@pytest.fixture
def drive(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """A journal on a network drive."""
    monkeypatch.setattr(journal_file, "_kind_of_file_system", lambda folder: 0x6969)
    monkeypatch.setattr(journal_file, "LOCK_WAIT", 60.0)
    store = SqliteStore(path)
    store.create(info())
    yield store
    store.close()


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another server writes to the file: nobody else can commit."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        yield
        db.execute("ROLLBACK")


async def test_an_append_does_not_wait_for_a_network_drive(drive: SqliteStore, path: Path) -> None:
    ops = [StoredOp(1, 1, Delete("a", "x")), StoredOp(2, 1, Delete("b", "y"))]
    with held(path):
        for seq in (1, 2, 3):
            drive.append_events("s1", [(seq, Note(Sentence(str(seq))))])
        drive.append_messages("s1", (user(Text("a")), assistant(Text("b"))), 1)
        drive.append_request("s1", 1, {"system": "S"})
        for op in ops:
            drive.append_op("s1", op)
        drive.set_receipt("s1", 1, Receipt("done"))
        drive.set_saved("s1", 1)
        drive.update(msgspec.structs.replace(info(), title="New"))
        drive.spend("2026-11-23", 0.5)
        settled = asyncio.ensure_future(drive.settle("s1"))
        done, _ = await asyncio.wait({settled}, timeout=0.05)
        assert not done
    await settled
    with closing(sqlite3.connect(path)) as db:
        count = "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM ops)"
        assert db.execute(count).fetchone() == (3, 2)
    assert drive.ops("s1")[0].receipt == Receipt("done")
    assert drive.get("s1").title == "New"  # type: ignore[union-attr]
    assert drive.spent("2026-11-23") == 0.5 and drive.saved_ops("a.ipynb") == {"s1": 1}
    request = drive.request("s1", 1)
    assert request is not None and len(request["messages"]) == 2


async def test_reads_of_a_network_drive_see_what_was_appended(drive: SqliteStore) -> None:
    large: tuple[dict[str, Any], ...] = ({"output_type": "stream", "text": "x" * 60_000},)
    for seq in range(1, 200):
        drive.append_events("s1", [(seq, Note(Sentence("a")))])
        assert drive.last_seq("s1") == seq
    kept = await drive.keep_outputs("s1", large)
    drive.append_op("s1", StoredOp(1, 1, FinishRun("a", "r", large, 1, kept=kept)))
    assert await drive.cell_outputs("s1", "a") == large
    drive.delete("s1")
    assert drive.events("s1") == []


async def test_a_failed_write_to_a_network_drive_is_told_and_repeated(
    drive: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive._db.execute("PRAGMA busy_timeout=0")
    with held(path):
        drive.append_events("s1", [(1, Note(Sentence("a")))])
        with pytest.raises(StoreError) as caught:
            await drive.settle("s1")
        assert caught.value.code == "locked"
        with pytest.raises(StoreError):
            drive.append_events("s1", [(2, Note(Sentence("b")))])
        with pytest.raises(StoreError):
            await drive.settle("s1")
    await drive.settle("s1")
    drive.append_events("s1", [(2, Note(Sentence("b")))])
    assert drive.events("s1") == [(1, Note(Sentence("a"))), (2, Note(Sentence("b")))]


async def test_another_server_was_first_on_a_network_drive(drive: SqliteStore, path: Path) -> None:
    """Only the session that it has taken is concerned."""
    drive.create(info("s2"))
    other = SqliteStore(path)
    other.append_events("s1", [(1, Note(Sentence("theirs")))])
    await other.settle("s1")
    with held(path):
        for seq in (1, 2):
            drive.append_events("s1", [(seq, Note(Sentence("ours")))])
            drive.append_events("s2", [(seq, Note(Sentence("ours")))])
    with pytest.raises(StoreError) as caught:
        await drive.settle("s1")
    assert caught.value.code == "repeated"
    await drive.settle("s2")
    with pytest.raises(StoreError) as caught:
        drive.append_events("s1", [(3, Note(Sentence("ours")))])
    assert caught.value.code == "repeated"
    assert drive.events("s1") == [(1, Note(Sentence("theirs")))] and drive.last_seq("s2") == 2
    other.close()


async def test_closing_waits_for_a_network_drive(path: Path, drive: SqliteStore) -> None:
    for seq in range(1, 100):
        drive.append_events("s1", [(seq, Note(Sentence("a")))])
    drive.close()
    store = SqliteStore(path)
    assert store.last_seq("s1") == 99
    store.close()


def test_it_survives_a_killed_process(path: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import Note
store = SqliteStore(Path({str(path)!r}))
store.create(SessionInfo("s1", "a.ipynb", "", "m", "review", True, 0.0, 0.0))
for seq in range(1, 501):
    store.append_events("s1", [(seq, Note(str(seq)))])
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, timeout=60)
    assert done.returncode == -9
    store = SqliteStore(path)
    assert store.warning == ""
    assert [seq for seq, _ in store.events("s1")] == list(range(1, 501))
    store.close()


def damage_head(path: Path) -> None:
    path.write_bytes(b"this is no database at all" * 100)


def damage_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096 : 4096 * 3] = b"\xa5" * 8192
    path.write_bytes(data)


def test_a_large_file_is_checked_after_a_crash_only(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeinterp.journal.sqlite.file._QUICKLY_CHECKED", 0)
    checked: list[str] = []
    connect = sqlite3.connect

    def watched(*arguments: Any, **options: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = connect(*arguments, **options)
        db.set_trace_callback(lambda said: checked.append(said) if "check(" in said else None)
        return db

    monkeypatch.setattr(sqlite3, "connect", watched)
    SqliteStore(path).close()
    SqliteStore(path).close()
    assert checked == []
    log = path.with_name(f"{path.name}-wal")
    log.touch()
    SqliteStore(path).close()
    assert checked == ["PRAGMA quick_check(1)"]


@pytest.mark.parametrize("damage", [damage_head, damage_middle])
def test_a_damaged_file_is_set_aside_and_said(path: Path, damage: Any) -> None:
    store = SqliteStore(path)
    store.create(info())
    store.close()
    damage(path)
    damaged = path.read_bytes()
    store = SqliteStore(path)
    aside = next(path.parent.glob("journal.sqlite.damaged-*"))
    assert aside.name in store.warning
    assert aside.read_bytes() == damaged
    assert store.list() == []
    store.create(info())
    store.close()
    store = SqliteStore(path)
    assert [session.session_id for session in store.list()] == ["s1"]
    assert store.warning == ""
    store.close()


def test_a_newer_journal_is_left_alone(path: Path) -> None:
    SqliteStore(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version=999")
    db.close()
    before = path.read_bytes()
    store = SqliteStore(path)
    assert "newer version" in store.warning
    assert store.list() == []
    with pytest.raises(StoreError) as raised:
        store.create(info())
    assert raised.value.code == "too_new"
    store.close()
    assert path.read_bytes() == before


def begin_with_version_11(path: Path, more: str = "") -> None:
    """A file with an event of each kind and with each value that version 11 could write; and
    another session, with ops and outputs."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript((Path(__file__).parent / "journal_version_11.sql").read_text("utf-8"))
        db.executescript(more)


def test_a_journal_that_is_too_old_is_left_alone(path: Path) -> None:
    begin_with_version_11(path, "PRAGMA user_version=10")
    before = path.read_bytes()
    store = SqliteStore(path)
    assert "early version" in store.warning and str(path) in store.warning
    assert store.list() == []
    with pytest.raises(StoreError) as raised:
        store.create(info())
    assert raised.value.code == "too_old"
    assert path.read_bytes() == before
    path.rename(path.with_name("moved.sqlite"))
    store.create(info())
    assert store.list() == [info()]
    assert store.warning == ""
    store.close()


def tables(path: Path) -> set[tuple[str, str, str, str]]:
    """Each without case and white space in its statement."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_master")
        return {(*row[:3], "".join(row[3].lower().split())) for row in rows}


def test_a_new_file_has_the_tables_of_an_older_one(path: Path) -> None:
    new = path.with_name("new.sqlite")
    SqliteStore(new).close()
    begin_with_version_11(path)
    assert tables(path) != tables(new)
    SqliteStore(path).close()
    assert tables(path) - {("table", "sqlite_sequence", "sqlite_sequence", SEQUENCE)} == tables(new)


SEQUENCE = "createtablesqlite_sequence(name,seq)"
"""SQLite's own table, which stays empty after the table that needed it."""


def test_a_journal_with_events_that_are_gone_opens(path: Path) -> None:
    begin_with_version_11(path)
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT kind FROM events WHERE session_id = 's1' ORDER BY seq")
        kinds = [kind for (kind,) in rows]
    store = SqliteStore(path)
    assert store.warning == ""
    known = [kind for kind in kinds if kind not in REMOVED_EVENTS]
    assert [event.__struct_config__.tag for _, event in store.events("s1")] == known
    assert {session.session_id for session in store.list("/notes/a.ipynb")} == {"s1"}
    names = {name for (name,) in store._db.execute("SELECT name FROM sqlite_master")}
    assert names.isdisjoint(REMOVED_TABLES)
    store.close()


def test_ops_and_outputs_of_an_older_journal_are_there(path: Path) -> None:
    begin_with_version_11(path)
    store = SqliteStore(path)
    one, before = printed("one\n"), printed("before\n")
    failed = (
        printed("part"),
        {"output_type": "error", "ename": "E", "evalue": "é", "traceback": []},
    )
    assert store.messages("s2") == (1, (user(Text("Add up")),))
    assert kept_outputs(store, "s2", "a") == (one,)
    assert kept_outputs(store, "s2", "c1") == failed
    ledger = Ledger(store.ops("s2"))
    assert ledger.failed == {} and ledger.drafts == {} and ledger.touched == ["a"]
    (change,) = [change for change in ledger.changes(1) if change.cell_id == "c1"]
    op = undo_op(change, "y", outputs_of(store, "s2"))
    assert isinstance(op, Restore) and op.cell["outputs"] == [before]
    whole = {stored.seq: stored.op for stored in store.whole_ops("s2")}
    assert isinstance(whole[6], FinishRun) and whole[6].outputs == failed
    assert isinstance(whole[7], Restore) and whole[7].cell["outputs"] == [before]
    ((_, unsaved),) = store.unsaved_ops("/notes/b.ipynb")
    assert [stored.seq for stored in unsaved] == [4, 5, 6, 7, 8]
    store.close()


def test_an_event_that_a_version_removed_later_is_gone_and_the_rest_is_there(path: Path) -> None:
    """Version 12 wrote it: its file is past the first migration that deletes such events."""
    store = SqliteStore(path)
    store.create(info())
    store.append_events("s1", [(1, Note(Sentence("before")))])
    for seq, kind in enumerate(REMOVED_EVENTS, 2):
        row = ("s1", seq, kind, json.dumps({"type": kind, "turn": 1}))
        store._db.execute("INSERT INTO events VALUES (?, ?, ?, NULL, ?)", row)
    store.append_events("s1", [(50, Note(Sentence("after")))])
    store._db.execute("PRAGMA user_version=12")
    store.close()
    store = SqliteStore(path)
    assert store.warning == ""
    assert store.events("s1") == [(1, Note(Sentence("before"))), (50, Note(Sentence("after")))]
    store.close()


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


async def test_outputs_are_in_the_file_once(store: SqliteStore, path: Path) -> None:
    large = printed("canary " * 20_000)
    named = await store.keep_outputs("s1", (large,))
    store.append_op("s1", StoredOp(1, 1, FinishRun("c", "r", (large,), 1, kept=named)))
    was = {"id": "c", "cell_type": "code", "source": "x", "metadata": {}, "outputs": [large]}
    store.append_op("s1", StoredOp(2, 2, Delete("c", "x")))
    store.set_receipt("s1", 2, Receipt("done", before=was))
    light = store.ops("s1", 1)[0].receipt
    assert (
        light is not None
        and light.outputs == named
        and light.before is not None
        and light.before["outputs"] == []
    )
    assert store._db.execute("SELECT count(*), sum(bytes) FROM outputs").fetchone() == (
        1,
        len(msgspec.json.encode([large])),
    )
    (first, second) = store.ops("s1")
    assert (first.outputs, second.receipt) == (named, light)
    assert store.whole_ops("s1")[0].op == FinishRun("c", "r", (large,), 1, kept=named)
    assert store.outputs("s1", named) == (large,)
    assert store.outputs("s2", named) is None, "no other session is told of them"


def test_a_failed_migration_changes_nothing(path: Path) -> None:
    begin_with_version_11(path, "DROP TABLE notices; CREATE VIEW notices AS SELECT 1")
    with closing(sqlite3.connect(path)) as db:
        before = list(db.iterdump())
    store = SqliteStore(path)
    with pytest.raises(StoreError):
        store.create(info("s2"))
    store.close()
    with closing(sqlite3.connect(path)) as db:
        assert list(db.iterdump()) == before
        assert db.execute("PRAGMA user_version").fetchone() == (11,)
        db.executescript("DROP VIEW notices")
    store = SqliteStore(path)
    assert store.warning == ""
    assert store.get("s1") is not None
    store.close()


# --- faults in words -----------------------------------------------------------------


def test_locked(store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store._db.execute("PRAGMA busy_timeout=10")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as raised:
        store.append_events("s1", [(1, Note(Sentence("a")))])
    assert (raised.value.code, raised.value.message) == (
        "locked",
        "Another program has locked the journal's file.",
    )
    other.execute("ROLLBACK")
    other.close()
    store.append_events("s1", [(1, Note(Sentence("a")))])


def test_disk_full(store: SqliteStore) -> None:
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreError) as raised:
        put_outputs(store, "s1", "a", ({"text": "x" * 100_000},))
    assert raised.value.code == "disk_full"
    store._db.execute("PRAGMA max_page_count=1000000")
    assert kept_outputs(store, "s1", "a") is None
    put_outputs(store, "s1", "a", ({"text": "x" * 100_000},))


async def test_a_file_that_is_deleted_on_a_network_drive(drive: SqliteStore, path: Path) -> None:
    """SQLite then calls the file read-only, for ever. A new one is begun."""
    drive.append_events("s1", [(1, Note(Sentence("a")))])
    await drive.settle("s1")
    for file in list_of(path):
        file.unlink()
    drive.append_events("s1", [(2, Note(Sentence("b")))])
    with pytest.raises(StoreError) as raised:
        await drive.settle("s1")
    assert (raised.value.code, raised.value.message) == ("not_found", journal_base.REPLACED)
    with pytest.raises(StoreError) as raised:
        await drive.settle("s1")
    assert raised.value.code == "unknown_session"
    drive.create(info("s2"))
    drive.append_events("s2", [(1, Note(Sentence("c")))])
    await drive.settle("s2")
    assert drive.events("s2") == [(1, Note(Sentence("c")))]
    assert drive.warning.startswith(journal_base.REPLACED)


async def test_a_file_that_is_deleted_under_the_server(store: SqliteStore, path: Path) -> None:
    store.append_events("s1", [(1, Note(Sentence("a")))])
    for file in list_of(path):
        file.unlink()
    with pytest.raises(StoreError) as raised:
        await store.settle()
    assert (raised.value.code, raised.value.message) == ("not_found", journal_base.REPLACED)
    with pytest.raises(StoreError) as raised:
        store.append_events("s1", [(2, Note(Sentence("b")))])
    assert raised.value.code == "unknown_session"
    assert store.warning.startswith(journal_base.REPLACED)
    store.create(info("s2"))
    await store.settle()


def list_of(path: Path) -> list[Path]:
    return list(path.parent.glob(f"{path.name}*"))


async def test_a_log_that_was_long_is_cut(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "_LONGEST_LOG", 50_000)
    store, log = SqliteStore(path), path.with_name(f"{path.name}-wal")
    store.create(info())

    def length() -> int:
        return log.stat().st_size

    put_outputs(store, "s1", "a", ({"text": "x" * 1_000_000},))
    assert length() > 1_000_000
    await store.tidy()
    store.append_events("s1", [(1, Note(Sentence("a")))])
    assert length() < 60_000
    store.close()


def test_read_only(store: SqliteStore) -> None:
    store._db.execute("PRAGMA query_only=ON")
    with pytest.raises(StoreError) as raised:
        store.append_events("s1", [(1, Note(Sentence("a")))])
    assert raised.value.code == "read_only"


def test_no_place_for_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = SqliteStore(tmp_path / "file" / "journal.sqlite")
    assert store.warning == (
        "Could not read or write the journal: File exists. "
        "Conversations cannot be saved, so messages cannot be sent."
    )
    assert store.list() == [] and store.get("s1") is None
    with pytest.raises(StoreError) as raised:
        store.create(info())
    assert raised.value.code == "disk_error" and raised.value.message == store.warning
    (tmp_path / "file").unlink()
    store.create(info())
    assert store.warning == "" and store.get("s1") == info()
    store.close()


def test_an_entry_that_cannot_be_read(store: SqliteStore, path: Path) -> None:
    store._db.execute("INSERT INTO events VALUES ('s1', 1, 'note', NULL, '{\"type\":\"what\"}')")
    with pytest.raises(StoreError) as raised:
        store.events("s1")
    assert raised.value.code == "damaged"


def test_a_fault_of_the_program_is_no_store_error(store: SqliteStore) -> None:
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.list()


@pytest.mark.parametrize(
    "fault",
    ["a newer version", "a migration that fails", "no database"],
)
def test_a_journal_that_cannot_be_opened_leaves_no_connection_open(
    path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    SqliteStore(path).close()
    if fault == "a newer version":
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version=999")
    elif fault == "a migration that fails":
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version=1")
    else:
        path.write_bytes(b"this is no database at all" * 100)
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def counted(*args: Any, **named: Any) -> sqlite3.Connection:
        opened.append(connect(*args, **named))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", counted)
    SqliteStore(path).close()
    assert opened
    for db in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            db.execute("SELECT 1")
