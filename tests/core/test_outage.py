"""The journal cannot be written for a while: a turn stops, and nothing that was shown is lost."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import StoreError
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal import event_log as event_logs
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.journal.sqlite import file as journal_file
from jupyter_codeinterp.session import log as session_log
from jupyter_codeinterp.session import session as sessions
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Text, ToolResult
from tests.core.conftest import Room
from tests.kernels import until
from tests.reference_window import notebook
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]

LOCKED = "Another program has locked the journal's file."


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, store: SqliteStore) -> None:
    monkeypatch.setattr(session_log, "AGAIN", 0.02)
    store._db.execute("PRAGMA busy_timeout=5")


@contextmanager
def locked(store: SqliteStore) -> Iterator[None]:
    other = sqlite3.connect(store._path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


async def shown(b: Bench, until_kind: type[Any], number: int = 1) -> list[e.Event]:
    """What a window that comes now is told, up to an event."""
    told: list[e.Event] = []

    async def read() -> None:
        async for _, data in b.session.event_log.follow(0):
            told.append(e.read_event(data))
            if sum(isinstance(event, until_kind) for event in told) == number:
                return

    await asyncio.wait_for(read(), 30)
    return told


@asynccontextmanager
async def stopped(b: Bench, store: SqliteStore) -> AsyncIterator[list[e.Event]]:
    """A turn that stops as the decision on its cell cannot be journaled, as nothing can be
    before this ends. What is shown."""
    b.send()
    draft = await b.draft()
    with locked(store):
        b.decide(draft)
        told = await shown(b, e.TurnEnded)
        await until(lambda: not b.session.running)
        yield told


async def saved(b: Bench) -> None:
    """What was shown is in the journal."""
    await until(lambda: not b.session.log.unsaved and not b.session.running)
    told = [x for x in await shown(b, e.Note) if not isinstance(x, e.TextDelta)]
    assert [x for x in told if x not in b.events] == []


async def test_a_message_is_refused_in_words(bench: Benches, store: SqliteStore) -> None:
    b = bench(say("One."))
    with locked(store):
        with pytest.raises(StoreError) as raised:
            b.send()
        assert (raised.value.code, raised.value.message) == ("locked", LOCKED)
        assert not b.session.running and b.events == []
    assert (await b.turn()).stop_reason == "end_turn"
    assert len(b.of(e.TurnStarted)) == 1 and len(b.of(e.TitleChanged)) == 1


async def test_nothing_runs_that_is_not_in_the_journal(
    bench: Benches, store: SqliteStore, room: Room
) -> None:
    b = bench(run("a = 1"))
    async with stopped(b, store) as told:
        ended = told[-1]
        assert isinstance(ended, e.TurnEnded)
        assert (ended.stop_reason, ended.code, ended.retry) == ("error", "locked", True)
        assert ended.message.startswith(LOCKED) and "Saving will be retried" in ended.message
        assert b.of(e.TurnEnded) == [] == b.of(e.RunStarted)
        assert b.document.sources() == ["x = 20", "a = 1"], "the notebook is as it was"
        with pytest.raises(StoreError, match="locked"):
            b.session.retry()
        assert await room.ran() == []
    await saved(b)
    assert b.document.sources() == ["x = 20"], "the draft goes once that can be journaled"
    assert [x.text for x in b.of(e.Note)] == [session_log.SAVED_NOW]
    b.model.script = [say("Done.")]
    b.session.retry()
    assert (await b.ended(2)).stop_reason == "end_turn"


async def test_a_run_that_cannot_be_journaled_is_not_sent(
    bench: Benches, store: SqliteStore, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even if the journal takes everything else."""
    b = bench(run("a = 1"))
    append = store.append_events

    def append_events(session_id: str, events: Any) -> None:
        if any(isinstance(event, e.RunStarted) for _, event in events) and not ended:
            with locked(store):
                append(session_id, events)
        append(session_id, events)

    ended: list[e.Event] = []
    monkeypatch.setattr(store, "append_events", append_events)
    b.send(mode="auto")
    told = await shown(b, e.TurnEnded)
    await until(lambda: b.session.log._saving is not None)  # As the turn ended, nothing could be.
    ended.append(told[-1])
    assert [x.code for x in ended if isinstance(x, e.TurnEnded)] == ["locked"]
    assert await room.ran() == []
    await saved(b)


