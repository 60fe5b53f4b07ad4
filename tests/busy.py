"""Time on a machine that has other things to do: what may be demanded there, and how it grows.

How long something takes is measured by ``scripts/bench``. A test can tell what does not happen
at all from what happens, and what grows out of proportion from what does not.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

SOON = 10.0
"""Seconds: far more than a busy machine takes for what takes a part of a second, and far less
than what is waited for otherwise."""
FLOOR = 0.004
"""Seconds; less is not told from noise."""
MOST = 6.0
"""How much longer four times the length may take."""
TRIES = 5


def processor_seconds(work: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    work(text)
    return time.thread_time() - began


def growth(work: Callable[[str], object], shape: Callable[[int], str], n: int) -> str:
    """What is wrong with how ``work`` grows with the length of a text, "" if nothing is.

    A busy machine can spoil one measurement, above all a short one; from n to 4n the square of
    a length grows 16 times wherever one looks. So only what fails at each size is wrong. The
    largest size comes second: what reads a bounded part of a text is bounded there.
    """
    wrong = ""
    for size, tries in ((n, 2), (8 * n, 2), (2 * n, 2), (4 * n, TRIES)):
        wrong = _growth(work, shape, size, tries)
        if not wrong:
            break
    return wrong


def _growth(work: Callable[[str], object], shape: Callable[[int], str], n: int, tries: int) -> str:
    """The least of some tries counts: a busy machine takes longer, none is quicker than the
    work."""
    short, long = shape(n), shape(4 * n)
    quick = slow = float("inf")
    gc.disable()  # what it takes grows with all that the process holds, not with the text
    tracing = sys.gettrace()
    sys.settrace(None)  # nor is it the time of who counts lines
    try:
        for _ in range(tries):
            slow = min(slow, processor_seconds(work, long))
            if slow <= FLOOR:
                return ""
            quick = min(quick, processor_seconds(work, short))
            if quick > 2:
                return f"{n} characters take more than 2 s"
            if slow <= MOST * quick:
                return ""
    finally:
        sys.settrace(tracing)
        gc.enable()
    return f"{n} characters take {1e3 * quick:.1f} ms, {4 * n} take {1e3 * slow:.1f} ms"


@asynccontextmanager
async def processor_silence() -> AsyncIterator[Callable[[], float]]:
    """Gives the longest that the event loop has not come round so far, in seconds of its own
    thread's processor time: what others do on the machine is not in it."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            began = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - began)
            await asyncio.sleep(0.001)

    watching = asyncio.create_task(watch())
    try:
        yield lambda: longest
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
