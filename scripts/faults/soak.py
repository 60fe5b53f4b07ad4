"""Measures the memory that the server still holds after many conversations, one after the other,
whose turns draw pictures."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import psutil

from jupyter_codeinterp.wire import commands as c
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import ReferenceWindow, notebook

from .site import Site

MOST = 50.0
"""Maximum growth of the server in MB."""
WARM = 3
"""Conversations before the first measurement, to load modules and fill pools."""
PLOT = """
import os, struct, zlib
from IPython.display import Image, display
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
noise = b"".join(b"\\0" + os.urandom(600) for _ in range(200))
head = struct.pack(">IIBBBBB", 200, 200, 8, 2, 0, 0, 0)
parts = ((b"IHDR", head), (b"IDAT", zlib.compress(noise)), (b"IEND", b""))
display(Image(b"\\x89PNG\\r\\n\\x1a\\n" + b"".join(chunk(*part) for part in parts)))
"""
"""A picture of noise with 120 kB; different in every run."""


class Soaked(NamedTuple):
    conversations: int
    turns: int
    before: float
    after: float
    """MB of the server's memory at the end."""

    @property
    def failed(self) -> bool:
        return self.after - self.before > MOST

    def __str__(self) -> str:
        grown = self.after - self.before
        return (
            f"soak: {self.conversations} conversations of {self.turns} turns: the server's memory "
            f"went from {self.before:.0f} to {self.after:.0f} MB ({grown:+.0f}, at most {MOST:.0f})"
        )


async def soak(folder: Path, conversations: int, turns: int) -> Soaked:
    async with FakeAnthropic(in_order([])) as api:
        site = Site(folder / "soak", api.url, 30.0)
        try:
            await site.start()
            kernel_id = await site.start_kernel("soak.ipynb")
            for number in range(WARM):
                await _converse(site, api, f"warm-{number}.ipynb", kernel_id, turns)
            before = _memory(site)
            for number in range(conversations):
                await _converse(site, api, f"soak-{number}.ipynb", kernel_id, turns)
                print(f"soak {number + 1}: {_memory(site):.0f} MB", flush=True)
            return Soaked(conversations, turns, before, _memory(site))
        finally:
            await site.stop()


async def _converse(site: Site, api: FakeAnthropic, path: str, kernel_id: str, turns: int) -> None:
    window = ReferenceWindow(await site.connect(), path, notebook("x = 1"))
    await window.open(kernel_id)
    for number in range(turns):
        api.play(in_order([answer(run_cell(PLOT)), answer(text("Done."))]))
        reply = await window.ask(f"Draw number {number}", mode="auto")
        assert reply.error is None, reply.message
        await window.ended(number + 1)
    await window.post(c.CloseNotebook(path))
    await window.close()
    api.exchanges.clear()  # Three megabytes a request.


def _memory(site: Site) -> float:
    return float(psutil.Process(site.process_id).memory_info().rss / 1e6)