async def test_text_that_was_shown_is_saved_later(bench: Benches, store: SqliteStore) -> None:
    b = bench(say("A long answer in many letters."))
    b.model.hold = asyncio.Event()
    b.send()
    await b.event(e.TextDelta)
    with locked(store):
        b.model.hold.set()
        told = await shown(b, e.TurnEnded)
        assert "".join(x.text for x in told if isinstance(x, e.TextDelta)) != ""
        assert isinstance(told[-1], e.TurnEnded) and told[-1].code == "locked"
        await until(lambda: b.session.log._saving is not None)
    await saved(b)
    (said,) = b.of(e.TextDone)
    assert said.text.startswith("A long ans")
    assert [x.code for x in b.of(e.TurnEnded)] == ["locked"]


async def test_a_network_drive_that_fails_is_told_at_the_end_of_the_turn(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_file, "_kind_of_file_system", lambda folder: 0x6969)
    drive = SqliteStore(tmp_path / "sessions.db")
    drive._db.execute("PRAGMA busy_timeout=5")
    b = Bench(drive, room.kernel, [say("A long answer in many letters.")], notebook("x = 20"))
    b.model.hold = asyncio.Event()
    b.send()
    await b.event(e.TextDelta)
    with locked(drive):
        b.model.hold.set()
        await until(lambda: b.session.log._saving is not None)
    await saved(b)
    assert [x.text for x in b.of(e.Note)][-1] == session_log.SAVED_NOW
    assert len(b.of(e.TurnEnded)) == 1
    await b.session.close()
    drive.close()


async def test_the_result_of_code_that_ran_is_not_lost(
    bench: Benches, store: SqliteStore, room: Room
) -> None:
    b = bench(run("print('counted')"))
    b.send("Count", mode="auto")
    await b.event(e.RunStarted)
    with locked(store):
        told = await shown(b, e.TurnEnded)
        await until(lambda: not b.session.running)
        assert isinstance(told[-1], e.TurnEnded) and told[-1].code == "locked"
        (done,) = [x for x in told if isinstance(x, e.ToolDone)]
        assert done.status == "ok" and "counted" in done.detail
        with pytest.raises(StoreError):
            b.send("And now?")
    await saved(b)
    cell = b.document.cell(done.cell_id)
    assert cell is not None and cell["outputs"][0]["text"] == "counted\n", "finished later"
    b.model.script = [say("Done.")]
    await b.turn("And now?")
    results = [
        part.text
        for message in b.model.requests[-1].messages
        for block in message.content
        if isinstance(block, ToolResult)
        for part in block.content
        if isinstance(part, Text)
    ]
    assert len(results) == 1 and "counted" in results[0]
    assert b.sent_results == results


async def test_stop_while_nothing_can_be_written(
    bench: Benches, store: SqliteStore, room: Room
) -> None:
    b = bench(run("import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)"))
    b.send(mode="auto")
    await until(lambda: bool(b.document.shown))
    with locked(store):
        b.session.task.cancel()
        told = await shown(b, e.TurnEnded)
        (done,) = [x for x in told if isinstance(x, e.ToolDone)]
        assert done.status == "interrupted"
        assert await room.run("print('idle')") == "idle\n"
    await saved(b)
    cell = b.document.cell(done.cell_id)
    assert cell is not None and "begun" in str(cell["outputs"])


