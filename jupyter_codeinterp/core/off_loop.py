"""Work on text of others: small inputs at once, larger ones beside the event loop.

The work itself takes time in proportion to its input, and its input is bounded. This is for
what is left: a megabyte takes milliseconds, and meanwhile all kernels of the server wait.
Whatever goes wrong in it is said in words: no text ends a turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

INLINE = 20_000
"""Characters that are worked on at once: less than 5 ms."""
DEADLINE = 10.0
"""Seconds. A thread that takes longer is left to itself."""

log = logging.getLogger(__name__)


async def off_loop(work: Callable[[], T], size: int, otherwise: Callable[[], T]) -> T:
    """What ``work`` returns; what ``otherwise`` does if it fails or takes too long. ``size``
    is about how many characters it reads. It must change nothing that others see: it may go on
    after Stop."""
    try:
        if size <= INLINE:
            return work()
        return await asyncio.wait_for(asyncio.to_thread(work), DEADLINE)
    except Exception as error:
        # Python's own time-out is one as well.
        log.warning("Could not process a text: %s", type(error).__name__, exc_info=True)
        return otherwise()
