"""Two servers on one journal: one works on a conversation, the other shows it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jupyter_codeinterp.agent.tools.registry import built_in_tools
from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.journal.sqlite import SqliteStore, journal
from jupyter_codeinterp.session import log as lease_module
from jupyter_codeinterp.session.session import Services, Session
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.core.conftest import Room
from tests.kernels import until
from tests.scripted import Bench, MemoryDocument, MemoryPlace, Turn, run, say

Benches = Callable[..., Bench]

HELD = "is open on the server"


async def at_rest(session: Session) -> None:
    """Others may go on with it."""
    await until(lambda: not (session.running or session.log.lease.held))


class Other:
    """A second server on the same journal, with a session of the same conversation."""

    def __init__(self, b: Bench, store: SqliteStore) -> None:
        self.store = SqliteStore(store._path)
        self.model = b.model
        self.document = MemoryDocument(self.store, b.info.session_id, b.document.notebook)
        self.told: list[c.SessionInfo] = []
        info = self.store.get(b.info.session_id)
        assert info is not None
        self.session = Session(
            info,
            Services(self.store, b.rules, self._model, built_in_tools(), b.hooks),
            MemoryPlace(self.document, b.kernel),
            lambda session: self.told.append(session.info),
        )

    async def _model(self, name: str) -> Any:
        return self.model

    @property
    def events(self) -> list[e.Event]:
        return [event for _, event in self.store.events(self.session.info.session_id)]

    async def turn(self, *script: Turn) -> e.TurnEnded:
        self.model.script = list(script)
        self.session.send("Go on", "auto", "")
        await at_rest(self.session)
        (*_, ended) = [event for event in self.events if isinstance(event, e.TurnEnded)]
        return ended


@pytest.fixture
def open_other(
    store: SqliteStore, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[Callable[[Bench], Other]]:
    others: list[Other] = []

    def make(b: Bench) -> Other:
        others.append(Other(b, store))
        return others[-1]

    yield make
    for other in others:
        jp_asyncio_loop.run_until_complete(other.session.close())
        other.store.close()
        other.store.close()


def cut_off(b: Bench) -> None:
    """A turn has begun, and nothing more is known of it."""
    begun = e.TurnStarted(2, "Go", "auto", "scripted")
    b.store.append_events(b.info.session_id, [(b.session.event_log.last_seq + 1, begun)])


Others = Callable[[Bench], Other]


async def refused(action: Callable[[], Any]) -> str:
    with pytest.raises(CommandError) as raised:
        result = action()
        if asyncio.iscoroutine(result):
            await result
    assert raised.value.code == "held_elsewhere"
    return raised.value.message


async def test_the_second_can_only_look(bench: Benches, open_other: Others) -> None:
    b = bench(run("a = 1"), say("One."), run("b = 2"), say("Two."))
    await b.turn()
    b.send("More")
    draft = await b.draft()
    other = open_other(b)
    session = other.session
    before = other.events
    assert not any(isinstance(x, e.TurnEnded) and x.turn == 2 for x in before), "it is not ended"
    assert session.info.held.endswith(f"(process {os.getpid()})")
    for action in (
        lambda: session.send("Me too", "auto", ""),
        lambda: session.set_mode("plan"),
        lambda: session.set_model("another"),
        lambda: session.rename("Mine"),
        lambda: session.reviews.keep(1, ()),
        lambda: session.reviews.undo(1),
        session.log.need_here,
    ):
        assert HELD in await refused(action)
    assert other.events == before == b.events, "nothing was written"
    b.decide(draft)
    await b.ended(2)
    await at_rest(b.session)
    session.log.refresh()
    assert session.info.held == "" and other.told[-1].held == ""
    assert (await other.turn(say("Three."))).turn == 3


async def test_what_the_first_adds_appears_on_asking_again(
    bench: Benches, open_other: Others
) -> None:
    b = bench(run("a = 1"), say("One."))
    b.send()
    draft = await b.draft()
    other = open_other(b)
    seen: list[int] = []

    async def follow() -> None:
        async for seq, _ in other.session.event_log.follow(0):
            seen.append(seq)

    following = asyncio.ensure_future(follow())
    await until(lambda: len(seen) == len(b.events))
    b.decide(draft)
    await b.ended()
    await at_rest(b.session)
    other.session.log.refresh()
    await until(lambda: len(seen) == len(b.events))
    assert seen == [seq for seq, _ in b.store.events(b.info.session_id)]
    following.cancel()


async def test_each_goes_on_from_what_the_other_did(
    bench: Benches, open_other: Others, room: Room
) -> None:
    b = bench(run("a = 1"), say("One."))
    await b.turn()
    await at_rest(b.session)
    other = open_other(b)
    await other.turn(run("b = 2"), say("Two."))
    b.model.script = [say("Three.")]
    ended = await b.turn("And then?")
    assert ended.turn == 3
    words = str(b.model.requests[-1].messages)
    assert "Two." in words and "b = 2" in words
    assert [op.seq for op in b.store.ops(b.info.session_id)] == sorted(
        {op.seq for op in b.store.ops(b.info.session_id)}
    )
    assert await room.ran() == ["a = 1", "b = 2"]


async def test_a_turn_of_a_server_that_is_gone_is_ended_at_once(
    bench: Benches, store: SqliteStore, open_other: Others
) -> None:
    b = bench(say("One."))
    await b.turn()
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    cut_off(b)
    store._db.execute(
        "INSERT INTO leases VALUES (?, 'gone', ?, ?, ?)",
        (b.info.session_id, journal._HOST, gone.pid, time.time()),
    )
    other = open_other(b)
    (ended,) = [x for x in other.events if isinstance(x, e.TurnEnded) and x.turn == 2]
    assert ended.code == "server_stopped"
    assert other.session.info.held == ""


HOLDER = """
import sys
from pathlib import Path
from jupyter_codeinterp.journal.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
assert not store.take_lease(sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


async def test_another_process_has_it_until_it_is_killed(
    bench: Benches, store: SqliteStore, open_other: Others
) -> None:
    b = bench(say("One."))
    await b.turn()
    await at_rest(b.session)
    cut_off(b)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOLDER,
        str(store._path),
        b.info.session_id,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 30) == b"held\n"
    other = open_other(b)
    assert other.session.info.held.endswith(f"(process {process.pid})")
    assert f"(process {process.pid})" in await refused(lambda: other.session.retry())
    process.kill()
    await process.wait()
    other.session.log.refresh()
    assert other.session.info.held == ""
    assert [x.code for x in b.of(e.TurnEnded)] == ["", "server_stopped"]


