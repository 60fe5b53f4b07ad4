"""A fork of a sandboxed kernel takes the kernel's place, and everything goes on from there."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.adapters.kernels.zmq import ZmqKernel, copies
from jupyter_codeinterp.adapters.kernels.zmq.copies import (
    FAILED,
    NEVER,
    RESTARTED,
    TOO_MANY,
    WENT_BACK,
    Copies,
)
from jupyter_codeinterp.core.errors import KernelError
from jupyter_codeinterp.core.ports import ExecutionDone
from tests.kernels import kernel_manager, person_at, run, running_kernel, text, until
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import NAMED, folder, install

__all__ = ["folder"]


class Kernel:
    """One whose turns are keys."""

    def __init__(self, kernels: Any, kernel: ZmqKernel, copies: Copies, kernel_id: str) -> None:
        self.kernels, self.kernel, self.copies, self.kernel_id = kernels, kernel, copies, kernel_id
        self.link = copies.link

    async def keep(self, key: str) -> str | None:
        async with self.kernel.hold() as slot:
            return await slot.keep(key)

    async def run(self, source: str, **named: Any) -> ExecutionDone:
        return (await run(self.kernel, source, **named))[1]

    async def value(self, expression: str) -> str:
        return text(await self.run(f"print({expression})")).strip()

    async def look(self, expression: str) -> str:
        """Its value, without a cell."""
        return str((await self.copies._told(30, expression))["data"]["text/plain"])

    async def back(self, key: str) -> None:
        await self.kernel.forks.go_back(key)

    async def redo(self, key: str) -> None:
        await self.kernel.forks.redo(key)

    async def why_not(self, key: str) -> str | None:
        return (await self.kernel.forks.offers(key))[0]

    async def why_no_redo(self, key: str) -> str | None:
        return (await self.kernel.forks.offers(key))[1]


@asynccontextmanager
async def sandboxed(tmp_path: Path, **config: Any) -> AsyncIterator[Kernel]:
    async with (
        kernel_manager(install(tmp_path, *NAMED, **config)) as kernels,
        running_kernel(kernels, "sandboxed") as (pool, kernel, kernel_id),
    ):
        link = pool.get(kernel_id)[0]
        await link.info()
        yield Kernel(kernels, kernel, pool.copies(link), kernel_id)


@runs_here
async def test_the_variables_are_as_before_a_turn(tmp_path: Path, folder: Path) -> None:
    state = "random.getstate()[1][:5]"
    async with sandboxed(tmp_path) as k:
        await k.run("import random; random.seed(1); kept = [1]; random.random()")
        assert await k.keep("one") == ""
        numbers = await k.value(state)
        await k.run("kept.append(2); new = 1; random.seed(2)")
        info = await k.kernel.info()
        await k.back("one")
        assert await k.value("kept, 'new' in globals()") == "[1] False"
        assert await k.value(state) == numbers, "Python would give a fork other random numbers"
        now = await k.kernel.info()
        assert (now.start, now.backs) == (info.start + 1, info.backs + 1)
        assert await k.why_not("one") == WENT_BACK
        rows = await k.kernel.variables() or []
        names = [row["name"] for row in rows]
        assert names == ["kept"], "the list of variables works in the fork, too"


@runs_here
async def test_the_fork_is_a_kernel_like_the_one_before(tmp_path: Path, folder: Path) -> None:
    """Counts, history, streams, displays, errors, interrupts, subprocesses, and a second and third
    way back, each of another kind: from the first process, and from a fork."""
    async with sandboxed(tmp_path) as k:
        await k.run("x = 1")
        for key, value in (("one", 2), ("two", 3), ("three", 4)):
            assert await k.keep(key) == ""
            count = (await k.run(f"x = {value}")).execution_count
        assert count == 4
        for key, x in (("three", 3), ("two", 2), ("one", 1)):
            await k.back(key)
            done = await k.run("import os, sys; print('out'); os.system('echo low'); x")
            assert done.execution_count == x + 1
            [shown] = [one for one in done.outputs if one["output_type"] == "execute_result"]
            assert shown["data"]["text/plain"] == str(x)
            # What a subprocess writes comes a moment later.
            assert text(done).startswith("out\n")
        assert (await k.run("1 / 0")).outputs[-1]["ename"] == "ZeroDivisionError"
        done = await k.run("import time\nwhile True: time.sleep(0.1)", timeout=0.3)
        assert done.status == "timeout", "the interrupt reaches the fork"
        done = await k.run("import logging; logging.warning('seen'); In[1], Out.get(1)")
        assert "seen" in text(done)
        assert done.outputs[-1]["data"]["text/plain"] == "('x = 1', None)"
        done = await k.run("from IPython.display import HTML; display(HTML('<b>x</b>'))")
        assert done.outputs[0]["data"]["text/html"] == "<b>x</b>"


@runs_here
async def test_other_clients_find_the_fork(tmp_path: Path, folder: Path) -> None:
    """JupyterLab's connection notices nothing: ZMQ connects to the same path again."""
    async with sandboxed(tmp_path) as k, person_at(k.kernels, k.kernel_id) as person:
        await k.run("x = 1")
        await k.keep("one")
        await k.run("x = 2")
        await k.back("one")
        person.run("y = x")
        deadline = time.monotonic() + 10
        while await k.value("globals().get('y')") != "1":
            assert time.monotonic() < deadline