async def test_only_the_end_could_not_be_saved(
    bench: Benches, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = bench(say("One."))
    append = store.append_events
    holding = [True]

    def append_events(session_id: str, events: Any) -> None:
        if holding[0] and any(isinstance(event, e.TurnEnded) for _, event in events):
            with locked(store):
                append(session_id, events)
        append(session_id, events)

    monkeypatch.setattr(store, "append_events", append_events)
    b.send(mode="auto")
    told = await shown(b, e.Note)
    holding[0] = False
    assert isinstance(told[-2], e.TurnEnded) and told[-2].stop_reason == "end_turn"
    assert told[-1] == e.Note(sessions.NOT_SAVED, "warning")
    await until(lambda: not b.session.log.unsaved)
    texts = [x.text for x in b.of(e.Note)]
    assert texts == [sessions.NOT_SAVED, session_log.SAVED_NOW]
    assert len(b.of(e.TurnEnded)) == 1


async def test_a_server_that_ends_meanwhile_says_what_is_lost(
    bench: Benches, store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    b = bench(run("a = 1"))
    async with stopped(b, store):
        await b.session.close()
    assert "Lost the end of the conversation" in caplog.text and LOCKED in caplog.text
    b.restart_server()
    assert [x.code for x in b.of(e.TurnEnded)] == ["server_stopped"]
    b.model.script = [say("Done.")]
    await b.turn("Once more")


async def test_a_late_window_is_told_what_is_in_memory_only(
    bench: Benches, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_logs, "RECENT_EVENTS", 4)
    b = bench(run("a = 1"))
    async with stopped(b, store):
        told = await shown(b, e.TurnEnded)
        assert isinstance(told[0], e.TitleChanged) and isinstance(told[-1], e.TurnEnded)
    await saved(b)


async def test_the_next_turn_begins_with_what_is_owed(
    bench: Benches, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_log, "AGAIN", 3600)
    b = bench(run("a = 1"), say("Done."))
    async with stopped(b, store):
        pass
    await b.turn("Once more")
    names = [type(x).__name__ for x in b.events]
    first = names.index("TurnEnded")
    assert names[first : first + 3] == ["TurnEnded", "Note", "TurnStarted"]
    assert b.document.sources() == ["x = 20"]


async def test_what_happens_between_turns_is_told_all_the_same(
    bench: Benches, store: SqliteStore
) -> None:
    b = bench(say("One."))
    await b.turn()
    with locked(store):
        b.session.note(Sentence("The kernel has been restarted."))
        b.session.log.moved("other.ipynb")
        told = await shown(b, e.NotebookMoved)
        assert told[-2:] == [
            e.Note(Sentence("The kernel has been restarted.")),
            e.NotebookMoved("other.ipynb"),
        ]
    await saved(b)


def fails_once(b: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, failures = b.session.workplace.begin_turn, [StoreError("locked", Sentence(LOCKED))]

    def begin_turn(turn: int) -> None:
        if failures:
            raise failures.pop()
        begin(turn)

    monkeypatch.setattr(b.session.workplace, "begin_turn", begin_turn)


async def test_an_undo_that_could_not_begin_can_be_made_again(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = bench(run("a = 1"), say("Done."))
    await b.turn()
    fails_once(b, monkeypatch)
    with pytest.raises(StoreError):
        await b.session.reviews.undo(1)
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 20"]


async def test_a_turn_that_could_not_begin_ends(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = bench(say("Done."))
    fails_once(b, monkeypatch)
    ended = await b.turn()
    assert ended.stop_reason == "error" and ended.message.startswith(LOCKED)
    assert (await b.turn()).stop_reason == "end_turn"


async def test_a_turn_ends_though_its_changes_cannot_be_listed(
    bench: Benches, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("broken for this test")

    monkeypatch.setattr(sessions, "know_variables", broken)
    b = bench(run("a = 1"), say("Done."))
    assert (await b.turn()).stop_reason == "end_turn"
    assert "Could not list what a turn changed" in caplog.text
