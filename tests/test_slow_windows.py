"""Windows that have stopped reading: what that costs the server, the kernel and the others,
and what they show when they read again. With a server in a process of its own."""

from __future__ import annotations

import asyncio
import socket as sockets
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from tornado.websocket import WebSocketClientConnection

from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.server.socket import handler, send_queue
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import Output
from scripts.benchmark.servers import Server, jupyter_server
from scripts.benchmark.workplace import open_socket, start_kernel
from tests.busy import SOON
from tests.fake_anthropic import (
    FakeAnthropic,
    Script,
    answer,
    by_words,
    echo,
    in_order,
    run_cell,
    text,
)
from tests.fake_anthropic import scenario as steps
from tests.kept_outputs import kept_outputs
from tests.reference_window import ReferenceWindow, notebook
from tests.site import Site

KEY = "sk-ant-slow-" + "aZ3kPq9" * 13
BURSTS = """\
import pathlib, sys, time

for burst in range(100):
    sys.stdout.write(f"{burst} " + "x" * 2_000_000 + "\\n")
    sys.stdout.flush()
    time.sleep(0.02)
print("the end")
pathlib.Path(f"ended-{time.time_ns()}").touch()"""
"""200 MB."""
LONG = ("0123456789" * 10 + "\n") * 99_000
"""10 MB of text, which is a little less than a message to a client may have."""
TOKENS = len(LONG) // 60
"""What an answer must be allowed so that it may have that much."""
LIMIT = 150.0
FOLLOWERS = 3
"""Windows that follow the long answer, besides the one that the cell runs in."""


def script() -> Script:
    return by_words(
        {
            "flood": steps(answer(run_cell(BURSTS)), answer(text("Printed."))),
            "long": steps(answer(text(LONG)).at(chunk=20_000)),
        },
        otherwise=echo,
    )


class Memory:
    """A process's, in MB."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")

    def forget_peak(self) -> None:
        (self._folder / "clear_refs").write_text("5")

    @property
    def peak(self) -> float:
        lines = (self._folder / "status").read_text().splitlines()
        (line,) = (line for line in lines if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1000


@dataclass
class Round:
    rise: float
    """MB that the server had at the most, beyond what it had at the beginning: conversations
    stay in memory for a while."""
    elapsed: float
    """Seconds that the cell took, as the server saw it."""
    slowest: float
    """Seconds for a question and an answer in another window."""


class Follower:
    """A window that keeps nothing of what it reads but whether all of it came."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.socket = socket
        self.reading = asyncio.Event()
        self.heard_all = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        """Until the long answer is there, whole."""
        while True:
            message = await self.socket.read_message()
            assert isinstance(message, str), "the socket was closed"
            for line in message.split("\n"):
                if '"text_done"' in line and len(line) > len(LONG):
                    assert msgspec.json.decode(line)["event"]["text"] == LONG
                    return
            await self.reading.wait()


class Place:
    """A server and its windows, which take little from the network ahead of being read."""

    def __init__(self, server: Server, stack: AsyncExitStack) -> None:
        self.server = server
        self.memory = Memory(server.pid)
        self._stack = stack

    async def socket(self) -> WebSocketClientConnection:
        socket = await open_socket(self.server)
        assert socket.protocol is not None
        stream = socket.protocol.stream
        assert stream is not None
        stream.socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 300_000)
        return socket

    async def window(self, path: str, kernel_id: str = "") -> ReferenceWindow:
        window = ReferenceWindow(await self.socket(), path, notebook("x = 20"))
        self._stack.push_async_callback(window.close)
        await window.open(kernel_id)
        return window

    async def follower(self, session_id: str) -> Follower:
        follower = Follower(await self.socket())
        self._stack.callback(follower.socket.close)
        command = msgspec.json.encode(c.Subscribe(session_id)).decode()
        await follower.socket.write_message(command)
        return follower

    def journaled(self, session_id: str, cell_id: str) -> tuple[Output, ...] | None:
        """The outputs of a cell's last run, as the server had them."""
        store = SqliteStore(self.server.folder / "data" / "codeinterp" / "sessions.db")
        with closing(store):
            return kept_outputs(store, session_id, cell_id)

    def ended(self) -> int:
        """How many floods have come to their end."""
        return len(list((self.server.folder / "notebooks").glob("ended-*")))


