"""Kernels that live and cannot run code, after a run: they get a new process."""

from __future__ import annotations

import asyncio
import uuid

from ...base.errors import KernelError
from ...base.sentences import Sentence
from ..wire import KernelMessage
from .link import POLL, RESTART_TIMEOUT, KernelLink

RESPONSE_TIMEOUT = 5.0
"""Seconds within which a responsive kernel replies and publishes; we ask twice."""
EXIT_TIMEOUT = 3.0
"""Seconds that an exiting kernel may take."""
EXITED = Sentence("The code shut down the kernel (with exit or quit).")
UNRESPONSIVE = Sentence("The code cut the kernel's connections, so the kernel was shut down.")


async def replace_unusable(link: KernelLink, *, exits: bool, incomplete: bool) -> Sentence:
    """Have a kernel restarted that is alive but cannot run code, and return why; "" if it can. The
    server restarts a dead one by itself. ``exits``: the code asked the kernel to exit.
    ``incomplete``: the reply or the ``idle`` of the run is missing."""
    if exits:
        # It exits within a tenth of a second; until then it would accept another cell.
        why, within = EXITED, EXIT_TIMEOUT
    elif incomplete and await _is_unresponsive(link):
        why, within = UNRESPONSIVE, 0.0
    else:
        return Sentence()
    await _wait_for_replacement(link, within)
    return why


async def _wait_for_replacement(link: KernelLink, within: float) -> None:
    """Return when a new process has replaced this one, which exits or gets killed ``within``
    seconds.

    The server's autorestarter notifies every page; after an explicit restart only the caller
    knows. The autorestarter gives up on a kernel that keeps dying: then return after
    ``RESTART_TIMEOUT``.
    """
    if not link.process.autorestarts:
        await link.restart()
        return
    loop = asyncio.get_running_loop()
    start, kill_at = link.start, loop.time() + within
    while link.start == start and not link.closed and loop.time() < kill_at + RESTART_TIMEOUT:
        if loop.time() >= kill_at:
            await link.process.kill()
        await asyncio.sleep(POLL)
        link.observe()


class _Published:
    """Notes that the kernel has published something about a request."""

    def __init__(self) -> None:
        self.came = asyncio.Event()

    def handle(self, message: KernelMessage) -> None:
        self.came.set()

    def lost(self) -> None:
        """Nothing will come."""


async def _is_unresponsive(link: KernelLink) -> bool:
    """Whether a living Python kernel no longer answers or publishes. A busy main thread does not
    count, nor a slow connection."""
    if link.language != "python" or not link.process.is_here:
        return False
    if not await link.process.is_alive():
        return False
    for channel in ("control", "shell"):
        if channel == "shell" and link.busy:
            return False
        if not await _responds(link, channel) and not await _responds(link, channel):
            return channel == "control" or not link.busy
    return False


async def _responds(link: KernelLink, channel: str) -> bool:
    msg_id = uuid.uuid4().hex
    published = link.listeners[msg_id] = _Published()
    try:
        request = link.wire.request(channel, "kernel_info_request", {}, msg_id=msg_id)
        await asyncio.wait_for(request, RESPONSE_TIMEOUT)
        await asyncio.wait_for(published.came.wait(), RESPONSE_TIMEOUT)
    except (asyncio.TimeoutError, KernelError):
        return False
    finally:
        link.listeners.pop(msg_id, None)
    return True
