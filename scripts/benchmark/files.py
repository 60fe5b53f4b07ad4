"""Measures the scans of the notebook's folder before and after a turn, with 10,000 files, and how
long the event loop is blocked meanwhile.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from jupyter_codeinterp.app.notebooks.scan import look
from jupyter_codeinterp.run.turn.files import made

from .figures import Bound, Figure

FOLDERS, EACH = 100, 100
ROUNDS = 20
TICK = 0.001
"""Seconds between two ticks of the loop; a longer interval means that it was blocked."""


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for n in range(FOLDERS):
            (root / f"folder {n}").mkdir()
            for m in range(EACH):
                (root / f"folder {n}" / f"{m}.csv").write_bytes(b"1,2\n")
        return asyncio.run(_measure(root))


async def _measure(root: Path) -> list[Figure]:
    looks: list[float] = []
    silence: list[float] = []
    over = asyncio.Event()
    ticking = asyncio.ensure_future(_tick(silence, over))
    for n in range(ROUNDS):
        before = await asyncio.to_thread(look, root, "")
        (root / f"folder {n}" / "new.csv").write_bytes(b"")
        start = time.perf_counter()
        after = await asyncio.to_thread(look, root, "")
        files, _ = made(before, after, str)
        looks.append((time.perf_counter() - start) * 1000)
        if [file.path for file in files] != [f"folder {n}/new.csv"]:
            raise RuntimeError("the comparison is wrong")
    over.set()
    await ticking
    return [
        Figure("10,000 files looked at and compared", looks, "ms", (Bound(100, "median"),)),
        Figure("silence of the event loop meanwhile", silence, "ms", (Bound(50, "worst"),)),
    ]


async def _tick(silence: list[float], over: asyncio.Event) -> None:
    while not over.is_set():
        start = time.perf_counter()
        await asyncio.sleep(TICK)
        silence.append((time.perf_counter() - start - TICK) * 1000)
