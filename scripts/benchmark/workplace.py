"""All that a turn needs, with real parts: a server, a kernel, a window on its socket, and the
fake model in this process."""

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
    """How long the kernel itself was busy with a request: from its ``busy`` to its ``idle``,
    as the kernel has dated them. So the way there and back counts as the server's.

    While the measured thing runs, messages are only kept; they are read when asked for."""

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
        """One turn in Auto mode, to its end."""
        turns = len(self.window.of(TurnEnded))
        reply = await self.window.ask(words, mode="auto")
        if reply.error is not None:
            raise RuntimeError(f"the message was refused: {reply.message}")
        ended = await self.window.ended(turns + 1)
        if ended.stop_reason != "end_turn":
            raise RuntimeError(f"the turn ended by {ended.stop_reason}: {ended.message}")
        # As the front end, which saves after each run: what is saved need not be kept.
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
    """``connections``: where another program that runs the kernels keeps their files."""
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
    """As a notebook at ``path`` has one when it is open."""
    wanted = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
    session = await _post(server, "api/sessions", wanted)
    return str(json.loads(session.body)["kernel"]["id"])


async def open_socket(server: Server) -> WebSocketClientConnection:
    """As a window has it."""
    login = await log_in(server.url, server.token)
    return await login.connect((await login.ask()).ticket)


async def show_panel(server: Server) -> None:
    """A window shows its panel, which asks for the models. Only then
    does a person write, so what is imported meanwhile is not in the first turn."""
    url = f"{server.url}/codeinterp/api/models"
    await AsyncHTTPClient().fetch(HTTPRequest(url, headers=server.headers, request_timeout=60))


async def _post(server: Server, route: str, body: dict[str, Any]) -> HTTPResponse:
    url = f"{server.url}/{route}"
    data = json.dumps(body)
    return await AsyncHTTPClient().fetch(
        HTTPRequest(url, "POST", server.headers, data, request_timeout=60)
    )
