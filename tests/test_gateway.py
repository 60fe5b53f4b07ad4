"""Kernels of a real Kernel Gateway, over a link that is slow and can be cut."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.session import Session
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.gateway.managers import GatewayMappingKernelManager
from jupyter_server.services.kernels.connection.base import (
    deserialize_msg_from_ws_v1,
    serialize_msg_to_ws_v1,
)

from jupyter_codeinterp.base.errors import KernelError
from jupyter_codeinterp.kernel.gateway import GatewayProcess
from jupyter_codeinterp.kernel.gateway import wire as frames
from jupyter_codeinterp.kernel.gateway import wire as wire_module
from jupyter_codeinterp.kernel.gateway.wire import GatewayWire
from jupyter_codeinterp.kernel.wire import execute_request
from jupyter_codeinterp.kernel.zmq import ZmqKernel
from jupyter_codeinterp.kernel.zmq import run as run_module
from jupyter_codeinterp.kernel.zmq.fresh import FreshKernel
from jupyter_codeinterp.wire.ports import DisplayUpdated, ExecutionDone, ExecutionEvent
from tests.gateways import ENTERPRISE, Colleague, Gateway, Link, gateway, kernels_over, link_to
from tests.kernels import Gate, kernel_of, run, text, until

DELAY = 0.1
JITTER = 0.05
"""Seconds that the slow link takes in each direction."""
COUNT = "import time\nfor i in range({}):\n    print(i)\n    time.sleep(0.05)"
PLOT = """
from IPython.display import Image
Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + bytes(90), format='png')
"""


GATEWAYS = ["kernel", pytest.param("enterprise", marks=pytest.mark.nightly)]


@pytest.fixture(scope="module", params=GATEWAYS)
def remote(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    enterprise = request.param == "enterprise"
    if enterprise and not ENTERPRISE:
        pytest.skip("no Enterprise Gateway: scripts/engines gateway has it")
    folder = tmp_path_factory.mktemp("gateway")
    with gateway(folder, enterprise, token="only-for-this-test") as running:
        yield running


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "open")


class Place:
    def __init__(self, link: Link, kernels: Any, kernel: ZmqKernel, kernel_id: str) -> None:
        self.link = link
        self.kernels = kernels
        self.kernel = kernel
        self.kernel_id = kernel_id


@asynccontextmanager
async def at(remote: Gateway, delay: float = 0.0, jitter: float = 0.0) -> AsyncIterator[Place]:
    async with link_to(remote, delay, jitter) as link, kernels_over(link) as (pool, kernels):
        kernel_id = await kernels.start_kernel(kernel_name="python3")
        yield Place(link, kernels, kernel_of(pool, kernel_id), kernel_id)


async def cut_during(place: Place, code: str, after: str) -> ExecutionDone:
    """Run the code, and cut the link for a second once ``after`` was printed."""

    async def ran() -> ExecutionDone:
        cuts = 0
        async with place.kernel.hold() as slot:
            async for event in slot.execute(code, msg_id=slot.new_msg_id()):
                if after in str(getattr(event, "outputs", "")) and not cuts:
                    cuts += 1
                    place.link.cut()
                    asyncio.get_running_loop().call_later(1, place.link.reconnect)
        assert isinstance(event, ExecutionDone)
        return event

    return await asyncio.wait_for(ran(), 40)


# --- what holds as for local kernels ----------------------------------------------------------


WIDGET = """
import ipywidgets
from IPython.display import display
out = ipywidgets.Output()
with out:
    print('inside')
