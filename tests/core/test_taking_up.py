"""A session taken up from the journal, and its event log: nothing is lost or told twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import StoreError
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal import event_log as event_logs
from jupyter_codeinterp.journal.event_log import DeferredWrites, EventLog
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.messages import Text
from tests.core.conftest import Room
from tests.kernels import until
from tests.scripted import Bench, call, last_cell, run, say

Benches = Callable[..., Bench]


def killed(b: Bench) -> None:
    """The server's process is gone: no task of it goes on, and nothing was settled."""
    task = b.session.task.task
    assert task is not None
    b.session.log.deferred.give_up()
    b.session.task.ended = lambda: None
    renewing = b.session.log.lease._renewing
    assert renewing is not None
    renewing.cancel()
    b.document.apply = lambda op: asyncio.get_running_loop().create_future()  # type: ignore[method-assign]
    task.cancel()
    b.restart_server()


def said(b: Bench) -> list[str]:
    message = b.model.requests[-1].messages[-1]
    return [block.text for block in message.content if isinstance(block, Text)]


async def test_a_session_goes_on_where_it_was(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"), say("One."), lambda r: edit(last_cell(r)), say("Two."))
    await b.turn()
    numbers = [seq for seq, _ in b.store.events(b.info.session_id)]
    b.restart_server()
    assert not b.session.running
    ended = await b.turn()
    assert ended.turn == 2 and [x.step for x in b.of(e.StepStarted)] == [1, 2, 3, 4]
    after = [seq for seq, _ in b.store.events(b.info.session_id)]
    assert after[: len(numbers)] == numbers and sorted(set(after)) == after
    assert b.of(e.DraftWaiting) == [], "its own cell is still the agent's"
    assert await room.ran() == ["a = 1", "a = 2"]
    assert len(b.model.requests[-2].messages) == 5


def edit(cell_id: str) -> Any:
    return call("edit_cell", cell_id=cell_id, source="a = 2")


async def test_the_model_is_told_the_notebook_anew(bench: Benches) -> None:
    b = bench(say("One."), call("edit_cell", cell_id="c1", source="x = 1"), say("Two."))
    await b.turn()
    b.document.edit("c1", "x = 21")
    b.restart_server()
    b.send()
    draft = await b.draft()
    assert "<context" in said(b)[0] and "x = 21" in said(b)[0]
    assert draft.old_source == "x = 21"
    b.decide(draft)
    await b.ended(2)
    assert b.document.sources() == ["x = 1"]


async def test_a_turn_cut_off_while_a_draft_waited(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"))
    b.send("Count")
    draft = await b.draft()
    killed(b)
    ended = b.of(e.TurnEnded)[0]
    assert (ended.stop_reason, ended.code, ended.retry) == ("error", "server_stopped", True)
    assert "Variables may be gone" in ended.message
    with pytest.raises(Exception, match="is no longer"):
        b.decide(draft)
    b.model.script = [run("a = 2"), say("Done.")]
    b.session.retry()
    b.decide(await b.draft(2))
    await b.ended(2)
    assert b.document.sources() == ["x = 20", "a = 2"] and await room.ran() == ["a = 2"]


async def test_a_turn_cut_off_while_code_ran(bench: Benches, room: Room) -> None:
    b = bench(run("import time\nprint('begun', flush=True)\ntime.sleep(0.5)"))
    b.send("Count", mode="auto")
    await until(lambda: bool(b.document.shown))
    (started,) = b.of(e.RunStarted)
    assert started.kernel_id == (await b.kernel.info()).kernel_id
    killed(b)
    (done,) = b.of(e.ToolDone)
    assert (done.status, done.cell_id) == ("interrupted", started.cell_id)
    assert "may have had effects" in done.summary and "may have had effects" in done.detail
    b.restart_server()
    assert len(b.of(e.ToolDone)) == len(b.of(e.TurnEnded)) == 1
    b.model.script = [say("Done.")]
    b.session.retry()
    await b.ended(2)
    (note,) = [text for text in said(b) if "server was stopped" in text]
    assert f"Code in the cells {started.cell_id} had started to run" in note
    assert "Count" in said(b)
    await room.ran()


async def test_what_never_began_is_not_said_to_have_had_effects(bench: Benches) -> None:
    b = bench(run("a = 1"))
    b.send("Count")
    await b.draft()
    killed(b)
    (done,) = b.of(e.ToolDone)
    assert (done.status, done.cell_id) == ("not_started", "")
    assert "effects" not in done.summary + done.detail
    b.model.script = [say("Done.")]
    b.session.retry()
    await b.ended(2)
    (note,) = [text for text in said(b) if "server was stopped" in text]
    assert "effects" not in note


async def test_a_message_cut_off_before_the_model_heard_it(bench: Benches) -> None:
    b = bench()
    b.send("Count")
    killed(b)
    b.model.script = [say("Done.")]
    b.session.retry()
    await b.ended(2)
    assert said(b)[0] == "Count"


async def test_it_is_asked_to_go_on_if_it_had_spoken_last(bench: Benches) -> None:
    b = bench(say("One."))
    await b.turn()
    b.store.append_events(
        b.info.session_id,
        [
            (b.session.event_log.last_seq + 1, e.TurnStarted(2, "", "auto", "scripted")),
            (b.session.event_log.last_seq + 2, e.StepStarted(2)),
        ],
    )
    b.restart_server()
    b.model.script = [say("Done.")]
    b.session.retry()
    await b.ended(3)
    assert said(b)[-1] == "Go on."


async def test_a_stop_before_the_restart_is_still_known(bench: Benches) -> None:
    b = bench(run("a = 1"))
    b.send()
    await b.draft()
    b.session.task.cancel()
    await b.ended()
    b.restart_server()
    b.model.script = [say("Done.")]
    await b.turn("And now?")
    assert "[The person stopped the previous turn.]" in said(b)


async def test_the_notebook_moves_with_the_session(bench: Benches) -> None:
    b = bench(say("One."))
    b.session.log.moved("other/place.ipynb")
    assert b.of(e.NotebookMoved) == [e.NotebookMoved("other/place.ipynb")]
    assert b.session.info.notebook == "other/place.ipynb"


async def test_the_title_is_the_first_message_cut(bench: Benches) -> None:
    b = bench(say("One."), say("Two."))
    await b.turn("Which  region\ngrew fastest? " + "Show it. " * 20)
    await b.turn("Other")
    (title,) = b.of(e.TitleChanged)
    assert title.title.startswith("Which region grew fastest?") and len(title.title) == 60


# --- the event log -------------------------------------------------------------------


def refuse(error: StoreError) -> None:
    raise AssertionError(error.message)


@pytest.fixture
def event_log(tmp_path: Path) -> Iterator[EventLog]:
    with closing(SqliteStore(tmp_path / "events.db")) as store:
        store.create(SessionInfo("s", "n.ipynb", "", "m", "review", False, 0, 0))
        yield EventLog(store, "s", DeferredWrites(refuse))


async def take(event_log: EventLog, after: int, count: int) -> list[tuple[int, e.Event]]:
    got: list[tuple[int, e.Event]] = []

    async def read() -> None:
        async for seq, event in event_log.follow(after):
            got.append((seq, e.read_event(event)))
            if len(got) == count:
                return

    await asyncio.wait_for(read(), 30)
    return got


async def test_followers_get_what_was_and_what_comes(event_log: EventLog) -> None:
    event_log.show(e.Note(Sentence("one")))
    following = asyncio.ensure_future(take(event_log, 0, 3))
    await asyncio.sleep(0)
    event_log.show(e.Note(Sentence("two")))
    event_log.show(e.Note(Sentence("three")))
    assert await following == [
        (1, e.Note(Sentence("one"))),
        (2, e.Note(Sentence("two"))),
        (3, e.Note(Sentence("three"))),
    ]
    assert await take(event_log, 1, 2) == await take(event_log, 1, 2)


async def test_a_slow_follower_loses_nothing(
    event_log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_logs, "RECENT_EVENTS", 10)
    event_log = EventLog(event_log._store, "s", DeferredWrites(refuse))
    event_log.show(e.Note(Sentence("0")))
    slow = event_log.follow(0)
    got = [await slow.__anext__()]
    for number in range(1, 100):
        event_log.show(e.Note(Sentence(str(number))))
    for _ in range(99):
        got.append(await slow.__anext__())
    assert [seq for seq, _ in got] == list(range(1, 101))
    assert [e.read_event(event).text for _, event in got] == [str(n) for n in range(100)]


async def test_a_follower_of_a_journal_with_holes_waits(
    event_log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_logs, "RECENT_EVENTS", 1)
    event_log = EventLog(event_log._store, "s", DeferredWrites(refuse))
    event_log.show(e.TurnStarted(1, "", "auto", "m"))
    event_log.show(e.Note(Sentence("x")))
    event_log._store.delete("s")
    following = asyncio.ensure_future(take(event_log, 0, 1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not following.done()
    following.cancel()


async def test_after_the_first_words_letters_are_gathered(event_log: EventLog) -> None:
    event_log.show(e.StepStarted(1))
    for letter in "abcdef":
        event_log.show(e.TextDelta(0, letter))
    event_log.show(e.ThinkingDelta(1, "hm"))
    event_log.show(e.Note(Sentence("end")))
    events = [event for _, event in await take(event_log, 0, 5)]
    assert events[1:] == [
        e.TextDelta(0, "a"),
        e.TextDelta(0, "bcdef"),
        e.ThinkingDelta(1, "hm"),
        e.Note(Sentence("end")),
    ]


async def test_the_first_words_of_each_text_are_shown_at_once(event_log: EventLog) -> None:
    event_log.show(e.TextDelta(0, "a"))
    assert event_log.last_seq == 1
    event_log.show(e.TextDelta(0, "b"))
    assert event_log.last_seq == 1
    event_log.show(e.TextDone(0, "ab"))
    event_log.show(e.TextDelta(0, "c"))  # of the next step
    assert event_log.last_seq == 4


async def test_letters_do_not_wait_for_what_comes_next(event_log: EventLog) -> None:
    event_log.show(e.TextDelta(0, "a"))
    assert await take(event_log, 0, 1) == [(1, e.TextDelta(0, "a"))]
    event_log.show(e.TextDelta(0, "b"))
    assert await take(event_log, 1, 1) == [(2, e.TextDelta(0, "b"))]


async def test_a_reload_in_mid_turn_sees_the_same(bench: Benches) -> None:
    b = bench(say("A long answer in many letters."), run("1"), say("Done."))
    b.model.script[0:1] = []
    b.send()
    draft = await b.draft()
    seq = b.session.event_log.last_seq
    first = await take(b.session.event_log, 0, seq)
    again = await take(b.session.event_log, 0, seq)
    assert first == again
    b.decide(draft)
    await b.ended()
    rest = await take(b.session.event_log, seq, b.session.event_log.last_seq - seq)
    assert [n for n, _ in first + rest] == list(range(1, b.session.event_log.last_seq + 1))
