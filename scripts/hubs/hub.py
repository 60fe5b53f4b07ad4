"""The hub of deploy/hub as a process, on free ports and in a folder of its own."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import psutil

from scripts.benchmark.servers import free_port

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "deploy" / "hub" / "jupyterhub_config.py"
ENVIRONMENT = ROOT / ".packages" / "hub"
PROXY = ENVIRONMENT / "node_modules" / ".bin"
SANDBOXED = "python3-sandboxed"
START = 120.0
"""Seconds that the hub has to start."""
PATIENCE = 60.0
"""Seconds that it has to end all servers."""


class Hub:
    def __init__(self, folder: Path, password: str, process: int) -> None:
        self.folder = folder
        self.password = password
        self.process = psutil.Process(process)
        self.url = ""

    @property
    def log(self) -> str:
        return (self.folder / "hub.log").read_text(errors="replace")

    def home(self, name: str) -> Path:
        return self.folder / "homes" / name

    def server_of(self, name: str) -> psutil.Process:
        """The process of a person's server. Its kernels are its children."""
        for process in self.process.children(recursive=True):
            if process.environ().get("JUPYTERHUB_USER") == name and _is_server(process):
                return process
        raise RuntimeError(f"{name} has no server")

    @property
    def kernel(self) -> str:
        """The kernel of new notebooks: the sandboxed one, where it is installed."""
        spec = ENVIRONMENT / "share" / "jupyter" / "kernels" / SANDBOXED
        return SANDBOXED if spec.exists() else "python3"


def key_of(name: str) -> str:
    return f"sk-gateway-{name}-0123456789"


@asynccontextmanager
async def hub(folder: Path, people: Sequence[str], models: str) -> AsyncIterator[Hub]:
    """``models``: the gateway's address."""
    keys = await asyncio.to_thread(_write_keys, folder, people)
    password = secrets.token_urlsafe(12)
    port = free_port()
    given = {
        "HUB_FOLDER": str(folder),
        "HUB_KEYS": str(keys),
        "HUB_PEOPLE": ",".join(people),
        "HUB_PASSWORD": password,
        "HUB_PORT": str(port),
        "HUB_INNER_PORT": str(free_port()),
        "HUB_PROXY_PORT": str(free_port()),
        "HUB_MODELS": models,
    }
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")}
    environment = {**kept, "HOME": str(folder), **given}
    environment["PATH"] = f"{ENVIRONMENT / 'bin'}:{PROXY}:{environment['PATH']}"
    process = await asyncio.to_thread(_start, folder, environment)
    running = Hub(folder, password, process.pid)
    running.url = f"http://127.0.0.1:{port}"
    try:
        await _answers(running, process)
        yield running
    except BaseException:
        print(running.log[-3000:])
        raise
    finally:
        await asyncio.to_thread(_end, process)


async def _answers(running: Hub, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START
    async with httpx.AsyncClient(timeout=START) as client:
        while process.poll() is None and time.monotonic() < deadline:
            try:
                if (await client.get(f"{running.url}/hub/health")).status_code == 200:
                    return
            except httpx.TransportError:
                pass  # Its proxy does not listen yet.
            await asyncio.sleep(0.2)
    raise RuntimeError("the hub did not start")


def _write_keys(folder: Path, people: Sequence[str]) -> Path:
    folder.mkdir(mode=0o711, exist_ok=True)
    keys = folder / "keys.json"
    keys.touch(mode=0o600)
    keys.write_text(json.dumps({name: key_of(name) for name in people}))
    return keys


def _start(folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with (folder / "hub.log").open("wb") as log:
        return subprocess.Popen(
            [str(ENVIRONMENT / "bin" / "jupyterhub"), "-f", str(CONFIG)],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _is_server(process: psutil.Process) -> bool:
    return "jupyterhub.singleuser" in process.cmdline()


def _end(process: subprocess.Popen[bytes]) -> None:
    """The hub ends its servers and the proxy. This ends the processes that remain."""
    if process.poll() is None:
        others = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _, left = psutil.wait_procs(others, timeout=PATIENCE / 6)
        for other in left:
            other.kill()
