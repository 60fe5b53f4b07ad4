"""Executing in real kernels, beside a person who uses them too."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.utils import ensure_async
from jupyter_server.gateway.managers import GatewayMappingKernelManager

from jupyter_codeinterp.adapters.zmq_kernel import KernelPool, ZmqKernel
from jupyter_codeinterp.adapters.zmq_kernel.kernel import ZmqSlot
from jupyter_codeinterp.adapters.zmq_kernel.link import KernelLink
from jupyter_codeinterp.adapters.zmq_kernel.run import Run
from jupyter_codeinterp.adapters.zmq_kernel.wire import Message
from jupyter_codeinterp.core.errors import KernelError
from jupyter_codeinterp.core.ports import (
    DisplayUpdated,
    ExecutionDone,
    ExecutionEvent,
    ExecutionStarted,
    OutputsChanged,
)
from tests.kernels import (
    Gate,
    Intruder,
    Person,
    install_bash_kernel,
    kernel_manager,
    kernel_of,
    person_at,
    run,
    running_kernel,
    until,
)


@asynccontextmanager
async def python() -> AsyncIterator[tuple[ZmqKernel, KernelLink, Any]]:
    """A notebook's kernel, our link to it, and the server's kernel manager."""
    async with kernel_manager() as kernels, running_kernel(kernels) as (pool, kernel, kernel_id):
        yield kernel, pool.get(kernel_id)[0], kernels


@asynccontextmanager
async def python_and_person() -> AsyncIterator[tuple[ZmqKernel, Person, KernelLink]]:
    async with python() as (kernel, link, kernels), person_at(kernels, link.kernel_id) as person:
        yield kernel, person, link


async def drop_idle(kernel: ZmqKernel) -> None:
    """Make the kernel lose the ``idle`` of the next cell whose source has the word LOST."""
    _, done = await run(
        kernel,
        "def _lossy(kernel, publish):\n"
        "    def status(state, channel, parent=None):\n"
        "        source = kernel.get_parent('shell')['content'].get('code', '')\n"
        "        if channel == 'control' or state != 'idle' or 'LOST' not in source:\n"
        "            publish(state, channel, parent)\n"
        "    kernel._publish_status = status\n"
        "_lossy(get_ipython().kernel, get_ipython().kernel._publish_status)\n",
    )
    assert done.status == "ok"


def text(done: ExecutionDone) -> str:
    return "".join(o.get("text", "") for o in done.outputs)


# --- what a run gives ----------------------------------------------------------------


async def test_a_run_from_start_to_end() -> None:
    async with python() as (kernel, _, _):
        events, done = await run(kernel, "print('hello')\nx = 6 * 7\nx")
        assert isinstance(events[0], ExecutionStarted)
        assert all(isinstance(e, OutputsChanged) for e in events[1:-1])
        assert (done.status, done.execution_count, done.note) == ("ok", 1, "")
        assert [o["output_type"] for o in done.outputs] == ["stream", "execute_result"]
        events, done = await run(kernel, "def f():\n    return x / 0\nf()")
        assert (done.status, done.outputs[-1]["ename"]) == ("error", "ZeroDivisionError")
        assert "\x1b[" in "".join(done.outputs[-1]["traceback"])
        _, done = await run(kernel, "input('name? ')")
        assert done.outputs[-1]["ename"] == "StdinNotImplementedError"


async def test_displays_are_updated_and_cleared() -> None:
    async with python() as (kernel, _, _):
        _, done = await run(
            kernel,
            "from IPython.display import display, clear_output\n"
            "first = display('a', display_id=True)\n"
            "first.update('b')\n",
        )
        assert [o["data"]["text/plain"] for o in done.outputs] == ["'b'"]
        events, done = await run(kernel, "print(1)\nfirst.update('c')")
        updates = [e for e in events if isinstance(e, DisplayUpdated)]
        assert [u.data["text/plain"] for u in updates] == ["'c'"]
        assert text(done) == "1\n"
        _, done = await run(kernel, "print(1)\nclear_output(wait=True)\nprint(2)")
        assert text(done) == "2\n"


async def test_output_widgets_get_what_they_capture() -> None:
    async with python() as (kernel, _, _):
        _, done = await run(
            kernel,
            "import ipywidgets\nout = ipywidgets.Output()\n"
            "with out:\n    print('inside')\n    display(5)\nprint('outside')",
        )
        assert text(done) == "outside\n"
        _, done = await run(kernel, "with out:\n    print('more')")
        assert done.outputs == ()
        _, done = await run(
            kernel,
            "print([o.get('text') or o['data']['text/plain'] for o in out.outputs])\n"
            "g = ipywidgets.interact(lambda n: print('n is', n), n=3)",
        )
        assert text(done) == "['inside\\n', '5', 'more\\n']\n"
        _, done = await run(kernel, "print(g.widget.out.outputs[0]['text'])")
        assert text(done) == "n is 3\n\n"


async def test_payloads(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("loaded = 1\n")
    async with python() as (kernel, _, _):
        _, done = await run(kernel, "get_ipython().set_next_input('next')")
        assert done.next_inputs == ("next",)
        _, done = await run(kernel, f"%load {script}")
        assert "loaded = 1" in done.next_inputs[0]
        _, done = await run(kernel, "len?")
        assert "Return the number of items" in done.pages[0]


async def test_outputs_are_coalesced() -> None:
    async with python() as (kernel, _, _):
        source = "import time\nfor i in range(100):\n    print(i, flush=True); time.sleep(0.01)"
        events, done = await run(kernel, source)
        changes = [e for e in events if isinstance(e, OutputsChanged)]
        assert 1 < len(changes) <= done.elapsed * 10 + 2
        assert text(done).split() == [str(i) for i in range(100)]


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(10**6): print(i)",
        "for i in range(200): print(('x' * 99 + '\\n') * 10_000, end='')",
    ],
)
async def test_floods_are_bounded(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [0]
    handle = Run.handle

    def measured(run: Run, message: Message) -> None:
        sizes.append(message.size)
        handle(run, message)

    monkeypatch.setattr(Run, "handle", measured)
    async with python() as (kernel, link, kernels):
        await run(kernel, "pass")
        # The server's own reader of activity copies each message; here ours is measured.
        kernels.stop_watching_activity(link.kernel_id)
        gc.collect()
        before = resident()
        with watched_memory() as peak:
            _, done = await run(kernel, source)
        assert done.status == "ok"
        assert "characters of output were left out" in done.note
        assert len(text(done)) < 260_000
        # ZMQ hands over whole messages: one of them at a time is all that is held.
        assert max(peak) - before < max(sizes) + 50e6
        await until(lambda: resident() - before < 50e6)


@contextlib.contextmanager
def watched_memory() -> Iterator[list[int]]:
    """What the process holds, looked at until the end as often as a thread can."""
    seen = [resident()]
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.002):
            seen.append(resident())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def test_code_that_prints_without_end_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jupyter_codeinterp.adapters.zmq_kernel.run.FLOOD", 10e6)
    async with python() as (kernel, _, _):
        _, done = await run(
            kernel, "import time\nwhile True: print('x' * 50_000); time.sleep(0.001)"
        )
        assert done.status == "interrupted"
        assert "printed without end" in done.note


async def test_nonsense_from_the_kernel_does_not_end_the_run() -> None:
    async with python() as (kernel, _, _):
        _, done = await run(
            kernel,
            "from IPython.display import display\nk = get_ipython().kernel\n"
            "for kind in ['comm_msg', 'comm_open', 'display_data', 'stream', 'other']:\n"
            "    k.session.send(k.iopub_socket, kind, {}, parent=k.get_parent('shell'))\n"
            "display({'text/plain': 5}, raw=True)\nprint('and on')",
        )
        assert done.status == "ok"
        assert text(done) == "and on\n"


async def test_a_giant_output_is_a_note() -> None:
    async with python() as (kernel, _, _):
        _, done = await run(kernel, "raise ValueError('v' * 10_000_000)")
        assert (done.status, done.note) == ("error", "")
        assert "MB was left out" in done.outputs[-1]["evalue"]
        _, done = await run(kernel, "'v' * 10_000_000")
        assert done.outputs[-1]["data"] == {"text/plain": "[An output of 10.0 MB was left out.]"}


async def test_a_lost_idle_ends_the_run() -> None:
    async with python() as (kernel, _, _):
        await drop_idle(kernel)
        _, done = await run(kernel, "print('LOST')")
        assert (done.status, text(done)) == ("ok", "LOST\n")
        assert "Output truncated" in done.note
        assert done.elapsed > 1.9
        _, done = await run(kernel, "1")
        assert (done.status, done.note) == ("ok", "")


# --- beside a person -----------------------------------------------------------------


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "open")


async def test_hold_waits_for_all_that_the_person_has_queued(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, _):
        await person.begun(person.run(gate.source))
        for n in range(3):
            person.run(f"x = {n}; time.sleep(0.1)")
        # We connect only now, when their cell has been running for a while.
        info = await kernel.info()
        assert info.language == "python"
        assert kernel.busy()
        ours = asyncio.create_task(run(kernel, "print(x)"))
        gate.open()
        _, done = await ours
        assert text(done) == "2\n"
        await until(lambda: "print(x)" in person.sources())
        assert person.sources()[-2:] == ["x = 2; time.sleep(0.1)", "print(x)"]
        assert not kernel.busy()


async def test_a_cell_that_the_person_runs_after_hold_goes_first() -> None:
    async with python_and_person() as (kernel, person, _), kernel.hold() as slot:
        theirs = person.run("import time; time.sleep(0.3); y = 1")
        await person.begun(theirs)
        stream = slot.execute("print(y)", msg_id=slot.new_msg_id())
        events = [event async for event in stream]
        assert text(last(events)) == "1\n"


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
        assert person.has(intruder.msg_id, "error")
        assert person.has(msg_id, "execute_input")


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
        assert person.text(intruder.msg_id) == "mine\n"


async def consume(slot: Any, source: str) -> None:
    async for _ in slot.execute(source, msg_id=slot.new_msg_id()):
        pass


async def test_a_lost_idle_of_theirs_does_not_stop_us() -> None:
    async with python_and_person() as (kernel, person, _):
        await drop_idle(kernel)
        theirs = person.run("'LOST'")
        await until(lambda: person.has(theirs, "execute_result"))
        await until(kernel.busy)
        _, done = await run(kernel, "1")
        assert done.status == "ok"
        assert not kernel.busy()


async def test_one_lock_for_all_notebooks_of_a_kernel() -> None:
    async with kernel_manager() as kernels, running_kernel(kernels) as (pool, one, kernel_id):
        other = kernel_of(pool, kernel_id)
        waiting: asyncio.Task[Any] | None = None
        async with one.hold() as slot:
            assert kernels.kernel_model(kernel_id)["connections"] == 1
            waiting = asyncio.create_task(run(other, "order = order + ['second']; print(order)"))
            await until(lambda: other._link is not None and other.busy())
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


async def test_stop_of_code_that_does_not_obey(gate: Gate) -> None:
    async with python() as (kernel, _, _):
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
        assert kernel.busy()
        gate.open()
        _, done = await run(kernel, "print('free again')")
        assert text(done) == "free again\n"


async def test_a_time_limit() -> None:
    async with python() as (kernel, _, _):
        _, done = await run(kernel, "z = 1\nimport time; time.sleep(30)", timeout=0.3)
        assert (done.status, done.outputs[-1]["ename"]) == ("timeout", "KeyboardInterrupt")
        assert 0.3 <= done.elapsed < 30
        _, done = await run(kernel, "print(z)", timeout=5)
        assert text(done) == "1\n"


# --- death, restart, change ----------------------------------------------------------


async def test_a_kernel_that_dies_in_mid_run() -> None:
    async with python() as (kernel, _, _):
        before = await kernel.info()
        source = "import os, time; print(1, flush=True); time.sleep(0.3); os._exit(1)"
        _, done = await run(kernel, source)
        assert (done.status, text(done)) == ("dead", "1\n")
        assert "variables are gone" in done.note
        # The server's autorestarter brings it back; waiting for that is part of hold.
        _, done = await run(kernel, "print('again')")
        assert text(done) == "again\n"
        assert (await kernel.info()).start == before.start + 1


async def test_a_restart_by_the_person_in_mid_run() -> None:
    async with python() as (kernel, link, kernels):
        before = await kernel.info()
        running = asyncio.create_task(run(kernel, "import time; time.sleep(30)"))
        await until(lambda: bool(link.listeners))
        await ensure_async(kernels.restart_kernel(link.kernel_id))
        _, done = await running
        assert done.status == "dead"
        assert (await kernel.info()).start == before.start + 1
        await kernel.restart()
        assert (await kernel.info()).start == before.start + 2


async def test_nothing_runs_in_a_kernel_restarted_since_hold() -> None:
    async with python() as (kernel, _, _), kernel.hold() as slot:
        await kernel.restart()
        with pytest.raises(KernelError) as raised:
            await consume(slot, "print('must not run')")
        assert raised.value.code == "kernel_changed"


async def test_a_notebook_whose_kernel_changes() -> None:
    async with kernel_manager() as kernels, running_kernel(kernels) as (pool, first, old):
        new = await kernels.start_kernel()
        current = [old]

        async def current_id() -> str:
            return current[0]

        kernel = ZmqKernel(pool, current_id)
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
            await until(kernel.busy)
            current[0] = new
        assert await waits == new
        current[0] = old
        theirs = asyncio.create_task(run(first, "import time; time.sleep(30)"))
        await until(lambda: bool(pool.get(old)[0].listeners))
        waits = asyncio.create_task(held_id(kernel))
        await until(kernel.busy)
        current[0] = new
        await kernels.shutdown_kernel(old, now=True)
        assert await waits == new
        assert (await theirs)[1].status == "dead"


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
        assert not kernel.busy()


async def test_a_gateway_is_refused_in_words() -> None:
    pool = KernelPool(GatewayMappingKernelManager())
    with pytest.raises(KernelError, match="not supported yet") as raised:
        await kernel_of(pool, "some-id").info()
    assert raised.value.code == "no_kernel"
    pool.close()


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


# --- variables -----------------------------------------------------------------------


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a second they should be there; a busy machine may need longer."""
    monkeypatch.setattr("jupyter_codeinterp.adapters.zmq_kernel.variables.LIMIT", 60)


