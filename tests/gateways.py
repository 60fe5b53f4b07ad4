"""Real gateways in processes of their own, and a link to them that is slow and can be cut."""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from jupyter_client.session import Session
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.gateway.managers import GatewayKernelSpecManager, GatewayMappingKernelManager

from jupyter_codeinterp.kernel.gateway import GatewayProcess
from jupyter_codeinterp.kernel.gateway.wire import GatewayWire
from jupyter_codeinterp.kernel.wire import KernelMessage
from jupyter_codeinterp.kernel.zmq import KernelPool
from tests.kernel_ports import LowPorts

ENTERPRISE = os.environ.get("CODEINTERP_TEST_ENTERPRISE_GATEWAY", "")
"""The environment of an Enterprise Gateway (``scripts/engines gateway``); "" for none."""
LIMITS = ("iopub_data_rate_limit", "iopub_msg_rate_limit")


class Gateway:
    def __init__(self, process: subprocess.Popen[bytes], port: int, token: str) -> None:
        self.process = process
        self.port = port
        self.token = token


@contextmanager
def gateway(
    folder: Path, enterprise: bool = False, cwd: Path | None = None, token: str = ""
) -> Iterator[Gateway]:
    """A gateway that answers: a Kernel Gateway, or an ``enterprise`` one. ``folder`` gets its log,
    and the connection files of its kernels, which work in ``cwd``. It limits no rates: what a
    gateway drops is not what we test. A ``token`` that is not "" is asked of everyone."""
    port = LowPorts().find_available_port("127.0.0.1")
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "JUPYTER_RUNTIME_DIR": str(folder)}
    environment["KG_AUTH_TOKEN"] = token  # An Enterprise Gateway reads this name, too.
    if enterprise:
        # Its environment pins an old ipykernel; the kernels are ours.
        environment |= {"EG_LIST_KERNELS": "True", "JUPYTER_PATH": str(_with_our_kernel(folder))}
        environment.pop("PYTHONPATH", None)
        program = [str(Path(ENTERPRISE) / "bin" / "jupyter-enterprisegateway")]
        program += ["--EnterpriseGatewayApp.unauthorized_users="]
        program += [f"--ServerApp.{limit}=0" for limit in LIMITS]
    else:
        environment["KG_LIST_KERNELS"] = "True"
        program = [sys.executable, "-m", "kernel_gateway"]
        program += [f"--ZMQChannelsWebsocketConnection.{limit}=0" for limit in LIMITS]
    command, cwd = [*program, f"--port={port}"], cwd or folder
    with (folder / "gateway.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=cwd, env=environment)
    try:
        _wait_until_it_answers(port, process)
        yield Gateway(process, port, token)
    finally:
        process.terminate()
        process.wait(30)


def _with_our_kernel(folder: Path) -> Path:
    spec = folder / "data" / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    told = {"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"}
    spec.write_text(json.dumps(told))
    return folder / "data"


def _wait_until_it_answers(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "the gateway did not start"
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise AssertionError("the gateway does not answer")


class Link:
    """Passes connections on to a port, each piece ``delay`` seconds later, and up to ``jitter``
    seconds more."""

    def __init__(self, to: int, delay: float, jitter: float = 0.0) -> None:
        self.delay = delay
        self.jitter = jitter
        self._flows = asyncio.Event()
        self._flows.set()
        self.port = 0
        self._to = to
        self._is_cut = False
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._ends: set[asyncio.StreamWriter] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """Close all connections, and each new one, until ``reconnect``. Loses what is in flight."""
        self._is_cut = True
        for end in list(self._ends):
            end.transport.abort()

    def reconnect(self) -> None:
        self._is_cut = False
        self._flows.set()

    def hold(self) -> None:
        """Pass nothing on until ``reconnect``, as a cable that is pulled out: no connection
        closes, and nothing is lost."""
        self._flows.clear()

    async def close(self) -> None:
        self.cut()
        assert self._server is not None
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._flows.wait()
        if self._is_cut:
            writer.transport.abort()
            return
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:  # The gateway has been killed.
            writer.transport.abort()
            return
        for source, sink in ((reader, there_writer), (there_reader, writer)):
            self._ends.add(sink)
            task = asyncio.create_task(self._pass(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        now = asyncio.get_running_loop().time
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(1_000)
        giving = asyncio.create_task(self._give(pieces, sink))
        try:
            with suppress(OSError):
                while piece := await source.read(65_536):
                    late = self.delay + random.uniform(0, self.jitter)
                    await pieces.put((now() + late, piece))
            await pieces.put((now() + self.delay, b""))
            await giving
        finally:
            giving.cancel()
            self._ends.discard(sink)
            sink.close()

    async def _give(
        self, pieces: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while True:
                due, piece = await pieces.get()
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
                await self._flows.wait()
                if not piece:
                    return
                sink.write(piece)
                await sink.drain()


@asynccontextmanager
async def link_to(gateway: Gateway, delay: float = 0.0, jitter: float = 0.0) -> AsyncIterator[Link]:
    """The server of this process has its kernels over this link."""
    link = Link(gateway.port, delay, jitter)
    await link.open()
    GatewayClient.clear_instance()
    GatewayClient.instance().url = f"http://127.0.0.1:{link.port}"
    GatewayClient.instance().ws_url = f"ws://127.0.0.1:{link.port}"
    GatewayClient.instance().auth_token = gateway.token
    try:
        yield link
    finally:
        await link.close()
        GatewayClient.clear_instance()


@asynccontextmanager
async def kernels_over(link: Link) -> AsyncIterator[tuple[KernelPool, Any]]:
    """A pool, and the server's manager of kernels that it has them from."""
    specs = GatewayKernelSpecManager()
    kernels: Any = GatewayMappingKernelManager(kernel_spec_manager=specs)
    pool = KernelPool(kernels, GatewayProcess)
    try:
        yield pool, kernels
    finally:
        pool.close()
        link.reconnect()
        with suppress(Exception):  # The gateway may have been killed.
            await kernels.shutdown_all(now=True)
        type(kernels)._kernels.clear()


class Colleague:
    """Somebody else at the same kernel, whose connection is never cut."""

    def __init__(self, gateway: Gateway, kernel_id: str) -> None:
        client = GatewayClient.instance()
        self._ours = client.ws_url
        # The address is read as a connection is made.
        client.ws_url = f"ws://127.0.0.1:{gateway.port}"
        self.messages: list[KernelMessage] = []
        self.wire = GatewayWire(kernel_id, Session(), self.messages.append, _nothing, _nothing)

    async def arrive(self) -> None:
        await self.wire.request("control", "kernel_info_request", {})
        GatewayClient.instance().ws_url = self._ours


def _nothing(*_: Any) -> None:
    pass
