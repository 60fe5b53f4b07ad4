"""Measures fifty conversations that stream at once: the time of a delta from the model to the
window's socket, and the server's memory. Model and windows are separate processes. The text of a
delta is its time of sending, by a clock that all processes share."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process

import psutil

from .figures import Bound, Figure
from .many_model import DELTAS
from .servers import jupyter_server
from .workplace import KEY

WINDOWS = 50
SECONDS = 20.0
"""Minimum seconds of each answer."""


def measure() -> list[Figure]:
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    model = await _start("many_model", str(SECONDS))
    assert model.stdout is not None
    url = (await model.stdout.readline()).decode().strip()
    try:
        with jupyter_server(
            environment={"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
        ) as server:
            process = psutil.Process(server.pid)
            windows = await _start("many_windows", server.url, server.token, str(WINDOWS))
            out, _ = await windows.communicate()
            if windows.returncode:
                raise RuntimeError("the windows' part failed")
            memory = process.memory_info().rss / 1e6
    finally:
        await model.communicate(b"")
    delays = json.loads(out)
    return [
        Figure(
            f"{WINDOWS} conversations at once, {DELTAS} deltas a second each",
            delays,
            "ms",
            (Bound(75, "p95"),),
        ),
        Figure("… the server's memory", [memory], "MB", (Bound(300),)),
    ]


async def _start(module: str, *arguments: str) -> Process:
    command = (sys.executable, "-m", f"scripts.benchmark.{module}", *arguments)
    return await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