@pytest.mark.usefixtures("patient")
async def test_variables() -> None:
    async with python() as (kernel, _, _):
        await run(
            kernel,
            "import numpy as np, pandas as pd, datetime\n"
            "n = 42\nhuge = 10**500\ns = 'text'\nlong = list(range(1000))\nd = {'a': [1]}\n"
            "few = (1, 'b', None)\n_hidden = 1\nday = datetime.date(2026, 1, 2)\n"
            "a = np.zeros((3, 4))\nf = np.float64(1.5)\n"
            "df = pd.DataFrame({'x': [1, 2], 'y': ['p', 'q']})\n"
            "column = df['x']\ndef function(): pass\n",
        )
        found = {v.pop("name"): v for v in await kernel.variables() or []}
        assert found == {
            "n": {"type": "int", "value": "42"},
            "huge": {"type": "int"},
            "s": {"type": "str", "len": 4, "value": "'text'"},
            "long": {"type": "list", "len": 1000},
            "d": {"type": "dict", "len": 1},
            "few": {"type": "tuple", "len": 3, "value": "(1, 'b', None)"},
            "day": {"type": "date", "value": "datetime.date(2026, 1, 2)"},
            "a": {"type": "ndarray", "shape": [3, 4], "dtype": "float64"},
            "f": {"type": "float64", "value": "1.5"},
            "df": {"type": "DataFrame", "shape": [2, 2], "columns": [["x", "int64"], ["y", "str"]]},
            "column": {"type": "Series", "shape": [2], "dtype": "int64"},
            "function": {"type": "function"},
        }
        asked = await kernel.variables(("n", "absent"))
        assert asked == [{"name": "n", "type": "int", "value": "42"}]
        _, done = await run(kernel, "print(In[1:], [k for k in dir() if 'codeinterp' in k])")
        assert text(done).endswith("[]\n")
        assert text(done).count("import numpy") == 1