@runs_here
async def test_a_restart_and_a_shutdown_end_all_of_it(tmp_path: Path, folder: Path) -> None:
    async with sandboxed(tmp_path) as k:
        await k.run("x = 1")
        await k.keep("one")
        await k.run("x = 2")
        await k.keep("two")
        await k.back("two")
        await k.link.restart()
        assert await k.why_not("one") == RESTARTED
        assert await k.value("'x' in globals()") == "False"
        with pytest.raises(KernelError, match="restarted since"):
            await k.back("one")
        assert await k.keep("three") == "", "the new process keeps forks of its own"
        await k.run("x = 3")
        await k.back("three")
        process = k.kernels.get_kernel(k.kernel_id).provisioner._sandbox
        init = f"/proc/{process.init}"
    await until(lambda: not os.path.exists(init))  # noqa: PTH110


@runs_here
async def test_a_fork_that_dies_is_a_dead_kernel(tmp_path: Path, folder: Path) -> None:
    async with sandboxed(tmp_path, cpu=60) as k:
        await k.keep("one")
        await k.back("one")
        done = await k.run("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)")
        assert done.status == "dead"
        assert "60 CPU seconds" in done.note, "the supervisor ends as the fork did"
        assert await k.value("1") == "1"


@runs_here
async def test_there_are_few_and_small_ones(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sandboxed(tmp_path, copies=2, copies_memory=100 * 2**20) as k:
        await k.run("big = bytearray(1)")
        for key in "abc":
            await k.keep(key)
        assert [await k.why_not(key) for key in "abc"] == [TOO_MANY, "", ""]
        assert await k.why_not("never") == NEVER
        with monkeypatch.context() as patched:
            patched.setattr(copies, "LIMIT", 0)
            assert await k.keep("late") == FAILED
        assert await k.why_not("c") == "", "no answer does not say that they are gone"
        await k.run("big = bytearray(300 * 2**20)")
        await k.keep("d")
        await asyncio.sleep(1)
        assert await k.why_not("c") == "", "what they share with the kernel costs nothing"
        await k.run("for place in range(0, len(big), 4096): big[place] = 1")
        deadline = time.monotonic() + 10
        while await k.why_not("d") != TOO_MANY:
            assert time.monotonic() < deadline, "300 MB of the fork's own"
            await asyncio.sleep(0.1)
        await k.run("big = None")
        assert await k.keep("e") == ""


@runs_here
@pytest.mark.parametrize(
    ("source", "why"),
    [
        (
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
            "A thread of yours",
        ),
        (
            "import asyncio\nasync def wait(): await asyncio.sleep(99)\n"
            "t = asyncio.ensure_future(wait())",
            "A task of asyncio",
        ),
        ("import mmap; m = mmap.mmap(-1, 4096)", "shared memory"),
        ("get_ipython().kernel.eventloop = print", "graphical event loop"),
    ],
)
async def test_a_kernel_that_cannot_be_forked_says_why(
    tmp_path: Path, folder: Path, source: str, why: str
) -> None:
    async with sandboxed(tmp_path) as k:
        await k.run(source)
        said = await k.keep("one")
        assert said is not None and why in said
        assert await k.why_not("one") == said
        with pytest.raises(KernelError, match=why):
            await k.back("one")
        assert await k.value("1") == "1"


@runs_here
async def test_a_kernel_goes_on_where_its_fork_is_gone(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sandboxed(tmp_path) as k:
        await k.keep("one")
        await k.run(
            "x = 1\nimport os, signal\n"
            "os.kill(get_ipython().codeinterp_copies.kept['one'].pid, signal.SIGKILL)"
        )
        await asyncio.sleep(0.1)
        with pytest.raises(KernelError):
            await k.back("one")
        assert await k.why_not("one") == TOO_MANY
        assert await k.value("x") == "1"
        await k.keep("two")
        await k.run("x = 2")
        provisioner = k.kernels.get_kernel(k.kernel_id).provisioner
        monkeypatch.setattr(provisioner.place, "inner", provisioner.place.path / "nowhere")
        with pytest.raises(KernelError, match="sockets could not be found"):
            await k.back("two")
        assert await k.value("x") == "2"


@runs_here
async def test_a_busy_kernel_is_not_taken_away(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeinterp.adapters.kernels.zmq.kernel.BUSY_LIMIT", 0.5)
    async with sandboxed(tmp_path) as k, person_at(k.kernels, k.kernel_id) as person:
        await k.keep("one")
        await k.run("x = 1")
        person.run("import time; time.sleep(3); x = 2")
        await asyncio.sleep(0.5)
        with pytest.raises(KernelError, match="busy"):
            await k.back("one")
        assert await k.value("x") == "2"
        await k.back("one")
        assert await k.value("'x' in globals()") == "False"


@runs_here
async def test_without_copies_nothing_is_asked_of_the_kernel(tmp_path: Path, folder: Path) -> None:
    async with sandboxed(tmp_path, copies=0) as k, person_at(k.kernels, k.kernel_id) as person:
        await k.run("x = 1")
        before = len(person.sources())
        assert await k.keep("one") is None
        assert await k.why_not("one") is None
        assert await k.value("hasattr(get_ipython(), 'codeinterp_copies')") == "False"
        assert len(person.sources()) == before + 1
