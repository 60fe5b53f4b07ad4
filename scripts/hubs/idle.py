"""A turn that nobody watches keeps its server from those who end unused ones."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from tests.fake_anthropic import FakeAnthropic, Speed, answer, in_order, text

from .checks import Checks
from .hub import hub
from .visitor import Visitor

IDLE = 12
"""Seconds after which a server that does nothing ends. A busy machine reports late."""
REPORTS = 1
"""Seconds between two reports of activity."""
THINKS = 40.0
"""Seconds that the model takes for its answer, without a word."""
PATIENCE = 120.0


async def look(checks: Checks) -> None:
    print("Unused servers end")
    async with AsyncExitStack() as open_:
        script = in_order([answer(text("Hello.")).at(first=THINKS)])
        model = await open_.enter_async_context(FakeAnthropic(script, speed=Speed()))
        name = open_.enter_context(
            tempfile.TemporaryDirectory(prefix="codeinterp-hub-", ignore_cleanup_errors=True)
        )
        settings = {"HUB_IDLE": str(IDLE), "HUB_REPORTS": str(REPORTS)}
        running = await open_.enter_async_context(
            hub(Path(name), ["alice", "bob"], model.url, **settings)
        )
        alice, bob = [
            await open_.enter_async_context(Visitor(running.url, who, running.password))
            for who in ("alice", "bob")
        ]
        await asyncio.gather(alice.enter(), bob.enter())
        session_id = await alice.notebook("alice.ipynb", running.kernel)
        route = f"sessions/{session_id}/messages"
        await alice.api("POST", route, {"text": "Hello", "mode": "auto"})
        # From here on nobody asks her server anything.
        started = time.monotonic()
        await _until(lambda: not running.runs("bob"))
        checks.that("Bob's, at which nothing happens, is ended", not running.runs("bob"))
        while not (model.requests and model.requests[0].finished):
            if not running.runs("alice") or time.monotonic() - started > PATIENCE:
                break
            await asyncio.sleep(0.2)
        waited = f"after {time.monotonic() - started:.0f} s"
        answered = bool(model.requests and model.requests[0].finished)
        gone = answered and model.requests[0].gone.is_set()
        kept = answered and not gone and running.runs("alice")
        checks.that("Alice's, whose turn waits for the model, is kept", kept, waited)
        await _until(lambda: not running.runs("alice"))
        checks.that("… and ended once the turn is over", not running.runs("alice"))


async def _until(condition: Callable[[], bool]) -> None:
    """Wait until it is true, or PATIENCE is over."""
    deadline = time.monotonic() + PATIENCE
    while True:
        if condition() or time.monotonic() > deadline:
            return
        await asyncio.sleep(0.2)
