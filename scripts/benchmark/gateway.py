"""Measures a task of three cells in a gateway's kernel, over a link that delays each direction by
0.1 s."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from tests.fake_anthropic import Speed
from tests.fake_anthropic.scenarios import SCENARIOS
from tests.gateways import Link, gateway

from .figures import Bound, Figure
from .task import MODEL_CALL, beyond_model_and_kernel
from .workplace import show_panel, workplace

DELAY = 0.1
"""Seconds that the link takes in each direction."""
RUNS = 4
"""Number of runs. The first one is left out: in it, kernel and server import packages."""
CELLS = 3
ROUND_TRIPS = 2
"""Round trips of a cell: one asks whether the kernel is idle, one runs the code."""


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="codeinterp-bench-") as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Figure]:
    with gateway(folder) as remote:
        link = Link(remote.port, DELAY)
        await link.open()
        option = f"--gateway-url=http://127.0.0.1:{link.port}"
        speed = Speed(first=MODEL_CALL)
        script = SCENARIOS["three_cells"]
        async with workplace(script, option, speed=speed, connections=folder) as place:
            await show_panel(place.server)
            beyond = [await beyond_model_and_kernel(place) for _ in range(RUNS)][1:]
        await link.close()
    links = ROUND_TRIPS * 2 * DELAY * CELLS
    return [
        Figure(
            "gateway: three cells beyond model, kernel and two round trips of the link a cell",
            [1000 * (seconds - links) for seconds in beyond],
            "ms",
            (Bound(500, "median"),),
        ),
    ]
