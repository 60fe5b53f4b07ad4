"""Jupyter servers as processes: each on a free loopback port, in folders of its own. They always
end."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

DEADLINE = 60.0
"""Seconds that a server may take to start."""
PATIENCE = 10.0
"""Seconds that a server may take to end."""
POLL = 0.01
"""Seconds between two attempts to reach a server that starts."""


@dataclass
class Server:
    url: str
    token: str
    folder: Path
    """Has the subfolder ``notebooks``, and Jupyter's ``config``, ``data`` and ``runtime``."""
    pid: int = 0
    wall: float = 0.0
    """Seconds from its start to its first answer."""
    cpu: float = 0.0
    """Seconds of processor time until then."""

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"token {self.token}"}

    def command(self, module: str, *options: str) -> list[str]:
        return [
            *(sys.executable, "-m", module, "--allow-root", "--no-browser", *options),
            f"--ServerApp.root_dir={self.folder / 'notebooks'}",
            f"--ServerApp.port={self.url.rpartition(':')[2]}",
            *("--ServerApp.ip=127.0.0.1", "--ServerApp.port_retries=0"),
        ]

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment, with folders of the server's own."""
        own = {kind: str(self.folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
        return {
            **os.environ,
            **{f"JUPYTER_{kind}_DIR": folder for kind, folder in own.items()},
            "JUPYTER_TOKEN": self.token,
            "IPYTHONDIR": str(self.folder / "ipython"),
        }


@contextmanager
def jupyter_server(
    *options: str,
    module: str = "jupyter_server",
    extensions: Mapping[str, bool] | None = None,
    environment: Mapping[str, str] | None = None,
    at_home: bool = False,
) -> Iterator[Server]:
    """``extensions``: which to switch on or off; others stay as in the environment. ``at_home``:
    its folder is also the home folder."""
    with tempfile.TemporaryDirectory(
        prefix="codeinterp-bench-", ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        notebooks = folder / "notebooks"
        notebooks.mkdir()
        (folder / "config").mkdir()
        config = {"ServerApp": {"jpserver_extensions": dict(extensions or {})}}
        (folder / "config" / "jupyter_server_config.json").write_text(json.dumps(config))
        server = Server(f"http://127.0.0.1:{free_port()}", secrets.token_hex(16), folder)
        variables = {**server.environment, **({"HOME": name} if at_home else {})}
        started = time.monotonic()
        process = subprocess.Popen(
            server.command(module, *options),
            env={**variables, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        log: list[str] = []
        reader = threading.Thread(target=lambda: log.extend(process.stderr or ()), daemon=True)
        reader.start()
        try:
            server.pid = process.pid
            wait_until_it_answers(server, process)
            server.wall = time.monotonic() - started
            used = psutil.Process(process.pid).cpu_times()
            server.cpu = used.user + used.system
            yield server
        except Exception:
            print("".join(log[-40:]), file=sys.stderr)
            raise
        finally:
            _end(process)
            reader.join()
            if process.stderr is not None:
                process.stderr.close()


def free_port() -> int:
    with socket.socket() as candidate:
        candidate.bind(("127.0.0.1", 0))
        return int(candidate.getsockname()[1])


def wait_until_it_answers(server: Server, process: subprocess.Popen[Any]) -> None:
    deadline = time.monotonic() + DEADLINE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{server.url}/api", timeout=DEADLINE).close()
        except OSError:  # a URLError, or a connection that ends early
            time.sleep(POLL)
        else:
            return
    raise RuntimeError("the server did not start")


def _end(process: subprocess.Popen[Any]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        # Its kernels notice, and end by themselves.
        process.kill()
        process.wait()
