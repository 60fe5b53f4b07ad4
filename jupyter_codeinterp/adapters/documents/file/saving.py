"""A file that Jupyter is saving right now.

Jupyter's file manager writes over the file itself, and keeps the previous content next to it
until the new content is complete. Its reader takes the half-written file for a broken one and
moves it away, which loses the save. So we read after the save.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

LEFT_BEHIND = 10.0
"""Seconds after which the previous content is what a crash left: no save takes that long."""
INTERVAL = 0.02


async def saved(os_path: str) -> None:
    """Return when no save of the file is under way, after ``LEFT_BEHIND`` seconds at most."""
    while True:
        if await asyncio.to_thread(_save_began, Path(os_path)) >= LEFT_BEHIND:
            return
        await asyncio.sleep(INTERVAL)


def _save_began(path: Path) -> float:
    """Seconds ago; infinite without a save. The copy of the previous content has its modification
    time too, so the time of its last status change tells when it was made."""
    target = path.resolve()
    try:
        made = target.with_name(f".~{target.name}").stat().st_ctime
    except FileNotFoundError:
        return float("inf")
    return time.time() - made
