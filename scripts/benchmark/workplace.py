"""The parts of a turn: a real server, kernel and window with its socket, and the fake model in this
process."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.websocket import WebSocketClientConnection

from jupyter_codeinterp.wire.commands import FileState
from jupyter_codeinterp.wire.events import RunStarted, TurnEnded
from tests.fake_anthropic import FakeAnthropic, Script, Speed
from tests.login import log_in
from tests.reference_window import ReferenceWindow, notebook

from .servers import Server, jupyter_server

NOTEBOOK = "bench.ipynb"
KEY = "sk-ant-bench-0123456789"
FULL_SPEED = Speed()


class KernelClock:
    """Measures how long the kernel was busy with a request: from ``busy`` to ``idle``, by the
    kernel's own times. So the messages' time counts as the server's. During a measurement, messages
    are only kept, and read afterwards."""

    def __init__(self, connection_file: Path) -> None:
        self._client = AsyncKernelClient()
        self._client.load_connection_file(str(connection_file))
        self._client.start_channels(shell=False, stdin=False, hb=False, control=False)
        self._unread: list[list[bytes]] = []
        self._dates: dict[str, dict[str, datetime]] = defaultdict(dict)
        self._listener = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        while True:
            self._unread.append(await self._client.iopub_channel.socket.recv_multipart())

    def seconds(self, msg_id: str) -> float:
        self._read()
        dates = self._dates[msg_id]
        return float((dates["idle"] - dates["busy"]).total_seconds())

    def _read(self) -> None:
        session = self._client.session
        for frames in self._unread:
            message = session.deserialize(session.feed_identities(frames)[1])
            if message["msg_type"] == "status":
                state = message["content"]["execution_state"]
                request = message["parent_header"].get("msg_id", "")
                self._dates[request][state] = message["header"]["date"]
        self._unread.clear()

    def close(self) -> None:
        self._listener.cancel()
        self._client.stop_channels()


@dataclass
class Workplace:
    server: Server
    model: FakeAnthropic
    window: ReferenceWindow
    kernel: KernelClock

    async def turn(self, words: str) -> TurnEnded:
        """Run one turn in Auto mode to its end."""
        turns = len(self.window.of(TurnEnded))
        reply = await self.window.ask(words, mode="auto")
        if reply.error is not None:
            raise RuntimeError(f"the message was refused: {reply.message}")
        ended = await self.window.ended(turns + 1)
        if ended.stop_reason != "end_turn":
            raise RuntimeError(f"the turn ended by {ended.stop_reason}: {ended.message}")
        # As the front end, which saves after each run: the server then drops the saved ops.
        saved = dict(self.window.applied)
        await self.window.post(FileState(NOTEBOOK, saved, version="", edited=False))
        return ended

    def kernel_times(self) -> list[float]:
        """Seconds that the kernel took for each cell so far, in order."""
        return [self.kernel.seconds(run.msg_id) for run in self.window.of(RunStarted)]


@asynccontextmanager
async def workplace(
    script: Script,
    *options: str,
    speed: Speed = FULL_SPEED,
    connections: Path | None = None,
) -> AsyncIterator[Workplace]:
    """``connections``: the folder of connection files, if another program runs the kernels."""
    async with FakeAnthropic(script, speed=speed, check=False) as model:
        environment = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY}
        with jupyter_server(*options, environment=environment) as server:
            book = notebook("x = 20")
            (server.folder / "notebooks" / NOTEBOOK).write_text(json.dumps(book))
            kernel_id = await start_kernel(server, NOTEBOOK)
            runtime = connections or server.folder / "runtime"
            connection = runtime / f"kernel-{kernel_id}.json"
            window = ReferenceWindow(await open_socket(server), NOTEBOOK, book)
            kernel = KernelClock(connection)
            try:
                await window.open(kernel_id)
                yield Workplace(server, model, window, kernel)
            finally:
                kernel.close()
                await window.close()


async def start_kernel(server: Server, path: str) -> str:
    """Start a kernel as for an open notebook at ``path``."""
    wanted = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
    session = await _post(server, "api/sessions", wanted)
    return str(json.loads(session.body)["kernel"]["id"])


async def open_socket(server: Server) -> WebSocketClientConnection:
    """Open a socket as a window does."""
    login = await log_in(server.url, server.token)
    return await login.connect((await login.ask()).ticket)


async def show_panel(server: Server) -> None:
    """Request the models, as a window's panel does before a person writes: so the first turn does
    not include these imports."""
    url = f"{server.url}/codeinterp/api/models"
    await AsyncHTTPClient().fetch(HTTPRequest(url, headers=server.headers, request_timeout=60))


async def _post(server: Server, route: str, body: dict[str, Any]) -> HTTPResponse:
    url = f"{server.url}/{route}"
    data = json.dumps(body)
    return await AsyncHTTPClient().fetch(
        HTTPRequest(url, "POST", server.headers, data, request_timeout=60)
    )
