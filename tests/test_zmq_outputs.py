"""What a run in a real kernel gives: outputs, displays, payloads, within bounds."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.kernel.iopub import OutputWidgets
from jupyter_codeinterp.kernel.wire import KernelMessage
from jupyter_codeinterp.kernel.zmq import late
from jupyter_codeinterp.kernel.zmq import run as run_module
from jupyter_codeinterp.kernel.zmq.run import Run
from jupyter_codeinterp.notebook.collector import Collector
from jupyter_codeinterp.wire.ops import Output
from jupyter_codeinterp.wire.ports import (
    DisplayUpdated,
    ExecutionDone,
    ExecutionStarted,
    OutputsChanged,
)
from tests.kernels import drop_idle, python, run, text, until


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
        shown = [o.get("text") or o["data"]["text/plain"] for o in done.captured]
        assert shown == ["inside\n", "5"]
        _, done = await run(kernel, "with out:\n    print('more')\n    1 / 0\n")
        assert (done.outputs, done.status) == ((), "ok"), "the widget catches what is raised"
        assert done.captured[2]["text"] == "more\n"
        assert done.captured[3]["ename"] == "ZeroDivisionError"
        _, done = await run(
            kernel,
            "out.clear_output()\n@out.capture(clear_output=True)\ndef say(n):\n    print('n', n)\n"
            "for n in range(3):\n    say(n)",
        )
        assert [o["text"] for o in done.captured] == ["n 2\n"]
        _, done = await run(kernel, "out.outputs = ()\nout.append_stdout('by its method')")
        assert [o["text"] for o in done.captured] == ["by its method"]
        _, done = await run(kernel, "print('none')")
        assert done.captured == ()
        await run(kernel, "out.outputs = ()\nwith out:\n    print('inside')\n    display(5)")
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


def test_late_echoes_of_outputs_do_not_bring_back_old_ones() -> None:
    sent: list[list[Output]] = []

    def send(comm_id: str, outputs: list[Output]) -> str:
        sent.append(outputs)
        return f"sent {len(sent)}"

    widgets = OutputWidgets(lambda msg_id: msg_id == "run", send)

    def told(msg_type: str, parent_id: str, **data: object) -> None:
        content = {"comm_id": "out", "data": data}
        widgets.handle(KernelMessage(msg_type, "", "", parent_id, "", None, content, 0))

    def echo(parent_id: str, outputs: list[Output]) -> None:
        told("comm_msg", parent_id, method="echo_update", state={"outputs": outputs})

    def shown() -> list[str]:
        return [output["text"] for output in widgets.finish("run")]

    def of(words: str) -> Output:
        return {"output_type": "stream", "name": "stdout", "text": words}

    told("comm_open", "run", state={"_model_name": "OutputModel"})
    for said in ("0", "1"):
        told("comm_msg", "run", method="update", state={"msg_id": "run"})
        collector = widgets.capturing("run")
        assert collector is not None
        collector.add("clear_output", {"wait": False}, 0)
        collector.add("stream", {"name": "stdout", "text": said}, 0)
        told("comm_msg", "run", method="update", state={"msg_id": ""})
    assert len(sent) == 2
    echo("sent 1", sent[0])
    assert shown() == ["1"]
    echo("a browser", [of("a browser's, which the kernel read before ours")])
    echo("sent 2", sent[1])
    told("comm_msg", "run", method="update", state={"layout": "wide", "msg_id": "run"})
    widgets.capturing("run").add("stream", {"name": "stdout", "text": "2"}, 0)  # type: ignore[union-attr]
    assert shown() == ["1", "2"]
    echo("sent 3", sent[2])
    echo("a browser", [of("its own")])
    told("comm_msg", "run", method="update", state={"outputs": [of("the kernel's")]})
    assert shown() == ["the kernel's"]


async def test_payloads() -> None:
    async with python() as (kernel, _, _):
        _, done = await run(kernel, "len?")
        assert "Return the number of items" in done.pages[0]


async def test_what_a_quick_cell_puts_out_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "FLUSH", 60)
    async with python() as (kernel, _, _):
        await run(kernel, "shown = display('a', display_id=True)")
        events, done = await run(kernel, "print(1)\nshown.update('b')\n2")
        kinds = [type(event) for event in events]
        assert kinds == [ExecutionStarted, DisplayUpdated, ExecutionDone]
        assert [o["output_type"] for o in done.outputs] == ["stream", "execute_result"]


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
        "for i in range(300_000): print(i)",
        "for i in range(200): print(('x' * 99 + '\\n') * 10_000, end='')",
    ],
)
async def test_floods_are_bounded(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [0]
    handle = Run.handle

    def measured(run: Run, message: KernelMessage) -> None:
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
        assert "characters of output were not kept" in done.note
        assert len(text(done)) < 260_000
        # ZMQ hands over whole messages, and may have read the next while one is held.
        assert max(peak) - before < 2 * max(sizes) + 50e6
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


async def test_code_that_prints_without_end_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeinterp.kernel.zmq.run.FLOOD", 10e6)
    async with python() as (kernel, _, _):
        _, done = await run(
            kernel, "import time\nwhile True: print('x' * 50_000); time.sleep(0.001)"
        )
        assert done.status == "interrupted"
        assert "kept printing" in done.note


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
        _, done = await run(kernel, "raise ValueError('v' * 33_000_000)")
        assert (done.status, done.note) == ("error", "")
        assert "MB was omitted" in done.outputs[-1]["evalue"]
        _, done = await run(kernel, "'v' * 33_000_000")
        assert done.outputs[-1]["data"] == {"text/plain": "[An output of 33.0 MB was omitted.]"}


async def test_a_page_with_its_library_inside_is_whole() -> None:
    async with python() as (kernel, _, _):
        shows = "display({'text/html': '<script>' + 'v' * 12_000_000}, raw=True)"
        _, done = await run(kernel, shows)
        assert len(done.outputs[-1]["data"]["text/html"]) == 12_000_008


async def test_a_lost_idle_ends_the_run() -> None:
    async with python() as (kernel, _, _):
        await drop_idle(kernel)
        _, done = await run(kernel, "print('LOST')")
        assert (done.status, text(done)) == ("ok", "LOST\n")
        assert "Output truncated" in done.note
        assert done.elapsed > 1.9
        _, done = await run(kernel, "1")
        assert (done.status, done.note) == ("ok", "")


async def test_what_a_kernel_drops_is_said() -> None:
    """Its socket holds 1,000 messages for a reader that is too slow, and drops the rest."""
    flood = (
        "from IPython.display import display\n"
        "import pathlib, time\n"
        "for n in range(10_000): display('x' * 2000)\n"
    )
    async with python() as (kernel, _, _):
        async with kernel.hold() as slot:
            events = slot.execute(flood, msg_id=slot.new_msg_id())
            async for event in events:
                if isinstance(event, ExecutionStarted):
                    time.sleep(3)  # noqa: ASYNC251  (nobody reads)
        assert isinstance(event, ExecutionDone) and event.status == "ok"
        assert "the kernel dropped some of it" in event.note
        _, done = await run(kernel, "for n in range(2000): print(n, flush=True)")
        assert done.note == "" or "left out" in done.note


async def test_reports_after_the_end_pause_even_if_nothing_comes_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each has all outputs: a thread that waits for the end of a report must not fill the disk."""
    paused: list[float] = []
    heard: list[str] = []
    sleep = asyncio.sleep

    async def pause(seconds: float) -> None:
        paused.append(seconds)
        await sleep(0)

    async def hear(outputs: tuple[Output, ...]) -> None:
        heard.append(outputs[0]["text"])

    monkeypatch.setattr(asyncio, "sleep", pause)
    ended = late.EndedRun(Collector(), asyncio.ensure_future)
    ended.listen_on(hear)
    for said in ("a", "b"):
        content = {"name": "stdout", "text": said}
        ended.add(KernelMessage("stream", "", "", "run", "", None, content, 1))
        assert ended._telling is not None
        await ended._telling
    assert heard == ["a", "ab"]
    assert paused == 2 * [late.FLUSH, late.LATE]


async def test_what_a_widget_message_writes_is_no_output_of_the_cell() -> None:
    """A page that loads again asks for widgets that are gone, and the kernel says so on stderr."""
    came: list[str] = []

    async def hear(outputs: tuple[Output, ...]) -> None:
        came.append("".join(one["text"] for one in outputs))

    code = (
        "import threading\n"
        "threading.Timer(1.5, lambda: print('late', flush=True)).start()\nprint('now')"
    )
    async with python() as (kernel, link, _):
        async with kernel.hold() as slot:
            async for _event in slot.execute(code, msg_id=slot.new_msg_id()):
                pass
            slot.listen_on(hear)
        content: dict[str, Any] = {"comm_id": "gone", "data": {}}
        for number in range(3):
            await link.wire.send("shell", "comm_msg", content, msg_id=f"widget-{number}")
        await until(lambda: any("late" in one for one in came))
    assert came[-1] == "now\nlate\n"
