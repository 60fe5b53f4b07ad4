"""A Jupyter server as a process that can be killed and restarted, with the same port, data,
notebooks and token."""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection

from scripts.benchmark.servers import PATIENCE, Server, free_port, wait_until_it_answers
from tests.login import log_in

STEPS = 60
"""Maximum steps of a turn: repairs after a fault need many."""
REQUEST_TIME = 60.0
"""Seconds that a request may take on a busy machine."""


class Site:
    def __init__(self, folder: Path, model_url: str, grace: float) -> None:
        """Nothing runs before ``start``. ``folder`` is this server's own. ``grace``: seconds that
        it waits for a window before it works in the file."""
        self.grace = grace
        self.folder = folder
        self.notebooks = folder / "notebooks"
        self.notebooks.mkdir(parents=True, exist_ok=True)
        (folder / "config").mkdir()
        url = f"http://127.0.0.1:{free_port()}"
        self._server = Server(url, secrets.token_hex(16), folder)
        settings = {"window_grace": grace, "max_steps": STEPS}
        self._options = [f"--CodeInterp.{name}={value}" for name, value in settings.items()]
        self._environment = {
            **self._server.environment,
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": "sk-ant-faults-0123456789",
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._kernels: dict[int, psutil.Process] = {}
        """All kernel processes so far, by process id."""

    # --- the process -----------------------------------------------------------------

    async def start(self) -> None:
        await asyncio.to_thread(self._start)

    def _start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._server.command("jupyter_server", *self._options),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until_it_answers(self._server, self._process)

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def kill(self) -> None:
        """Kill this one process at once, like a power failure."""
        assert self._process is not None
        self._process.kill()

    async def gone(self) -> None:
        """Wait until the process is gone. Its kernels may live on for a moment."""
        assert self._process is not None
        await asyncio.to_thread(self._process.wait)

    async def stop(self) -> None:
        """Stop as Ctrl-C does. In any case, end all its processes."""
        if self._process is None:
            return
        self._note_kernels()
        self._process.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(self._process.wait, PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
        await self.gone()
        await asyncio.to_thread(self._end_kernels)

    def _note_kernels(self) -> None:
        assert self._process is not None
        try:
            children = psutil.Process(self._process.pid).children()
        except psutil.NoSuchProcess:
            return
        self._kernels |= {child.pid: child for child in children}

    def _end_kernels(self) -> None:
        """Wait for the kernels, which notice a killed server and end by themselves; then kill the
        rest."""
        deadline = time.monotonic() + PATIENCE
        while (left := [k for k in self._kernels.values() if _lives(k)]) and (
            time.monotonic() < deadline
        ):
            time.sleep(0.05)
        for kernel in left:
            kernel.kill()
        self._kernels.clear()

    # --- kernels ---------------------------------------------------------------------

    async def start_kernel(self, path: str) -> str:
        """Return the notebook's kernel; start one if it has none."""
        wanted = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        session = await self.fetch("POST", "api/sessions", wanted)
        self._note_kernels()
        return str(session["kernel"]["id"])

    def connection_file(self, kernel_id: str) -> Path:
        return self.folder / "runtime" / f"kernel-{kernel_id}.json"

    def kill_kernel(self, kernel_id: str) -> None:
        """Kill the kernel's process; the server starts another one under the same id."""
        name = self.connection_file(kernel_id).name
        self._note_kernels()
        for kernel in self._kernels.values():
            if _lives(kernel) and any(name in word for word in kernel.cmdline()):
                kernel.kill()

    # --- HTTP and sockets ------------------------------------------------------------

    async def fetch(self, method: str, route: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body)
        if method in ("POST", "PUT"):
            data = data or ""
        response = await AsyncHTTPClient().fetch(
            HTTPRequest(
                f"{self._server.url}/{route}",
                method,
                self._server.headers,
                data,
                request_timeout=REQUEST_TIME,
            )
        )
        return json.loads(response.body) if response.body else None

    async def connect(self) -> WebSocketClientConnection:
        """Open a socket as a page does."""
        login = await log_in(self._server.url, self._server.token)
        return await login.connect((await login.ask()).ticket)

    @property
    def journal(self) -> Path:
        return self.folder / "data" / "codeinterp" / "sessions.db"


def _lives(process: psutil.Process) -> bool:
    """Whether the process runs. A zombie does not; its parent may not have reaped it."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
