"""Many people with a turn each at once, on one machine: memory, time and processor time."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import psutil

from scripts.documents import cores, made_by, renew
from scripts.tables import table
from tests.fake_anthropic import FakeAnthropic, Speed
from tests.fake_anthropic.scenarios import SCENARIOS

from .hub import Hub, hub
from .visitor import Visitor

DOCUMENT = Path("docs/performance.md")
COMMAND = "scripts/hub --load"
MODEL_CALL = 0.5
"""Seconds before each answer of the model; a turn has four."""
AT_ONCE = 3
"""Servers that start at the same time: more would only wait for each other."""
HEADER = ("figure", "value", "p95")


async def measure(people: int, write: bool = False) -> None:
    names = [f"person{number:02}" for number in range(people)]
    async with AsyncExitStack() as open_:
        model = await open_.enter_async_context(
            FakeAnthropic(SCENARIOS["three_cells"], speed=Speed(first=MODEL_CALL), check=False)
        )
        name = open_.enter_context(
            tempfile.TemporaryDirectory(prefix="codeinterp-hub-", ignore_cleanup_errors=True)
        )
        running = await open_.enter_async_context(hub(Path(name), names, model.url))
        visitors = [
            await open_.enter_async_context(Visitor(running.url, who, running.password))
            for who in names
        ]
        rows = await _rows(running, visitors)
    text = table([HEADER, *rows])
    print(text)
    if write:
        busy = f"{people} people, load {os.getloadavg()[0]:.1f} at the end"
        made = made_by(f"{COMMAND} {people}", [cores(), busy], ("jupyterlab", "anthropic"))
        renew(DOCUMENT, COMMAND, f"{made}\n\n{text}")


async def _rows(running: Hub, visitors: Sequence[Visitor]) -> list[tuple[str, str, str]]:
    names = [visitor.name for visitor in visitors]
    few = asyncio.Semaphore(AT_ONCE)
    starts: list[float] = []

    async def enter(visitor: Visitor) -> None:
        async with few:
            started = time.monotonic()
            await visitor.enter()
            starts.append(time.monotonic() - started)
            print(f"  {visitor.name} is in after {starts[-1]:.1f} s", flush=True)

    await asyncio.gather(*map(enter, visitors))
    bare = [_memory(running.server_of(name)) for name in names]
    starting = [sum(running.server_of(name).cpu_times()[:2]) for name in names]
    sessions = await _notebooks(running, visitors)
    rows = [
        _row(f"start of a server, {AT_ONCE} at a time", starts, "s"),
        _row("… processor time of it", starting, "s"),
        _row("memory of a server that nobody has used yet", bare, "MB"),
    ]
    for number, which in enumerate(("the first turn", "a later turn"), 1):
        before = _processor(running, names)
        began = time.monotonic()
        turns = [
            visitor.turn(session_id, "What is the revenue in all?", number)
            for visitor, session_id in zip(visitors, sessions, strict=True)
        ]
        seconds = await asyncio.gather(*turns)
        wall = time.monotonic() - began
        used = _processor(running, names) - before
        rows.append(_row(f"{which}, all at once (the model takes 2 s of it)", seconds, "s"))
        each = used / len(names)
        rows.append(("… processor time, hub and proxy included, per person", f"{each:.1f} s", ""))
        share = f"{used / wall / (os.cpu_count() or 1):.0%}"
        rows.append(("… of all processors' time meanwhile", share, ""))
    whole = [_memory(running.server_of(name), deep=True) for name in names]
    servers = [_memory(running.server_of(name)) for name in names]
    around = sum(_memory(p) for p in _around(running))
    rows.append(_row("memory of a person: server and kernel with pandas", whole, "MB"))
    rows.append(_row("… the server's part", servers, "MB"))
    rows.append(("memory of hub, proxy and culler", f"{around:.0f} MB", ""))
    rows.append(("kernels", running.kernel, ""))
    return rows


async def _notebooks(running: Hub, visitors: Sequence[Visitor]) -> list[str]:
    few = asyncio.Semaphore(AT_ONCE)

    async def begin(visitor: Visitor) -> str:
        async with few:
            return await visitor.notebook("load.ipynb", running.kernel)

    return await asyncio.gather(*map(begin, visitors))


def _row(name: str, values: Sequence[float], unit: str) -> tuple[str, str, str]:
    """The median and the 95th percentile."""
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return name, f"{statistics.median(values):.1f} {unit}", f"{p95:.1f} {unit}"


def _memory(process: psutil.Process, deep: bool = False) -> float:
    """Megabytes (PSS: pages that several processes share count in parts); with all children, if
    ``deep``."""
    several = [process, *(process.children(recursive=True) if deep else ())]
    total = 0.0
    for one in several:
        try:
            total += one.memory_full_info().pss / 1e6
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue  # It has just ended, and holds nothing.
    return total


def _around(running: Hub) -> list[psutil.Process]:
    """The hub and what is not a person's."""
    children = running.process.children()
    return [running.process, *(p for p in children if "JUPYTERHUB_USER" not in p.environ())]


def _processor(running: Hub, names: Sequence[str]) -> float:
    """Seconds that the hub, the proxy, all servers and all kernels have used so far."""
    processes = _around(running)
    for name in names:
        server = running.server_of(name)
        processes += [server, *server.children(recursive=True)]
    return sum(sum(process.cpu_times()[:2]) for process in processes)
