"""Measures a task of three cells, one of which fails and is fixed, with half a second per model
call; and the bytes that every request begins with."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Mapping
from typing import Any

from tests.fake_anthropic import Speed
from tests.fake_anthropic.scenarios import SCENARIOS

from .figures import Bound, Figure
from .workplace import Workplace, show_panel, workplace

MODEL_CALL = 0.5
"""Seconds before the first byte of each answer."""
RUNS = 6
"""Number of runs. The first one is shown separately: in it, kernel and server import packages."""


def measure() -> list[Figure]:
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with workplace(SCENARIOS["three_cells"], speed=Speed(first=MODEL_CALL)) as place:
        await show_panel(place.server)
        beyond = [await beyond_model_and_kernel(place) for _ in range(RUNS)]
        requests = place.model.requests
    sent = sum(exchange.size for exchange in requests[: len(requests) // RUNS]) / 1000
    later = statistics.median(beyond[1:])
    opening = _size({name: requests[0].body[name] for name in ("system", "tools")})
    return [
        Figure("three cells: model requests", [len(requests) / RUNS], "", (Bound(4),)),
        Figure("three cells: bytes sent", [sent], "kB", (Bound(46),)),
        Figure(
            "three cells: beyond model and kernel",
            [seconds * 1000 for seconds in beyond[1:]],
            "ms",
            (Bound(120, "median"),),
        ),
        Figure(
            "three cells: the first turn of a server costs more by",
            [(beyond[0] - later) * 1000],
            "ms",
            (Bound(200),),
        ),
        Figure("system prompt and tools", [opening / 1000], "kB", (Bound(10),)),
    ]


async def beyond_model_and_kernel(place: Workplace) -> float:
    """Seconds from the message to the end of the turn, without those of the model and the kernel,
    in a new conversation."""
    asked, ran = len(place.model.requests), len(place.kernel_times())
    place.window.session_id = ""
    started = time.monotonic()
    await place.turn("What is the revenue in all?")
    wall = time.monotonic() - started
    model = sum(exchange.finished - exchange.received for exchange in place.model.requests[asked:])
    return wall - model - sum(place.kernel_times()[ran:])


def _size(value: Mapping[str, Any]) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