@pytest.mark.parametrize(("age", "held"), [(0.0, True), (29.0, True), (31.0, False)])
async def test_a_server_on_another_machine_is_waited_for(
    bench: Benches, store: SqliteStore, open_other: Others, age: float, held: bool
) -> None:
    b = bench(say("One."))
    await b.turn()
    await at_rest(b.session)
    cut_off(b)
    store._db.execute(
        "INSERT INTO leases VALUES (?, 'there', 'lab-2', 4711, ?)",
        (b.info.session_id, time.time() - age),
    )
    other = open_other(b)
    assert other.session.info.held == ("lab-2 (process 4711)" if held else "")
    assert any(isinstance(x, e.TurnEnded) and x.turn == 2 for x in other.events) != held
    if held:
        words = await refused(lambda: other.session.send("Me", "auto", ""))
        assert "on the server lab-2 (process 4711)" in words
        store._db.execute("DELETE FROM leases WHERE server = 'there'")
        other.session.log.refresh()
    assert [x.turn for x in b.of(e.TurnEnded)] == [1, 2]


async def test_who_was_thought_dead_stops_and_shows_what_the_other_did(
    bench: Benches, store: SqliteStore, open_other: Others, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that slept: its lease is another's by now."""
    monkeypatch.setattr(lease_module, "RENEWED_EVERY", 0.02)
    b = bench(run("a = 1"))
    b.send()
    await b.draft()
    name = store._server
    monkeypatch.setattr(store, "_server", "asleep")  # It does not renew what was taken before.
    journal._open_stores.discard(name)
    other = open_other(b)
    await until(lambda: not b.session.running)
    assert [x.code for x in b.of(e.TurnEnded)] == ["server_stopped"]
    seqs = [seq for seq, _ in b.store.events(b.info.session_id)]
    assert b.session.event_log.last_seq == seqs[-1]
    assert (await other.turn(say("Two."))).turn == 2
    monkeypatch.undo()
    journal._open_stores.add(name)
    b.model.script = [say("Three.")]
    assert (await b.turn()).turn == 3


async def test_a_lease_is_renewed_and_given_back(
    bench: Benches, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_module, "RENEWED_EVERY", 0.01)
    b = bench(run("a = 1"), say("One."))

    def beat() -> list[tuple[float]]:
        return store._db.execute(
            "SELECT beat FROM leases WHERE session_id = ?", (b.info.session_id,)
        ).fetchall()

    assert beat() == []
    b.send()
    draft = await b.draft()
    first = beat()
    await until(lambda: beat() > first)
    b.decide(draft)
    await b.ended()
    await at_rest(b.session)
    assert beat() == []


async def test_a_title_stays_when_the_other_server_continues(
    bench: Benches, store: SqliteStore, open_other: Callable[[Bench], Other]
) -> None:
    b = bench(say("One."))
    await b.turn()
    other = open_other(b)
    b.session.rename("Sales by region")
    await at_rest(b.session)
    await other.turn(say("Two."))
    stored = store.get(b.info.session_id)
    assert stored is not None and stored.title == "Sales by region"
    assert other.told[-1].title == "Sales by region"
