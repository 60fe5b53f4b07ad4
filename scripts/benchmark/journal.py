"""Measures how long an event, and with it the event loop, waits for the journal. The journal
already has 50 conversations, and another one is being written.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import Event, TextDelta, ToolDone

from .figures import Bound, Figure

APPENDS = 2_000
CONVERSATIONS = 50
_TEXT = TextDelta(0, "Growth was highest in the north, by 12 %. ")
_RESULT = ToolDone(
    "toolu_1",
    "run_cell",
    Sentence("Growth by region"),
    "ok",
    cell_id="a1b2c3d4",
    execution_count=3,
    elapsed=1.2,
    detail="status=ok cell_id=a1b2c3d4\n" + "north  0.12\n" * 60,
)


def measure() -> list[Figure]:
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="codeinterp-bench-") as folder:
        store = SqliteStore(Path(folder) / "sessions.db")
        for number in range(CONVERSATIONS):
            _begin(store, f"s{number}")
            store.append_events(f"s{number}", [(seq, _event(seq)) for seq in range(1, 200)])
        await store.tidy()
        _begin(store, "new")
        waits = [_append(store, seq) for seq in range(1, APPENDS + 1)]
        store.close()
    return [
        Figure("journal append", waits, "ms", (Bound(1, "p99"),)),
    ]


def _begin(store: SqliteStore, session_id: str) -> None:
    now = time.time()
    store.create(SessionInfo(session_id, "a.ipynb", "", "m", "review", True, now, now))


def _event(seq: int) -> Event:
    """Mostly text, sometimes a result."""
    return _RESULT if seq % 20 == 0 else _TEXT


def _append(store: SqliteStore, seq: int) -> float:
    begun = time.perf_counter()
    store.append_events("new", [(seq, _event(seq))])
    return (time.perf_counter() - begun) * 1000
