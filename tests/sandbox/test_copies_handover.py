"""What others send while a fork takes the kernel's place, and what the fork goes on with."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.adapters.kernels.zmq import copies as copying
from jupyter_codeinterp.core.errors import KernelError
from jupyter_codeinterp.core.labels import Observation
from jupyter_codeinterp.kernel_side.forks.refusing import NAME
from tests.kernels import Person, kernel_manager, person_at, run, running_kernel, text
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import NAMED, folder, install
from tests.sandbox.test_copies import sandboxed
from tests.sandbox.test_landlock import runs_here as runs_behind_landlock

__all__ = ["folder"]


def refused(person: Person, msg_id: str) -> bool:
    errors = (m for m in person.messages if m["msg_type"] == "error")
    ours = (m for m in errors if m["parent_header"].get("msg_id") == msg_id)
    return any(m["content"]["ename"] == NAME for m in ours)


async def replies(person: Person) -> list[str]:
    """The requests that were answered, until the kernel has answered one that is sent now."""
    last, found = person.run("1"), list[str]()
    while last not in found:
        found.append((await person._client.get_shell_msg(timeout=30))["parent_header"]["msg_id"])
    return found


@runs_here
async def test_a_cell_sent_in_the_moment_of_the_change_is_refused_in_words(
    tmp_path: Path, folder: Path
) -> None:
    async with sandboxed(tmp_path) as k, person_at(k.kernels, k.kernel_id) as person:
        await k.run("x = 1")
        await k.keep("one")
        await k.run("x = 2")
        sent: list[str] = []
        replaced, left = k.link.replaced, asyncio.Event()

        async def runs_much() -> None:
            while not left.is_set():
                sent.append(person.run("x += 10"))
                await asyncio.sleep(0.01)

        def between() -> None:
            sent.append(person.run("open('effect.txt', 'w')"))
            replaced()

        k.link.replaced = between  # type: ignore[method-assign]
        running = asyncio.create_task(runs_much())
        await k.back("one")
        left.set()
        await running
        answered = set(await replies(person))
        assert any(refused(person, one) for one in sent)
        lost = [one for one in sent if one not in answered and not refused(person, one)]
        assert len(lost) <= 3, "on their way as the process ends: hundredths of a second"
        assert not (folder / "effect.txt").exists()
        assert int(await k.value("x")) % 10 == 1


@runs_here
async def test_a_kernel_that_wakes_its_fork_too_late_stays(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sandboxed(tmp_path) as k, person_at(k.kernels, k.kernel_id) as person:
        await k.run("x = 1")
        await k.keep("one")
        await k.run("x = 2")
        monkeypatch.setattr(copying, "WAKES", 0.0)
        with pytest.raises(KernelError, match=copying.SLOW):
            await k.back("one")
        pids = "[c.pid for c in get_ipython().codeinterp_copies.kept.values()]"
        assert await k.value(f"x, {pids}") == "2 []", "the fork that woke has ended"
        cell = person.run("x = 3")
        await person.finished(cell)
        assert await k.value("x") == "3", "cells of others run again"


@runs_here
async def test_going_back_keeps_the_kernel_for_itself_also_when_its_caller_leaves(
    tmp_path: Path, folder: Path
) -> None:
    async with sandboxed(tmp_path) as k:
        await k.run("x = 1")
        await k.keep("one")
        await k.run("x = 2")
        replaced = k.link.replaced

        def and_leaves() -> None:
            replaced()
            going.cancel()

        k.link.replaced = and_leaves  # type: ignore[method-assign]
        going = asyncio.create_task(k.back("one"))
        await asyncio.gather(going, return_exceptions=True)
        assert k.link.lock.locked()
        assert await k.value("x") == "1"


@runs_here
async def test_a_fork_bounds_its_own_copies(tmp_path: Path, folder: Path) -> None:
    """Also where it was made while the kernel was about to measure."""
    async with sandboxed(tmp_path, copies_memory=100 * 2**20) as k:
        await k.run("big = bytearray(300 * 2**20)")
        await k.keep("old")
        await k.run("1")
        await k.keep("one")
        await k.back("one")
        await k.run("for place in range(0, len(big), 4096): big[place] = 1")
        kept = "list(get_ipython().codeinterp_copies.kept)"
        for _ in range(50):
            if await k.value(kept) == "[]":
                return
            await asyncio.sleep(0.2)
        raise AssertionError("300 MB of an older copy stay")


@runs_here
async def test_programs_are_seen_also_after_going_back(tmp_path: Path, folder: Path) -> None:
    async with sandboxed(tmp_path) as k:
        for _ in range(2):
            await k.run("import subprocess")
            await k.keep("one")
            await k.back("one")
            for code, expected in (
                ("subprocess.run(['true'])", (Observation("programs"),)),
                ("1", ()),
                ("subprocess.run(['sh', '-c', 'true & exit'])", (Observation("programs"),)),
            ):
                assert (await k.run(code)).observed == expected, code


@runs_behind_landlock
async def test_behind_landlock_nothing_is_forked(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeinterp.adapters.kernels.zmq.forks.rehearsing.IDLE", 30)
    async with (
        kernel_manager(install(tmp_path, *NAMED, wall="landlock")) as kernels,
        running_kernel(kernels, "sandboxed") as (_, kernel, _),
    ):
        _, done = await run(kernel, "import os\nfork = os.fork\nos.fork = lambda: 1 / 0\nx = 1")
        assert done.status == "ok"
        answer: dict[str, Any] = await kernel.rehearse("x = 2", 20)
        assert answer == {"refused": "hidden", "detail": ""}
        async with kernel.hold() as slot:
            assert "Landlock" in str(await slot.keep("one"))
        _, done = await run(kernel, "print(x)")
        assert text(done) == "1\n"
