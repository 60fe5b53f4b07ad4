"""People in browsers: drives pages.mjs."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("pages.mjs")
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LONGEST = 64 * 1024 * 1024
"""Bytes of an answer."""


class StepFailed(Exception):
    """What the page said."""


class Pages:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[Any]] = {}
        self._reader = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            answer = json.loads(line)
            waiting = self._open.pop(answer["id"])
            if "error" in answer:
                waiting.set_exception(StepFailed(answer["error"]))
            else:
                waiting.set_result(answer["result"])
        for waiting in self._open.values():
            waiting.set_exception(StepFailed("the browsers are gone"))

    async def do(self, who: str, step: str, **given: Any) -> Any:
        """Raises StepFailed."""
        assert self._process.stdin is not None
        number = next(self._numbers)
        self._open[number] = answer = asyncio.get_running_loop().create_future()
        line = json.dumps({"id": number, "who": who, "do": step, **given})
        self._process.stdin.write(f"{line}\n".encode())
        await self._process.stdin.drain()
        return await answer

    async def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._reader


@asynccontextmanager
async def browsers() -> AsyncIterator[Pages]:
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), "")
    process = await asyncio.create_subprocess_exec(
        *("node", str(SCRIPT)),
        stdin=PIPE,
        stdout=PIPE,
        start_new_session=True,
        limit=LONGEST,
        env={**os.environ, "CHROMIUM": found},
    )
    pages = Pages(process)
    try:
        yield pages
    finally:
        await pages.close()
