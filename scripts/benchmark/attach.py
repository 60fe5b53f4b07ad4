"""Measures how long a window waits for a long conversation: from ``subscribe`` after 0 to its last
event, with a raw WebSocket client. The first time, the server also loads the conversation."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import msgspec
from tornado.websocket import WebSocketClientConnection

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.commands import SessionInfo, Subscribe
from jupyter_codeinterp.wire.messages import Usage

from .figures import Bound, Figure
from .servers import jupyter_server
from .workplace import open_socket

EVENTS = 10_000
SESSION = "0" * 32
REPEATS = 10
TITLE = Sentence("Growth by region")
WORDS = "The two regions grew by a fifth; the third one did not. " * 8
CODE = "totals = frame.groupby(['region', 'year']).revenue.sum()\ntotals.plot.bar()\n" * 4


def measure() -> list[Figure]:
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    with jupyter_server() as server:
        _write(server.folder / "data" / "codeinterp" / "sessions.db")
        first = await _attach(await open_socket(server))
        again = [await _attach(await open_socket(server)) for _ in range(REPEATS)]
    return [
        Figure(f"attaching to {EVENTS:,} events", again, "ms", (Bound(300, "worst"),)),
        Figure("… the first time, from the journal alone", [first], "ms", (Bound(300, "worst"),)),
    ]


def _write(journal: Path) -> None:
    """A thousand turns, each with a cell that ran and an answer."""
    store = SqliteStore(journal)
    now = time.time()
    store.create(SessionInfo(SESSION, "a.ipynb", "Regions", "m", "auto", False, now, now))
    events = [event for turn in range(1, EVENTS // 10 + 1) for event in _turn(turn)]
    store.append_events(SESSION, list(enumerate(events, 1)))
    store.close()


def _turn(n: int) -> list[e.Event]:
    call, cell = f"toolu_{n:08}", f"{n:08x}"
    return [
        e.TurnStarted(n, "And the other regions?", "auto", "claude-sonnet-5-5"),
        e.StepStarted(n),
        e.TextDone(0, WORDS),
        e.ToolStarted(call, "run_cell", TITLE),
        e.DraftOpened(call, f"d{n}", "insert", cell, TITLE),
        e.DraftDecided(call, f"d{n}", "run", "policy", CODE),
        e.RunStarted(call, cell, f"r{n}", f"m{n}"),
        e.ToolDone(call, "run_cell", TITLE, "ok", cell, n, 0.2, detail=WORDS),
        e.UsageChanged(Usage(10_000, 500), 0.1, 0.02),
        e.TurnEnded(n, "end_turn", added=(cell,)),
    ]


async def _attach(socket: WebSocketClientConnection) -> float:
    """Returns milliseconds."""
    last = f'"seq":{EVENTS},'.encode()
    began = time.monotonic()
    await socket.write_message(msgspec.json.encode(Subscribe(SESSION)).decode())
    count = 0
    while True:
        message = await socket.read_message()
        if message is None:
            raise RuntimeError("the server has closed the socket")
        data = message.encode() if isinstance(message, str) else message
        count += data.count(b'"type":"event","session_id"')
        if last in data:
            break
    taken = (time.monotonic() - began) * 1000
    if count != EVENTS:
        raise RuntimeError(f"{count} events came instead of {EVENTS}")
    socket.close()
    return taken