@pytest.mark.usefixtures("patient")
async def test_variables_run_no_code_of_the_persons_types() -> None:
    async with python() as (kernel, _, _):
        await run(
            kernel,
            "_touched = []\n"
            "class Meta(type):\n"
            "    __name__ = property(lambda c: _touched.append('meta'))\n"
            "    def __eq__(c, o): _touched.append('eq'); return False\n"
            "    __hash__ = type.__hash__\n"
            "class Hostile(metaclass=Meta):\n"
            "    def __getattribute__(s, n): _touched.append(n); raise SystemExit\n"
            "    def __repr__(s): _touched.append('repr'); return ''\n"
            "    def __len__(s): _touched.append('len'); return 1\n"
            "    def __eq__(s, o): _touched.append('eq'); return True\n"
            "    def __hash__(s): _touched.append('hash'); return 1\n"
            "    shape = property(lambda s: _touched.append('shape'))\n"
            "class MyList(list):\n    __len__ = __repr__ = Hostile.__len__\n"
            "h = Hostile(); inside = [h]; keys = {h: h}; mine = MyList()\n"
            "import pandas as pd\n"
            "df = pd.DataFrame({'c': pd.Series([h], dtype=object)})\n"
            "_touched.clear()",
        )
        found = {v["name"]: v for v in await kernel.variables() or []}
        assert found["h"] == {"name": "h", "type": "Hostile"}
        assert found["inside"] == {"name": "inside", "type": "list", "len": 1}
        assert found["mine"] == {"name": "mine", "type": "MyList"}
        assert found["df"]["columns"] == [["c", "object"]]
        _, done = await run(kernel, "print(_touched)")
        assert text(done) == "[]\n"


@pytest.mark.usefixtures("patient")
async def test_variables_while_a_cell_runs_leave_it_alone(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, link):
        await run(kernel, "%matplotlib inline\nimport matplotlib.pyplot as plt, time")
        assert await kernel.variables() == []
        theirs = person.run(
            "plt.plot([1, 2]); get_ipython().set_next_input('kept')\nprint(1, flush=True)\n"
            f"{gate.source}\nplt.title('whole'); print(plt.gca().get_title())"
        )
        await until(lambda: person.text(theirs) != "")
        assert await kernel.variables() == []
        assert link.busy
        gate.open()
        await person.finished(theirs)
        assert person.text(theirs) == "1\nwhole\n"
        assert person.has(theirs, "display_data")


@pytest.mark.usefixtures("patient")
async def test_variables_of_a_busy_kernel_not_asked_before_are_not_available(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, _):
        theirs = person.run(gate.source)
        await person.begun(theirs)
        assert await kernel.variables() is None
        gate.open()
        await person.finished(theirs)
        await until(lambda: not kernel.busy())
        assert await kernel.variables() == []
