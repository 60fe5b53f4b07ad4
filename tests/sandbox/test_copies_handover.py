"""What others send while a fork takes the kernel's place, and what the fork goes on with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.adapters.kernels.zmq import copies as copying
from jupyter_codeinterp.core.errors import KernelError
from jupyter_codeinterp.kernel_side.copies.refusing import NAME
from tests.kernels import Person, person_at, until
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import folder
from tests.sandbox.test_copies import Kernel, sandboxed

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

        def between() -> Callable[[], None]:
            sent.append(person.run("open('effect.txt', 'w')"))
            return replaced()

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


COPIES = "get_ipython().codeinterp_copies"


async def left_alone(k: Kernel, person: Person) -> None:
    """The kernel is as before, without the copy, and runs the cells of others, also of those who
    connect only now."""
    assert await k.value(f"x, {COPIES}.kept, {COPIES}.refusing") == "2 {} None"
    await person.finished(person.run("x = 3"))
    assert await k.value("x") == "3"
    async with person_at(k.kernels, k.kernel_id) as newcomer:
        await newcomer.finished(newcomer.run("x = 4"))
    assert await k.value("x") == "4"


@runs_here
async def test_an_interrupt_while_the_fork_wakes_leaves_one_kernel(
    tmp_path: Path, folder: Path
) -> None:
    async with sandboxed(tmp_path) as k, person_at(k.kernels, k.kernel_id) as person:
        await k.run("x = 1")
        await k.keep("one")
        await k.run(f"x = 2; import os, signal; os.kill({COPIES}.kept['one'].pid, signal.SIGSTOP)")
        asked, ask = list[str](), k.copies._ask

        async def noted(limit: float, do: str, **given: Any) -> Any:
            asked.append(do)
            return await ask(limit, do, **given)

        k.copies._ask = noted  # type: ignore[method-assign]
        going = asyncio.create_task(k.back("one"))
        await until(lambda: "wake" in asked and k.link.busy)
        await asyncio.sleep(0.3)
        await k.link.interrupt()
        with pytest.raises(KernelError, match=copying.FAILED):
            await going
        await left_alone(k, person)


@runs_here
@pytest.mark.parametrize(
    ("does", "goes_back"),
    [
        # As half a second after a cell that ended just before the undo.
        (f"{COPIES}.bound()", True),
        (f"{COPIES}.kept.pop('one').end()", False),
        # As an interrupt of the request to leave, once and twice.
        (f"vars({COPIES}).update(leave=lambda key: vars({COPIES}).pop('leave') / 0)", True),
        (f"vars({COPIES}).update(leave=lambda key: 1 / 0)", False),
    ],
)
async def test_what_ends_copies_during_the_change(
    tmp_path: Path, folder: Path, does: str, goes_back: bool
) -> None:
    async with (
        sandboxed(tmp_path, copies_memory=2**20) as k,
        person_at(k.kernels, k.kernel_id) as person,
    ):
        await k.run("x = 1; big = bytearray(20 * 2**20)")
        await k.keep("one")
        replaced = k.link.replaced

        def slowly() -> Callable[[], None]:
            time.sleep(2)
            return replaced()

        k.link.replaced = slowly  # type: ignore[method-assign]
        await k.run(
            f"x = 2; big[:] = bytes(len(big)); {COPIES}.is_due = True\n"
            f"import asyncio; asyncio.get_running_loop().call_later(1.5, lambda: {does})"
        )
        if goes_back:
            await k.back("one")
            assert await k.value("x") == "1"
        else:
            with pytest.raises(KernelError, match=r"no longer there|did not answer"):
                await k.back("one")
            await left_alone(k, person)


@runs_here
async def test_going_back_keeps_the_kernel_for_itself_also_when_its_caller_leaves(
    tmp_path: Path, folder: Path
) -> None:
    async with sandboxed(tmp_path) as k:
        await k.run("x = 1")
        await k.keep("one")
        await k.run("x = 2")
        replaced = k.link.replaced

        def and_leaves() -> Callable[[], None]:
            going.cancel()
            return replaced()

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