@asynccontextmanager
async def workplace() -> AsyncIterator[Place]:
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(FakeAnthropic(script(), check=False))
        environment = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY}
        allowed = f"--CodeInterp.max_tokens={TOKENS}"
        server = stack.enter_context(jupyter_server(allowed, environment=environment))
        yield Place(server, await stack.enter_async_context(AsyncExitStack()))


async def flood(place: Place, kernel_id: str, *, stuck: bool) -> Round:
    """A cell prints 200 MB while a model streams 10 MB and a third window asks and is
    answered. The window that the cell is in, and more, read nothing meanwhile if ``stuck``."""
    holder = await place.window("flood.ipynb", kernel_id)
    talker, third = await place.window("long.ipynb"), await place.window("third.ipynb")
    ended = place.ended()
    await talker.ask("Hello")
    await talker.ended()
    followers = [await place.follower(talker.session_id) for _ in range(FOLLOWERS)]
    await holder.send(c.Subscribe(talker.session_id))
    await holder.event(e.TurnEnded)
    place.memory.forget_peak()
    level = place.memory.peak
    await holder.ask("#flood", mode="auto")
    await holder.event(e.RunStarted)
    if stuck:
        holder.pause()
    else:
        for follower in followers:
            follower.reading.set()
    await talker.ask("#long")
    asked, slowest = 0, 0.0
    while place.ended() == ended or len(talker.of(e.TurnEnded)) < 2:
        began = time.monotonic()
        await third.ask(f"Are you there? {asked}")
        asked += 1
        await third.ended(asked)
        slowest = max(slowest, time.monotonic() - began)
    rise = place.memory.peak - level

    holder.resume()
    for follower in followers:
        follower.reading.set()
        await follower.heard_all
    await holder.until(lambda: len(holder.of(e.TurnEnded)) == 3)
    assert LONG in [done.text for done in holder.of(e.TextDone)]
    (ran,) = holder.of(e.ToolDone)
    assert ran.status == "ok"
    cell = holder.cells[-1]
    assert cell["outputs"][0]["text"].startswith("0 xxx")
    assert tuple(cell["outputs"]) == place.journaled(holder.session_id, cell["id"])
    for window in (holder, talker, third):
        await window.close()
    return Round(rise, ran.elapsed, slowest)


@pytest.mark.timeout(LIMIT + 30)
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads Linux's /proc")
def test_windows_that_read_nothing_cost_neither_kernel_nor_memory() -> None:
    async def run() -> None:
        async with workplace() as place:
            kernel_id = await start_kernel(place.server, "flood.ipynb")
            # The first one takes memory that the later ones use again.
            await flood(place, kernel_id, stuck=False)
            plain = await flood(place, kernel_id, stuck=False)
            stuck = await flood(place, kernel_id, stuck=True)
        assert stuck.rise < plain.rise + 50
        # Who waited for such a window would wait a minute.
        assert stuck.elapsed < 2 * plain.elapsed + SOON
        assert stuck.slowest < 2 * plain.slowest + SOON

    asyncio.run(asyncio.wait_for(run(), LIMIT))


async def test_a_window_that_is_given_up_comes_back(
    site: Site, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.play(in_order([answer(run_cell("21 * 2")), answer(text("It is 42."))]))
    kernel_id = await site.kernel()
    w = await site.window(kernel_id=kernel_id)
    await w.ask("Go")
    draft = await w.draft()
    monkeypatch.setattr(send_queue, "TIMEOUT", 0.2)
    monkeypatch.setattr(send_queue, "POLL", 0.02)
    (client,) = site.extension.manager.connected
    w.pause()
    # More than the buffers of both ends take.
    for _ in range(400):
        client.send(c.Reply(1, {"long": "x" * 50_000}))
    await site.until(lambda: not site.extension.manager.connected)
    w.resume()
    await asyncio.wait_for(w.closed.wait(), 30)
    assert w.socket.close_code == handler.TRY_AGAIN
    monkeypatch.setattr(send_queue, "TIMEOUT", 60.0)

    again = await site.window(book=w.notebook, kernel_id=kernel_id)
    again.session_id = w.session_id
    await again.send(c.Subscribe(w.session_id))
    assert await again.draft() == draft
    assert (await again.decide(draft)).error is None
    assert (await again.ended()).stop_reason == "end_turn"
    assert "42" in str(again.cells[-1]["outputs"])
