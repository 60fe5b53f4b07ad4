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
_left: dict[str, float] = {}
"""What a crash left beside these files, by the time of its last status change. The clock of a
network drive may be ahead of ours."""


async def saved(os_path: str) -> None:
    """Return when no save of the file is under way, after ``LEFT_BEHIND`` seconds at most."""
    begun = time.monotonic()
    while (made := await asyncio.to_thread(_save_began, Path(os_path))) is not None:
        if time.monotonic() - begun >= LEFT_BEHIND:
            _left[os_path] = made
        if _left.get(os_path) == made or time.time() - made >= LEFT_BEHIND:
            return
        await asyncio.sleep(INTERVAL)


def _save_began(path: Path) -> float | None:
    """None without a save. The copy of the previous content has its modification time too, so the
    time of its last status change tells when it was made."""
    target = path.resolve()
    try:
        return target.with_name(f".~{target.name}").stat().st_ctime
    except FileNotFoundError:
        return None
