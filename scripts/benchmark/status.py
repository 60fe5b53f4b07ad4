"""Whether the server answers others while it works: ``/api/status`` during a turn.

It is asked from a process of its own, on one connection, every 10 ms.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process

from tests.fake_anthropic import answer, run_cell, scenario, text
from tests.fake_anthropic.scenarios import PARAGRAPHS

from .figures import Bound, Figure
from .servers import Server
from .workplace import Workplace, show_panel, workplace

PRINTS = """\
for number in range(200_000):
    print("line", number)"""
PLOTS = """\
import matplotlib.pyplot as plt
import numpy as np

for number in range(5):
    plt.figure(figsize=(8, 6), dpi=200)
    plt.scatter(*np.random.default_rng(number).normal(size=(2, 5_000)))
    plt.show()"""
PROGRESS = """\
import time

for number in range(200):
    print(f"\\r{number} %", end="", flush=True)
    time.sleep(0.01)"""
QUIET = 3.0
"""Seconds for which the server is asked while it has nothing else to do."""

warm_up = scenario(answer(run_cell("import matplotlib.pyplot", title="Warm up")), answer())
busy = scenario(
    answer(text(PARAGRAPHS), run_cell(PRINTS, title="Print 200,000 lines")),
    answer(text("Now the plots."), run_cell(PLOTS, title="Five plots")),
    answer(run_cell(PROGRESS, title="Progress")),
    answer(text(PARAGRAPHS)),
)


def measure() -> list[Figure]:
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with workplace(warm_up) as place:
        importing = await _while_the_sdk_is_imported(place)
        await place.turn("Warm up.")
        place.model.play(busy)
        quiet = await _quiet(place)
        during = await _during_a_turn(place)
    return [
        Figure("`/api/status` during a turn", during, "ms", (Bound(50, "worst"),)),
        Figure("… of the same server at rest", quiet, "ms"),
        Figure("… while the model's SDK is imported in a thread", importing, "ms"),
    ]


async def _quiet(place: Workplace) -> list[float]:
    poller = await _start(place.server)
    await asyncio.sleep(QUIET)
    return await _stop(poller)


async def _while_the_sdk_is_imported(place: Workplace) -> list[float]:
    """From when the panel is first shown until it has its list of models."""
    poller = await _start(place.server)
    await show_panel(place.server)
    return await _stop(poller)


async def _during_a_turn(place: Workplace) -> list[float]:
    poller = await _start(place.server)
    await place.turn("Print and plot.")
    return await _stop(poller)


async def _start(server: Server) -> Process:
    command = (sys.executable, "-m", "scripts.benchmark.poll", server.url, server.token)
    return await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)


async def _stop(poller: Process) -> list[float]:
    """Milliseconds of each request."""
    out, _ = await poller.communicate(b"")
    return [seconds * 1000 for seconds in json.loads(out)]
