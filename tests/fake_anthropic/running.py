"""Run an ``async def`` test on a loop of its own, with a limit."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any

LIMIT = 60.0
"""Seconds; a test that waits for something that never comes fails after these."""


def on_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**fixtures), LIMIT))

    return run
