"""Measures whether the server answers others while it works: ``/api/status`` during a turn,
requested every 10 ms by a process of its own, on one connection.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE

from tests.fake_anthropic import answer, run_cell, scenario, text
from tests.fake_anthropic.scenarios import PARAGRAPHS

from .figures import Bound, Figure
from .workplace import Workplace, workplace

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
        await place.turn("Warm up.")
        place.model.play(busy)
        during = await _during_a_turn(place)
    return [Figure("`/api/status` during a turn", during, "ms", (Bound(50, "worst"),))]


async def _during_a_turn(place: Workplace) -> list[float]:
    """Returns the milliseconds of each request."""
    server = place.server
    command = (sys.executable, "-m", "scripts.benchmark.poll", server.url, server.token)
    poller = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    await place.turn("Print and plot.")
    out, _ = await poller.communicate(b"")
    return [seconds * 1000 for seconds in json.loads(out)]
