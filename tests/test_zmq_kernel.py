"""Executing in real kernels, beside a person who uses them too."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.utils import ensure_async

from jupyter_codeinterp.base.errors import KernelError
from jupyter_codeinterp.kernel.zmq import ZmqKernel
from jupyter_codeinterp.kernel.zmq import link as link_module
from jupyter_codeinterp.kernel.zmq import run as run_module
from jupyter_codeinterp.kernel.zmq.kernel import ZmqSlot
from jupyter_codeinterp.kernel.zmq.run import Run
from jupyter_codeinterp.wire.ports import ExecutionDone, ExecutionEvent, OutputsChanged
from tests.kernels import (
    ONE_SPEC,
    Gate,
    Intruder,
    Person,
    drop_idle,
    install_bash_kernel,
    kernel_manager,
    kernel_of,
    python,
    python_and_person,
    run,
    running_kernel,
    text,
    until,
)

# --- beside a person -----------------------------------------------------------------


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "open")


async def test_hold_waits_for_all_that_the_person_has_queued(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, link):
        await person.begun(person.run(gate.source))
        for n in range(3):
            person.run(f"x = {n}; time.sleep(0.1)")
        # We connect only now, when their cell has been running for a while.
        info = await kernel.info()
        assert info.language == "python"
        assert link.busy
        ours = asyncio.create_task(run(kernel, "print(x)"))
        gate.open()
        _, done = await ours
        assert text(done) == "2\n"
        await until(lambda: "print(x)" in person.sources())
        assert person.sources()[-2:] == ["x = 2; time.sleep(0.1)", "print(x)"]
        assert not link.busy


async def test_what_the_person_runs_while_we_wait_for_another_cell_goes_first(
    gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    async with python_and_person() as (kernel, person, link):
        await run(kernel, "'so that our guard is there'")
        gated = person.run(gate.source)
        await until(lambda: link._running == gated)

        async def ran_before_us() -> bool:
            async with kernel.hold():
                return ran.exists()

        holding = asyncio.create_task(ran_before_us())
        await until(lambda: link._fence is not None)
        await person.arrived()
        # Behind what asks whether the kernel is idle, which waits for the cell before.
        theirs = person.run(f"import time; time.sleep(0.5); open({str(ran)!r}, 'w').close()")
        await person.arrived()
        # What the kernel says of it may be read late.
        hear = link._on_status
        monkeypatch.setattr(link, "_on_status", lambda said: said.parent_id == theirs or hear(said))
        gate.open()
        assert await holding


async def test_a_cell_that_the_person_runs_after_hold_goes_first() -> None:
    async with python_and_person() as (kernel, person, _), kernel.hold() as slot:
        theirs = person.run("import time; time.sleep(0.3); y = 1")
        await person.begun(theirs)
        stream = slot.execute("print(y)", msg_id=slot.new_msg_id())
        events = [event async for event in stream]
        assert text(last(events)) == "1\n"


@pytest.mark.parametrize(("still", "asked"), [(60, 1), (0, 2)])
async def test_a_kernel_that_has_been_still_for_a_moment_is_not_asked_again(
    still: float, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "FENCE_VALID", still)
    async with python_and_person() as (kernel, person, _):
        await run(kernel, "'first'")
        await until(lambda: person.sources() == ["'first'"])
        before = fences(person)
        await run(kernel, "'second'")
        await until(lambda: person.sources() == ["'first'", "'second'"])
        assert fences(person) - before == asked


async def test_a_kernel_that_has_done_anything_is_asked_again() -> None:
    async with python_and_person() as (kernel, person, link), kernel.hold() as slot:
        seen = link._cells_seen
        await person.finished(person.run("'theirs'"))
        # What the kernel says reaches us and them at times of their own.
        await until(lambda: link._cells_seen > seen and not link.busy)
        before = fences(person)
        await consume(slot, "'ours'")
        await until(lambda: person.sources() == ["'theirs'", "'ours'"])
        assert fences(person) - before == 1


def fences(person: Person) -> int:
    """How often the kernel has said that it is idle, when asked (and once what it is)."""
    kinds = ((m["msg_type"], m["parent_header"].get("msg_type")) for m in person.messages)
    return sum(kind == ("status", "kernel_info_request") for kind in kinds) // 2


def last(events: list[ExecutionEvent]) -> ExecutionDone:
    assert isinstance(events[-1], ExecutionDone)
    return events[-1]


async def test_a_cancelled_wait_runs_nothing_and_interrupts_nobody(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, link):
        theirs = person.run(f"{gate.source}\nprint('undisturbed')")
        await person.begun(theirs)
        waiting = asyncio.create_task(run(kernel, "print('ours')"))
        await until(lambda: bool(link._idle))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.open()
        await person.finished(theirs)
        assert person.text(theirs) == "undisturbed\n"
        _, done = await run(kernel, "print('later')")
        assert text(done) == "later\n"
        await until(lambda: "print('later')" in person.sources())
        assert "print('ours')" not in person.sources()


async def test_a_failing_cell_of_ours_leaves_their_queue_alone() -> None:
    async with python_and_person() as (kernel, person, _):
        ours = asyncio.create_task(run(kernel, "import time; time.sleep(0.3); 1 / 0"))
        await until(lambda: bool(person.sources()))
        theirs = person.run("print('still here')")
        _, done = await ours
        assert done.status == "error"
        await person.finished(theirs)
        assert person.text(theirs) == "still here\n"


async def test_an_aborted_request_is_sent_again() -> None:
    async with python_and_person() as (kernel, person, link), kernel.hold() as slot:
        intruder = Intruder(link, person, "import time; time.sleep(0.3); 1 / 0")
        msg_id = slot.new_msg_id()
        events = [event async for event in slot.execute("print('ours')", msg_id=msg_id)]
        assert text(last(events)) == "ours\n"
        await until(lambda: person.has(intruder.msg_id, "error"))
        await until(lambda: person.has(msg_id, "execute_input"))


async def test_code_that_the_kernel_refused_counts_as_not_sent() -> None:
    async with python_and_person() as (held, person, link):

        async def current_id() -> str:
            refused = any(run is not None and run._was_aborted() for run in runs())
            return "another" if refused else link.kernel_id

        def runs() -> list[Run | None]:
            return [held_slot._run for held_slot in slots]

        slots: list[ZmqSlot] = []
        kernel = ZmqKernel(held._pool, current_id, ONE_SPEC)
        async with kernel.hold() as slot:
            slots.append(slot)
            intruder = Intruder(link, person, "import time; time.sleep(0.3); 1 / 0")
            with pytest.raises(KernelError) as raised:
                await consume(slot, "print('must not run')")
            assert raised.value.code == "kernel_changed" and not slot.sent
            await until(lambda: person.has(intruder.msg_id, "error"))
        assert "print('must not run')" not in person.sources()


async def test_stopped_before_it_began_it_ends_as_soon_as_it_begins(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, link):
        async with kernel.hold() as slot:
            intruder = Intruder(link, person, f"{gate.source}\nprint('mine')")
            consumer = asyncio.create_task(consume(slot, "time.sleep(30)"))
            await until(lambda: slot.sent)
            consumer.cancel()
            with pytest.raises(asyncio.CancelledError):
                await consumer
            assert await slot.stopped() is None
            assert not slot.begun
            gate.open()
            done = await has_stopped(slot)
            assert (done.status, slot.begun) == ("interrupted", True)
        _, done = await run(kernel, "print('next')")
        assert text(done) == "next\n"
        await person.finished(intruder.msg_id)
        assert person.text(intruder.msg_id) == "mine\n"


async def consume(slot: Any, source: str) -> None:
    async for _ in slot.execute(source, msg_id=slot.new_msg_id()):
        pass


async def test_a_lost_idle_of_theirs_does_not_stop_us() -> None:
    async with python_and_person() as (kernel, person, link):
        await drop_idle(kernel)
        theirs = person.run("'LOST'")
        await until(lambda: person.has(theirs, "execute_result"))
        await until(lambda: link.busy)
        _, done = await run(kernel, "1")
        assert done.status == "ok"
        assert not link.busy


async def test_one_lock_for_all_notebooks_of_a_kernel() -> None:
    async with kernel_manager() as kernels, running_kernel(kernels) as (pool, one, kernel_id):
        other = kernel_of(pool, kernel_id)
        waiting: asyncio.Task[Any] | None = None
        async with one.hold() as slot:
            assert kernels.kernel_model(kernel_id)["connections"] == 1
            waiting = asyncio.create_task(run(other, "order = order + ['second']; print(order)"))
            await until(lambda: other.kernel_id == kernel_id)
            await consume(slot, "order = ['first']")
            assert not waiting.done()
        _, done = await waiting
        assert text(done) == "['first', 'second']\n"
        assert kernels.kernel_model(kernel_id)["connections"] == 0


# --- stop and time limits ------------------------------------------------------------


async def test_stop_interrupts_our_code_only() -> None:
    async with python_and_person() as (kernel, person, _):
        async with kernel.hold() as slot:
            consumer = asyncio.create_task(
                consume(slot, "kept = 5\nprint('started')\nwhile True: pass")
            )
            await until(lambda: any(m["msg_type"] == "stream" for m in person.messages))
            theirs = person.run("print(kept)")
            consumer.cancel()
            with pytest.raises(asyncio.CancelledError):
                await consumer
            done = await has_stopped(slot)
        assert (done.status, done.outputs[-1]["ename"]) == ("interrupted", "KeyboardInterrupt")
        await person.finished(theirs)
        assert person.text(theirs) == "5\n"


async def has_stopped(slot: ZmqSlot) -> ExecutionDone:
    """Within a second it should; a busy machine may need longer."""
    while (done := await slot.stopped()) is None:
        pass
    return done


async def test_a_stopped_run_whose_idle_is_lost_has_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_module, "INTERRUPT_TIMEOUT", 0.5)
    async with python() as (kernel, link, _):
        await drop_idle(kernel)
        link.wire.lag = 60.0
        async with kernel.hold() as slot:
            stream = slot.execute("print('LOST')\nwhile True: pass", msg_id=slot.new_msg_id())
            async with contextlib.aclosing(stream):
                async for event in stream:
                    if isinstance(event, OutputsChanged):
                        break
            done = await asyncio.wait_for(has_stopped(slot), 10)
        assert (done.status, done.outputs[-1]["ename"]) == ("interrupted", "KeyboardInterrupt")


async def test_stop_of_code_that_does_not_obey(gate: Gate) -> None:
    async with python() as (kernel, link, _):
        async with kernel.hold() as slot:
            source = (
                "import signal, time\nwas = signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                f"print(1, flush=True)\n{gate.source}\nsignal.signal(signal.SIGINT, was)"
            )
            stream = slot.execute(source, msg_id=slot.new_msg_id())
            async with contextlib.aclosing(stream):
                async for event in stream:
                    if isinstance(event, OutputsChanged):
                        break
            assert await slot.stopped() is None
        assert link.busy
        gate.open()
        _, done = await run(kernel, "print('free again')")
        assert text(done) == "free again\n"


async def test_a_time_limit() -> None:
    async with python() as (kernel, _, _):
        _, done = await run(kernel, "z = 1\nimport time; time.sleep(30)", timeout=0.3)
        assert (done.status, done.outputs[-1]["ename"]) == ("timeout", "KeyboardInterrupt")
        assert 0.3 <= done.elapsed < 30
        _, done = await run(kernel, "print(z)", timeout=30)
        assert text(done) == "1\n"


# --- death, restart, change ----------------------------------------------------------


async def test_a_restart_by_the_person_in_mid_run() -> None:
    async with python() as (kernel, link, kernels):
        before = await kernel.info()
        running = asyncio.create_task(run(kernel, "import time; time.sleep(30)"))
        await until(lambda: bool(link.listeners))
        await ensure_async(kernels.restart_kernel(link.kernel_id))
        _, done = await running
        assert done.status == "dead"
        assert (await kernel.info()).start == before.start + 1
        await link.restart()
        assert (await kernel.info()).start == before.start + 2


async def test_nothing_runs_in_a_kernel_restarted_since_hold() -> None:
    async with python() as (kernel, link, _), kernel.hold() as slot:
        await link.restart()
        with pytest.raises(KernelError) as raised:
            await consume(slot, "print('must not run')")
        assert raised.value.code == "kernel_changed"


async def test_a_notebook_whose_kernel_changes() -> None:
    async with kernel_manager() as kernels, running_kernel(kernels) as (pool, first, old):
        new = await kernels.start_kernel()
        current = [old]

        async def current_id() -> str:
            return current[0]

        kernel = ZmqKernel(pool, current_id, ONE_SPEC)
        async with kernel.hold() as slot:
            current[0] = new
            with pytest.raises(KernelError) as raised:
                await consume(slot, "print('must not run')")
            assert raised.value.code == "kernel_changed"
            waiting = asyncio.create_task(kernel.info())
            assert (await waiting).kernel_id == new
        current[0] = old
        async with first.hold():
            waits = asyncio.create_task(held_id(kernel))
            await until(lambda: kernel.kernel_id == old)
            current[0] = new
        assert await waits == new
        current[0] = old
        theirs = asyncio.create_task(run(first, "import time; time.sleep(30)"))
        await until(lambda: bool(pool.get(old)[0].listeners))
        waits = asyncio.create_task(held_id(kernel))
        await until(lambda: kernel.kernel_id == old)
        current[0] = new
        await kernels.shutdown_kernel(old, now=True)
        assert await waits == new
        assert (await theirs)[1].status == "dead"


async def test_a_notebook_whose_kernel_changes_behind_a_persons_cell() -> None:
    async with python_and_person() as (held, person, link):
        current = [link.kernel_id]

        async def current_id() -> str:
            return current[0]

        kernel = ZmqKernel(held._pool, current_id, ONE_SPEC)
        async with kernel.hold() as slot:
            theirs = person.run("import time; time.sleep(1)")
            await until(lambda: link.busy)
            waits = asyncio.create_task(consume(slot, "print('must not run')"))
            await asyncio.sleep(0.2)
            current[0] = "another"
            with pytest.raises(KernelError) as raised:
                await waits
            assert raised.value.code == "kernel_changed" and not slot.sent
        await person.finished(theirs)


async def held_id(kernel: ZmqKernel) -> str:
    async with kernel.hold() as slot:
        return slot.info.kernel_id


async def test_no_kernel() -> None:
    async with kernel_manager() as kernels, running_kernel(kernels) as (pool, kernel, kernel_id):
        with pytest.raises(KernelError, match="has no kernel") as raised:
            await kernel_of(pool, None).info()
        assert raised.value.code == "no_kernel"
        link = pool.get(kernel_id)[0]
        await kernel.info()
        await kernels.shutdown_kernel(kernel_id, now=True)
        with pytest.raises(KernelError, match="shut down") as raised:
            await kernel.info()
        await until(lambda: link.closed)


async def test_another_language(tmp_path: Path) -> None:
    folder = install_bash_kernel(tmp_path)
    async with kernel_manager(folder) as kernels, running_kernel(kernels, "bash") as (_, kernel, _):
        info = await kernel.info()
        assert info.language == "bash"
        _, done = await run(kernel, "x=5; echo $x")
        assert (done.status, text(done)) == ("ok", "5\n")
        _, done = await run(kernel, "false")
        assert done.status == "error"
        assert done.outputs[-1]["output_type"] == "error"
        assert await kernel.variables() is None


# --- a kernel that ends ---------------------------------------------------------------


async def test_a_kernel_that_ends_as_it_publishes_takes_nothing_along() -> None:
    """With a socket that gives up its pipe then, libzmq aborts the server within seconds."""
    program = (sys.executable, "-m", "tests.publishing", "8")
    done = await asyncio.create_subprocess_exec(
        *program, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    said, wrong = await done.communicate()
    assert done.returncode == 0, wrong.decode()
    assert int(said) > 1_000
