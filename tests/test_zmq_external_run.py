"""Seeing that another client runs what a draft holds, in a real kernel."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.utils import ensure_async

from jupyter_codeinterp.adapters.kernels.zmq import KernelPool, ZmqKernel
from jupyter_codeinterp.adapters.kernels.zmq.external_run import ZmqExternalRun
from tests.kernels import (
    Gate,
    kernel_manager,
    kernel_of,
    person_at,
    python_and_person,
    run,
    running_kernel,
    until,
)


async def watch(kernel: ZmqKernel, source: str) -> asyncio.Task[ZmqExternalRun]:
    """A watch that is in place."""
    await kernel.info()
    link = kernel._link
    assert link is not None
    before = len(link.external_runs._waiting)
    watching = asyncio.create_task(kernel.external_run(source))
    await until(lambda: len(link.external_runs._waiting) > before)
    return watching


async def test_a_run_elsewhere_is_followed_to_its_end() -> None:
    async with python_and_person() as (kernel, person, _):
        source = "print('one')\nimport sys; print('two', file=sys.stderr)\nstep = 40 + 2\nstep"
        watching = await watch(kernel, source)
        theirs = person.run(source)
        seen = await watching
        done = await seen.ended()
        assert (seen.msg_id, done.status, done.note) == (theirs, "ok", "")
        assert [o.get("text") for o in done.outputs[:2]] == ["one\n", "two\n"]
        assert done.outputs[2]["data"] == {"text/plain": "42"}
        assert done.execution_count == done.outputs[2]["execution_count"] == 1
        assert await seen.ended() is done


async def test_it_is_seen_when_it_begins_and_an_error_is_one(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "open")
    async with python_and_person() as (kernel, person, _):
        watching = await watch(kernel, f"{gate.source}\n1 / 0")
        person.run(f"{gate.source}\n1 / 0")
        seen = await watching
        gate.open()
        done = await seen.ended()
        assert (done.status, done.outputs[-1]["ename"]) == ("error", "ZeroDivisionError")


async def test_only_exactly_that_code_of_another_client_counts() -> None:
    async with python_and_person() as (kernel, person, _):
        watching = await watch(kernel, "print(1)")
        for other in ["print(1) ", "print(1)\n", "print( 1)", "1"]:
            await person.finished(person.run(other))
        await run(kernel, "print(1)")
        await person.finished(person.run("print(1)", silent=True))
        await run(kernel, "pass")
        assert not watching.done()
        theirs = person.run("print(1)")
        assert (await watching).msg_id == theirs


async def test_one_run_goes_to_one_watcher_the_first() -> None:
    async with python_and_person() as (kernel, person, _):
        first = await watch(kernel, "print(1)")
        second = await watch(kernel, "print(1)")
        given_up = await watch(kernel, "print(1)")
        given_up.cancel()
        one = person.run("print(1)")
        assert (await (await first).ended()).status == "ok"
        assert not second.done()
        two = person.run("print(1)")
        assert [(await first).msg_id, (await second).msg_id] == [one, two]


async def test_giving_up_disturbs_nobody(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "open")
    source = f"{gate.source}\nprint('whole')"
    async with python_and_person() as (kernel, person, link):
        watching = await watch(kernel, source)
        theirs = person.run(source)
        ended = asyncio.create_task((await watching).ended())
        await until(lambda: bool(link._idle))
        ended.cancel()
        gate.open()
        await person.finished(theirs)
        assert person.text(theirs) == "whole\n"
        _, done = await run(kernel, "print('on')")
        assert done.status == "ok"


async def test_its_idle_may_be_lost() -> None:
    async with python_and_person() as (kernel, person, _):
        source = (
            "k = get_ipython().kernel\npublish = k._publish_status\n"
            "k._publish_status = lambda *args, **more: setattr(k, '_publish_status', publish)\n5"
        )
        watching = await watch(kernel, source)
        theirs = person.run(source)
        done = await asyncio.wait_for((await watching).ended(), 30)
        assert done.outputs[-1]["data"] == {"text/plain": "5"}
        assert not person.has(theirs, "status", "idle")


async def test_the_kernel_dies_or_is_restarted_meanwhile() -> None:
    async with python_and_person() as (kernel, person, link):
        source = "import os, time; time.sleep(0.3); os._exit(1)"
        watching = await watch(kernel, source)
        person.run(source)
        done = await (await watching).ended()
        assert done.status == "dead"
        assert "variables are gone" in done.note
        # The next watch outlives restarts.
        await run(kernel, "'back'")
        watching = await watch(kernel, "print(3)")
        kernels: Any = link._kernels
        await ensure_async(kernels.restart_kernel(link.kernel_id))
        await until(lambda: link._wire is None)
        await until(lambda: link._wire is not None)
        await run(kernel, "'heard again'")
        theirs = person.run("print(3)")
        assert (await watching).msg_id == theirs


async def test_a_notebook_that_gets_a_kernel_only_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeinterp.adapters.kernels.zmq.kernel.LOOK", 0.05)
    async with kernel_manager() as kernels, running_kernel(kernels) as (pool, _, kernel_id):
        current: list[str | None] = [None]
        kernel = changing(pool, current)
        watching = asyncio.create_task(kernel.external_run("print(1)"))
        await asyncio.sleep(0)
        current[0] = kernel_id
        link = pool.get(kernel_id)[0]
        await until(lambda: bool(link.external_runs._waiting))
        await run(kernel_of(pool, kernel_id), "'connected'")
        async with person_at(kernels, kernel_id) as person:
            theirs = person.run("print(1)")
            assert (await watching).msg_id == theirs


def changing(pool: KernelPool, current: list[str | None]) -> ZmqKernel:
    async def current_id() -> str | None:
        return current[0]

    return ZmqKernel(pool, current_id)
