"""Processes untrusted text: small inputs at once, larger ones in a thread.

The work is linear and its input bounded, but a megabyte takes milliseconds, in which all kernels of
the server would wait. A failure gives a substitute instead of an exception, so no text ends a turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

INLINE = 20_000
"""Characters that are processed at once: less than 5 ms."""
DEADLINE = 10.0
"""Seconds. After that, the thread's result is ignored."""

log = logging.getLogger(__name__)


async def off_loop(work: Callable[[], T], size: int, otherwise: Callable[[], T]) -> T:
    """The result of ``work``, or of ``otherwise`` if it fails or takes too long. ``size``: roughly
    the characters to read. ``work`` must have no side effects: it may still run after Stop."""
    try:
        if size <= INLINE:
            return work()
        return await asyncio.wait_for(asyncio.to_thread(work), DEADLINE)
    except Exception as error:
        # Also after a time-out.
        log.warning("Could not process a text: %s", type(error).__name__, exc_info=True)
        return otherwise()