"""


async def test_cells_widgets_displays_and_stop_over_a_slow_link(remote: Gateway) -> None:
    async with at(remote, DELAY) as place:
        kernel = place.kernel
        info = await kernel.info()
        assert (info.language, info.start, info.sandboxed) == ("python", 1, False)
        _, first = await run(kernel, "x = [1, 2]\nprint('größer ✓')")
        _, second = await run(kernel, "x[5]")
        _, third = await run(kernel, PLOT)
        assert (first.status, text(first), first.note) == ("ok", "größer ✓\n", "")
        assert (second.status, second.outputs[-1]["ename"]) == ("error", "IndexError")
        assert "image/png" in third.outputs[0]["data"]
        assert [done.execution_count for done in (first, second, third)] == [1, 2, 3]
        variables = await kernel.variables()
        assert variables is not None
        assert [entry["name"] for entry in variables][:1] == ["x"]
        _, done = await run(kernel, WIDGET)
        assert [output["text"] for output in done.captured] == ["inside\n"]
        _, done = await run(kernel, "shown = display('first', display_id=True)")
        events, _ = await run(kernel, "shown.update('then')")
        (update,) = [event for event in events if isinstance(event, DisplayUpdated)]
        assert update.data["text/plain"] == "'then'"
        async with kernel.hold() as slot:
            running = slot.execute("import time; time.sleep(60)", msg_id=slot.new_msg_id())
            await anext(running)
            assert await kernel.variables() is not None
            began = time.monotonic()
            await running.aclose()
            stopped = await slot.stopped()
        assert stopped is not None, "it did not stop in time"
        assert stopped.status == "interrupted"
        assert time.monotonic() - began < 1 + 2 * DELAY


LATE = """
import sys, time
sys.stdout.flush_timeout = sys.stderr.flush_timeout = 0
get_ipython().kernel.iopub_thread.schedule(lambda: time.sleep(2.5))
'late'
"""


async def test_a_busy_kernel_gets_nothing_and_what_it_says_is_heard(
    remote: Gateway, gate: Gate
) -> None:
    async with at(remote) as place:
        await run(place.kernel, "x = 1")
        link = place.kernel._link
        assert link is not None
        colleague = Colleague(remote, place.kernel_id)
        await colleague.arrive()
        theirs = execute_request(gate.source + "\nz = 3\nprint('theirs')", silent=False)
        asked = colleague.wire.expect("theirs")
        await colleague.wire.send("shell", "execute_request", theirs, msg_id="theirs")
        await until(lambda: any(m.msg_type == "execute_input" for m in colleague.messages))
        ours = asyncio.create_task(run(place.kernel, "print(z)"))
        await asyncio.sleep(0.3)
        gate.open()
        _, done = await ours
        assert asked.done()
        assert text(done) == "3\n"
        colleague.wire.close()
        # Output that a reply overtakes in the gateway, as that of a flood.
        _, done = await run(place.kernel, LATE)
        assert [output["data"]["text/plain"] for output in done.outputs] == ["'late'"]
        assert (done.status, done.note) == ("ok", "")


async def test_large_messages(remote: Gateway) -> None:
    """tornado's own limit is 10 MiB."""
    flood = "print('a' * 12_000_000 + 'end')"
    async with at(remote) as place:
        _, done = await run(place.kernel, flood)
        assert text(done).endswith("end\n")
        assert len(text(done)) < 300_000


# --- kernels that end ---------------------------------------------------------------------------


async def test_a_kernel_that_dies_or_is_restarted_is_said(remote: Gateway) -> None:
    """A restart by somebody else voids what was approved."""
    async with at(remote) as place:
        for start, code in ((2, "import os; os._exit(1)"), (3, "exit()")):
            await run(place.kernel, "x = 1")
            _, done = await run(place.kernel, code)
            assert done.status == "dead"
            assert "All its variables are gone." in done.note
            _, done = await run(place.kernel, "print('x' in globals())")
            assert text(done) == "False\n"
            assert (await place.kernel.info()).start == start
        async with place.kernel.hold() as slot:
            await place.kernels.restart_kernel(place.kernel_id)
            await asyncio.sleep(0.3)  # What the kernel said when it was idle holds for so long.
            with pytest.raises(KernelError) as raised:
                await anext(slot.execute("x", msg_id=slot.new_msg_id()))
        assert raised.value.code == "kernel_changed"


async def test_a_restart_in_the_middle_of_a_run(remote: Gateway) -> None:
    """It begins with an interrupt, which may be all that comes of it. A kernel that ends may also
    print what asyncio complains of."""
    async with at(remote) as place:
        async with place.kernel.hold() as slot:
            events = slot.execute("import time; time.sleep(60)", msg_id=slot.new_msg_id())
            await anext(events)
            await place.kernels.restart_kernel(place.kernel_id)
            rest = [event async for event in events]
        assert isinstance(rest[-1], ExecutionDone)
        errors = [output["ename"] for output in rest[-1].outputs if "ename" in output]
        assert rest[-1].status == "dead" or errors == ["KeyboardInterrupt"], rest[-1]
        await run(place.kernel, "1")
        assert (await place.kernel.info()).start == 2


async def test_a_kernel_that_the_gateway_has_shut_down(remote: Gateway) -> None:
    async with at(remote) as place:
        process = GatewayProcess(place.kernels, place.kernel_id)
        await process.check()
        assert await process.is_alive()
        await place.kernels.get_kernel(place.kernel_id).shutdown_kernel()
        await process.check()
        assert not await process.is_alive()
        assert process.gone == wire_module.SHUT_DOWN


