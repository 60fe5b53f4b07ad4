"""A gateway that has the kernels, behind a link that is slow and can be cut."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.gateways import Link, gateway

DELAY, JITTER = 0.1, 0.05
"""Seconds in each direction."""


@dataclass(frozen=True)
class Remote:
    """``folder`` has the connection files of its kernels."""

    link: Link
    process_id: int
    folder: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.link.port}"


@asynccontextmanager
async def remote_kernels(folder: Path, notebooks: Path) -> AsyncIterator[Remote]:
    for each in (folder, notebooks):
        each.mkdir(parents=True)
    with gateway(folder, cwd=notebooks) as running:
        link = Link(running.port, DELAY, JITTER)
        await link.open()
        try:
            yield Remote(link, running.process.pid, folder)
        finally:
            await link.close()
