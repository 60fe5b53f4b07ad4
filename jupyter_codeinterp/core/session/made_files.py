"""The files that a turn made or changed: a scan of the folder before it, and one after it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ..events import MadeFile
from ..turn.files import Seen, made
from ..turn.turn import Turn
from .persistence import Workplace

LOOK_TIME = 0.3
"""Seconds that the end of a turn waits for the file scan, within the same second."""

Made = tuple[tuple[MadeFile, ...], int]
"""Files, and how many more there are."""
NONE_MADE: Made = ((), 0)

log = logging.getLogger(__name__)


async def look_around(workplace: Workplace) -> Seen | None:
    """The files now; None where unknown."""
    try:
        return await workplace.look_around()
    except Exception:
        log.warning("Could not scan the files of a turn", exc_info=True)
        return None


async def made_by(turn: Turn, workplace: Workplace) -> Made:
    """The files that the turn made or changed, if it ran anything."""
    if turn.before is None or not turn.notebook.worked:
        return NONE_MADE
    try:
        compared = _compared(turn.before, workplace, turn.scrub)
        files, left_out = await asyncio.wait_for(compared, LOOK_TIME)
    except asyncio.TimeoutError:
        return NONE_MADE
    return tuple(file for file in files if file.path != turn.went_on), left_out


async def _compared(
    looked: asyncio.Future[Seen | None], workplace: Workplace, scrub: Callable[[str], str]
) -> Made:
    before, after = await asyncio.gather(looked, look_around(workplace))
    # Ten thousand paths take milliseconds.
    return await asyncio.to_thread(made, before, after, scrub)
