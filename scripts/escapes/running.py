"""Tries the attempts in a plain and a sandboxed kernel of one server."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterable
from typing import NamedTuple

from jupyter_client.asynchronous.client import AsyncKernelClient

from tests.sandbox.here import groups_work

from .attempt import Attempt, Control, Groups
from .attempts import AREAS, KERNELS
from .attempts.processes import STAYS
from .outside import marked
from .world import World, connection_file, end_kernel, start_kernel, world

LONGEST = 30.0
"""Seconds that an attempt may take."""
ENDS = 10.0
"""Seconds within which a kernel's processes end with it."""


class Result(NamedTuple):
    """``got_out``: it got out of the sandbox. ``outside``: whether the same code succeeded in a
    plain kernel; None if that was not tried. ``missed`` is the error there."""

    area: str
    attempt: Attempt
    got_out: bool
    outside: bool | None
    missed: str

    @property
    def fault(self) -> str:
        """A description of the fault; "" without one."""
        if self.got_out:
            return "it got out"
        if self.outside is False and self.attempt.control is not Control.SOME:
            return f"it does not succeed {self.attempt.control.value} either: {self.missed}"
        return ""


async def tried(
    world: World, kernelspec: str, folder: str, attempts: Iterable[Attempt]
) -> dict[Attempt, tuple[bool, str]]:
    """Whether each attempt succeeded in a kernel, and its error. They are judged after the kernel's
    end, because some show only then."""
    marks = {one: f"codeinterp-{folder}-{os.getpid()}-{n}" for n, one in enumerate(attempts)}
    errors: dict[Attempt, str] = {}
    kernel = await start_kernel(world.server, kernelspec, folder)
    client = AsyncKernelClient()
    client.load_connection_file(str(connection_file(world.server, kernel)))
    client.start_channels(hb=False)
    try:
        await client.wait_for_ready(timeout=60)
        for one, mark in marks.items():
            reply = await client.execute_interactive(
                f"{world.prelude(mark, folder)}\n{one.code}",
                timeout=LONGEST,
                store_history=False,
                output_hook=lambda _: None,
            )
            said = reply["content"]
            errors[one] = "" if said["status"] == "ok" else f"{said['ename']}: {said['evalue']}"
    finally:
        client.stop_channels()
        await end_kernel(world.server, kernel)
    stay = [mark for one, mark in marks.items() if one.proof == STAYS]
    deadline = time.monotonic() + ENDS
    while any(map(marked, stay)):
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    found = {
        one: (world.reached(one.proof, mark, folder) if one.proof else not errors[one], errors[one])
        for one, mark in marks.items()
    }
    for mark in stay:
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)
    return found


async def results(areas: Iterable[str] = AREAS) -> list[Result]:
    """Try the code in sandboxed kernels, then the same code in plain ones."""
    root = os.getuid() == 0
    limited = {Groups.OF_NO_ONE}
    if groups_work():
        limited = set(Groups)
    elif not root:
        limited |= {Groups.OF_ROOT}
    compared = {Control.PLAIN, Control.SOME, *([Control.ROOT] if root else [])}
    found: list[Result] = []
    async with world() as made:
        for area in areas:
            attempts = [one for one in AREAS[area] if one.groups in limited]
            spec = KERNELS.get(area, "sandboxed")
            held = await tried(made, spec, spec, attempts)
            free = await tried(
                made, "python3", "plain", [one for one in attempts if one.control in compared]
            )
            for one in attempts:
                outside, missed = free.get(one, (None, ""))
                found.append(Result(area, one, held[one][0], outside, missed))
    return found
