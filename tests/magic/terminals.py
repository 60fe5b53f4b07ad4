"""A terminal IPython at a pseudo-terminal, and a person who types there."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pexpect

from tests.fake_anthropic import FakeAnthropic
from tests.magic.notebooks import LOAD, environment

PATIENCE = 90
"""Seconds that something may take to appear, on a machine that has other things to do."""
PROMPT = r"In \[(\d+)\]:(?: |\x1b\[)"
CHOICES = re.escape("[r]un, [e]dit, [n]o REASON: ")
SHORT_CHOICES = re.escape("[y]es, [n]o REASON: ")


class Terminal:
    def __init__(self, child: pexpect.spawn) -> None:
        self.child = child

    async def until(self, pattern: Any) -> str:
        """What stood on the screen before ``pattern``."""
        await asyncio.to_thread(self.child.expect, pattern)
        return str(self.child.before).replace("\r\n", "\n")

    async def type(self, *lines: str) -> None:
        """Lines of one input, and Enter."""
        for number, line in enumerate(lines):
            if number:
                await self.until(r"\.\.\.: ")
            self.child.sendline(line)

    async def run(self, *lines: str) -> str:
        """What an input shows, up to the next prompt."""
        await self.type(*lines)
        return await self.until(PROMPT)

    async def ask(self, line: str, prompt: str) -> None:
        await self.type(line, prompt, "", "")

    def interrupt(self) -> None:
        self.child.sendintr()


@asynccontextmanager
async def terminal(
    api: FakeAnthropic, folder: Path, *, simple: bool = True, **env: str
) -> AsyncIterator[Terminal]:
    """``simple``: IPython's prompt reads a line; else it draws, and reads single keys."""
    options = ["--simple-prompt"] if simple else ["--HistoryManager.enabled=False"]
    child = pexpect.spawn(
        sys.executable,
        ["-m", "IPython", *options, "--no-banner", "--colors=NoColor"],
        env=environment(api, {"IPYTHONDIR": str(folder), "TERM": "xterm", **env}),
        cwd=str(folder),
        encoding="utf-8",
        timeout=PATIENCE,
        dimensions=(50, 200),
    )
    try:
        there = Terminal(child)
        await there.until(PROMPT)
        shown = await there.run(LOAD)
        assert shown == f"{LOAD}\n\n" or not simple
        yield there
    finally:
        await asyncio.to_thread(_end, child)


def _end(child: pexpect.spawn) -> None:
    """Not by pexpect, which gives up after 0.1 s on a busy machine."""
    if child.isalive():
        child.kill(signal.SIGKILL)
        child.wait()
    child.close()