async def test_a_gateway_that_cannot_be_reached_any_more(
    remote: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_module, "CUT_PATIENCE", 1.0)
    async with at(remote) as place, place.kernel.hold() as slot:
        events = slot.execute("import time; time.sleep(60)", msg_id=slot.new_msg_id())
        await anext(events)
        place.link.cut()
        rest = [event async for event in events]
        assert isinstance(rest[-1], ExecutionDone)
        assert rest[-1].status == "dead"
        assert rest[-1].note.startswith("The gateway cannot be reached (")


async def test_settings_that_allow_no_connection_end_it_in_words(
    remote: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at(remote) as place:
        monkeypatch.setattr(GatewayClient, "load_connection_args", _wrong_settings)
        ends: list[str] = []
        nothing: Any = lambda *_: None  # noqa: E731
        wire = GatewayWire(place.kernel_id, Session(), nothing, nothing, ends.append)
        with pytest.raises(KernelError):
            await wire.request("control", "kernel_info_request", {})
        assert ends == ["The connection to the gateway failed: no such header"]
        monkeypatch.undo()


async def test_a_gateway_that_is_too_old(remote: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "V1", "of.another.time")
    async with at(remote) as place:
        ends: list[str] = []
        nothing: Any = lambda *_: None  # noqa: E731
        wire = GatewayWire(place.kernel_id, Session(), nothing, nothing, ends.append)
        with pytest.raises(KernelError):
            await wire.request("control", "kernel_info_request", {})
        assert "Install a newer version of the gateway." in ends[0]


def _wrong_settings(self: GatewayClient) -> dict[str, Any]:
    raise ValueError("no such header")


# --- a link that is cut -------------------------------------------------------------------------


async def test_a_cut_in_the_middle_of_a_run_is_survived(remote: Gateway) -> None:
    """The gateway keeps what is published meanwhile. What was on its way is missing."""
    async with at(remote, DELAY) as place:
        await run(place.kernel, "x = 1")
        done = await cut_during(place, COUNT.format(40), "5")
        assert done.status == "ok"
        printed = text(done).split()
        assert printed[-1] == "39"
        missing = len(printed) < 40
        assert done.note == (run_module.CUT if missing else "")
        _, done = await run(place.kernel, "print(x)")
        assert text(done) == "1\n"
        # Of a run that ends during the cut, the gateway keeps the answer.
        done = await cut_during(place, COUNT.format(15), "5")
        assert (done.status, text(done).split()[-1]) == ("ok", "14")


async def test_what_was_lost_in_a_cut_is_said_to_be_lost(
    remote: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway keeps nothing for us while anybody else is connected."""
    monkeypatch.setattr(GatewayWire, "lag", 3.0)
    async with at(remote) as place:
        colleague = Colleague(remote, place.kernel_id)
        await colleague.arrive()
        await run(place.kernel, "x = 1")
        done = await cut_during(place, COUNT.format(50), "5")
        assert (done.status, done.note) == ("ok", run_module.CUT)
        assert text(done).split()[-1] == "49"
        place.link.reconnect()
        done = await cut_during(place, COUNT.format(15), "5")
        assert done.status == "error"
        assert run_module.UNHEARD in done.note
        _, done = await run(place.kernel, "print(i)")
        assert (done.status, text(done)) == ("ok", "14\n")
        colleague.wire.close()


async def test_nothing_is_sent_after_a_cut_before_the_kernel_is_idle(
    remote: Gateway, gate: Gate
) -> None:
    """The kernel was idle, then the link was cut, and somebody else has run a cell meanwhile."""
    async with at(remote) as place:
        colleague = Colleague(remote, place.kernel_id)
        await colleague.arrive()
        await run(place.kernel, "x = 1")
        async with place.kernel.hold() as slot:
            link = slot._link
            settle = link.settle
            they_run = asyncio.Event()

            async def settle_and_cut() -> None:
                await settle()
                link.settle = settle  # type: ignore[method-assign]
                place.link.cut()
                await until(lambda: link.cuts == 1)
                theirs = execute_request(gate.source, silent=False)
                await colleague.wire.send("shell", "execute_request", theirs, msg_id="theirs")
                await until(lambda: any(m.parent_id == "theirs" for m in colleague.messages))
                they_run.set()

            link.settle = settle_and_cut  # type: ignore[method-assign]
            ours = asyncio.ensure_future(_last(slot.execute("x", msg_id=slot.new_msg_id())))
            await asyncio.wait_for(they_run.wait(), 30)
            place.link.reconnect()
            await until(lambda: link.wire._opened.is_set())  # type: ignore[attr-defined]
            await asyncio.sleep(0.2)
            assert not slot.sent
            gate.open()
            done = await ours
        assert (done.status, done.note) == ("ok", "")
        colleague.wire.close()


async def _last(events: AsyncIterator[ExecutionEvent]) -> ExecutionDone:
    done = [event async for event in events][-1]
    assert isinstance(done, ExecutionDone)
    return done


# --- at night: long cuts, floods, and gateways that are killed ----------------------------------

HALF_A_MINUTE = 30.0
PRINTS = "import time\nfor i in range({}):\n    print(i, flush=True)\n    time.sleep(0.5)"


async def cut_off(place: Place, cut: Callable[[], None], code: str) -> ExecutionDone:
    """Run the code, and have no link from its first output on, for half a minute."""

    async def ran() -> ExecutionDone:
        is_cut = False
        async with place.kernel.hold() as slot:
            async for event in slot.execute(code, msg_id=slot.new_msg_id()):
                if getattr(event, "outputs", ()) and not is_cut:
                    is_cut = True
                    cut()
                    asyncio.get_running_loop().call_later(HALF_A_MINUTE, place.link.reconnect)
        assert isinstance(event, ExecutionDone)
        return event

    return await asyncio.wait_for(ran(), 150)


@pytest.mark.nightly
@pytest.mark.parametrize("count", [20, 80], ids=["ends-meanwhile", "ends-later"])
async def test_a_cut_of_half_a_minute_gives_all_outputs_or_says_that_some_are_lost(
    remote: Gateway, count: int
) -> None:
    async with at(remote, DELAY, JITTER) as place:
        await run(place.kernel, "x = 1")
        done = await cut_off(place, place.link.cut, PRINTS.format(count))
        printed = text(done).split()
        assert done.status == "ok", done
        assert printed[-1] == str(count - 1)
        assert printed == list(map(str, range(count))) or done.note == run_module.CUT
        _, done = await run(place.kernel, "print(x)")
        assert text(done) == "1\n"


@pytest.mark.nightly
async def test_a_link_that_is_silent_for_half_a_minute_loses_nothing(remote: Gateway) -> None:
    async with at(remote, DELAY, JITTER) as place:
        await run(place.kernel, "x = 1")
        done = await cut_off(place, place.link.hold, PRINTS.format(20))
        assert (done.status, done.note) == ("ok", "")
        assert text(done).split() == list(map(str, range(20)))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "code",
    ["for i in range(300_000): print(i)", "for i in range(40): print('a' * 1_000_000, i)"],
    ids=["lines", "megabytes"],
)
async def test_a_flood_over_a_slow_link(remote: Gateway, code: str) -> None:
    async with at(remote, DELAY, JITTER) as place:
        _, done = await run(place.kernel, code, timeout=120)
        assert done.status == "ok"
        assert text(done).endswith(("299999\n", " 39\n"))
        assert len(text(done)) < 300_000
        _, done = await run(place.kernel, "print('then')")
        assert (done.status, text(done)) == ("ok", "then\n")


@pytest.mark.nightly
async def test_a_gateway_that_is_killed_in_the_middle_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_module, "CUT_PATIENCE", 3)
    with gateway(tmp_path) as running:
        async with at(running, DELAY, JITTER) as place:
            done = await cut_off(place, running.process.kill, PRINTS.format(100))
            assert done.status == "dead"
            assert "The gateway cannot be reached" in done.note
            assert "The kernel may still be running." in done.note
            assert text(done).startswith("0\n")


# --- frames, and what is refused ----------------------------------------------------------------


def test_frames_are_those_of_jupyter_server() -> None:
    session = Session()
    message = session.msg("stream", {"name": "stdout", "text": "ä\n"})
    packed = frames.packed(message, "shell", session.pack)
    assert packed == serialize_msg_to_ws_v1(message, "shell", session.pack)
    channel, parts = deserialize_msg_from_ws_v1(packed)
    assert (channel, len(parts)) == ("shell", 4)
    found, read = frames.unpacked(frames.packed(message, "iopub", session.pack))
    assert found == "iopub"
    assert read.content == {"name": "stdout", "text": "ä\n"}
    assert read.msg_id == message["msg_id"]


@pytest.mark.parametrize("frame", [b"", b"12345678", (2**63).to_bytes(8, "little") * 3])
def test_a_frame_that_is_no_message(frame: bytes) -> None:
    with pytest.raises(ValueError):
        frames.unpacked(frame)


async def test_a_fresh_kernel_is_refused_in_words() -> None:
    fresh = FreshKernel(GatewayMappingKernelManager(), "python3", {})
    with pytest.raises(KernelError, match="not available where kernels run on a gateway"):
        await fresh.start(None)
    await fresh.close()
