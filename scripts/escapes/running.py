"""Tries the attempts in a plain and a sandboxed kernel of one server."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from jupyter_client.asynchronous.client import AsyncKernelClient

from jupyter_codeinterp.sandbox.shared import groups

from .attempt import Attempt, Control, Groups
from .attempts import AREAS, KERNELS
from .attempts.processes import STAYS
from .outside import marked
from .world import World, connection_file, end_kernel, start_kernel, world

Outcomes = dict[Attempt, tuple[bool, str]]
"""Whether each attempt succeeded, and its error."""
LONGEST = 30.0
"""Seconds that an attempt may take."""
ENDS = 10.0
"""Seconds within which a kernel's processes end with it."""


@dataclass(frozen=True)
class Result:
    """``got_out`` of the sandbox; ``outside``: whether the same code succeeded in a plain kernel,
    None where that was not tried. ``error`` is the sandbox's, ``missed`` the plain kernel's."""

    area: str
    attempt: Attempt
    got_out: bool
    outside: bool | None
    error: str
    missed: str

    @property
    def fault(self) -> str:
        """What is wrong; "" for nothing."""
        if self.got_out:
            return "it got out"
        if self.outside is False and self.attempt.control is not Control.SOME:
            return f"it does not succeed {self.attempt.control.value} either: {self.missed}"
        return ""


class Kernel:
    """One of the world. Its attempts are judged when it has ended, for some show only then."""

    def __init__(self, world: World, folder: str) -> None:
        self._world = world
        self._folder = folder
        self._tried: list[tuple[Attempt, str, str]] = []
        """Each with its mark and its error."""

    async def tries(self, client: AsyncKernelClient, attempts: Iterable[Attempt]) -> None:
        for attempt in attempts:
            mark = f"codeinterp-{self._folder}-{os.getpid()}-{len(self._tried)}"
            code = f"{self._world.prelude(mark, self._folder)}\n{attempt.code}"
            reply = await client.execute_interactive(
                code, timeout=LONGEST, store_history=False, output_hook=lambda _: None
            )
            content = reply["content"]
            failed = content["status"] != "ok"
            said = f"{content['ename']}: {content['evalue']}" if failed else ""
            self._tried.append((attempt, mark, said))

    async def outcomes(self) -> dict[Attempt, tuple[bool, str]]:
        """Whether each succeeded, and its error."""
        deadline = time.monotonic() + ENDS
        while any(map(marked, self._marks)):
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(0.1)
        found = {
            attempt: (self._reached(attempt, mark) if attempt.proof else not said, said)
            for attempt, mark, said in self._tried
        }
        for mark in self._marks:
            for pid in marked(mark):
                os.kill(pid, signal.SIGKILL)
        return found

    def _reached(self, attempt: Attempt, mark: str) -> bool:
        return self._world.reached(attempt.proof, mark, self._folder)

    @property
    def _marks(self) -> list[str]:
        return [mark for attempt, mark, _ in self._tried if attempt.proof == STAYS]


async def tried(world: World, name: str, folder: str, attempts: Iterable[Attempt]) -> Outcomes:
    """In a kernel of this kernelspec."""
    started = await start_kernel(world.server, name, folder)
    client = AsyncKernelClient()
    client.load_connection_file(str(connection_file(world.server, started)))
    client.start_channels(hb=False)
    kernel = Kernel(world, folder)
    try:
        await client.wait_for_ready(timeout=60)
        await kernel.tries(client, attempts)
    finally:
        client.stop_channels()
        await end_kernel(world.server, started)
    return await kernel.outcomes()


async def results(areas: Iterable[str] = AREAS) -> list[Result]:
    """The same code is tried in plain kernels, too, after the sandboxed ones."""
    found: list[Result] = []
    async with world() as made:
        for area in areas:
            attempts = [one for one in AREAS[area] if is_possible(one)]
            spec = KERNELS.get(area, "sandboxed")
            held = await tried(made, spec, spec, attempts)
            compared = [one for one in attempts if is_compared(one)]
            free = await tried(made, "python3", "plain", compared) if compared else {}
            for one in attempts:
                got_out, error = held[one]
                outside, other = free.get(one, (None, ""))
                found.append(Result(area, one, got_out, outside, error, other))
    return found


@lru_cache(maxsize=1)
def has_groups() -> bool:
    return groups.work()


def is_possible(attempt: Attempt) -> bool:
    """Whether this machine and user have what should hold the attempt."""
    needs = attempt.groups is Groups.OF_ALL or (
        attempt.groups is Groups.OF_ROOT and os.getuid() == 0
    )
    return not needs or has_groups()


def is_compared(attempt: Attempt) -> bool:
    root = os.getuid() == 0
    return attempt.control in (Control.PLAIN, Control.SOME) or (
        attempt.control is Control.ROOT and root
    )
