"""Uses the kernel that a running server has for a notebook, through its connection file.

The server still owns the kernel: it interrupts it and reports whether it is alive. A kernel with
a connection is refused: a page has the notebook open and may have unsaved changes.
"""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_runtime_dir
from jupyter_server.services.kernels.kernelmanager import ServerKernelManager

from .problems import USAGE, Problem

TIMEOUT = 5.0
"""Seconds that a server has to answer."""


@dataclass(frozen=True)
class RunningServer:
    """``url`` ends with a slash."""

    url: str
    token: str
    root: Path

    def ask(self, path: str, *, post: bool = False) -> Any:
        """The server's JSON answer; None if empty. Raises OSError and ValueError."""
        request = urllib.request.Request(
            f"{self.url}api/{path}",
            data=b"" if post else None,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            body = answer.read()
        return json.loads(body) if body else None


@dataclass(frozen=True)
class Existing:
    """A server's kernel and its connection info."""

    server: RunningServer
    kernel_id: str
    name: str
    state: str
    connection: dict[str, Any]


def find(notebook: Path) -> Existing:
    """Raises Problem: no server has a kernel for the notebook, a page has it open, or the kernel
    runs on another machine."""
    silent = []
    for server in _servers(notebook):
        try:
            listed = server.ask("sessions")
        except (OSError, ValueError) as error:
            silent.append(f"{server.url} does not respond ({_reason(error)}).")
            continue
        for session in listed:
            kernel = session.get("kernel")
            if kernel and (server.root / session["path"]).resolve() == notebook.resolve():
                return _usable(notebook, server, kernel)
    words = f"No running Jupyter server of yours has a kernel for {notebook}."
    raise Problem(" ".join([words, *silent, "To start one, leave out --existing."]), USAGE)


def open_in_page(notebook: Path) -> str:
    """The address of a running server with a page that has the notebook open; "" for none.
    Skips servers that do not answer."""
    for server in _servers(notebook):
        with suppress(OSError, ValueError):
            for session in server.ask("sessions"):
                kernel = session.get("kernel") or {}
                same = (server.root / session["path"]).resolve() == notebook.resolve()
                if same and kernel.get("connections"):
                    return server.url
    return ""


def _servers(notebook: Path) -> list[RunningServer]:
    """Running servers that serve the notebook's folder, from the runtime folder."""
    if not any(Path(jupyter_runtime_dir()).glob("jpserver-*.json")):
        return []
    from jupyter_server.serverapp import list_running_servers  # imports a whole server

    found = []
    for info in list_running_servers(log=None):
        root = Path(info.get("root_dir") or info.get("notebook_dir") or "/")
        if notebook.resolve().is_relative_to(root.resolve()):
            found.append(RunningServer(str(info.get("url", "")), str(info.get("token", "")), root))
    return found


def _usable(notebook: Path, server: RunningServer, kernel: dict[str, Any]) -> Existing:
    if kernel.get("connections"):
        words = (
            f"{notebook} is open in a page and may have unsaved changes. Ask in the panel "
            "there, or save and close it."
        )
        raise Problem(words, USAGE)
    file = Path(jupyter_runtime_dir(), f"kernel-{kernel['id']}.json")
    try:
        connection = json.loads(file.read_bytes())
    except (OSError, ValueError):
        words = f"The kernel of {notebook} does not run on this machine: it has no {file.name}."
        raise Problem(words, USAGE) from None
    state = str(kernel.get("execution_state", ""))
    return Existing(server, kernel["id"], kernel["name"], state, connection)


def _reason(error: Exception) -> str:
    return str(error.reason if isinstance(error, urllib.error.URLError) else error)


class ServersKernel(ServerKernelManager):
    """A kernel of another process. This program never starts, stops or restarts it."""

    def __init__(self, found: Existing, **given: Any) -> None:
        super().__init__(owns_kernel=False, **given)
        self._found = found
        self.load_connection_info(found.connection)  # type: ignore[arg-type]
        self.kernel_id = found.kernel_id
        self.kernel_name = found.name
        self.execution_state = found.state
        self.last_activity = datetime.now(timezone.utc)
        self.ready.set_result(None)

    async def interrupt_kernel(self) -> None:  # type: ignore[override]
        await self._ask("/interrupt", post=True)

    async def is_alive(self) -> bool:  # type: ignore[override]
        """Whether its server still has the kernel; True if the server does not answer."""
        try:
            model = await self._ask()
        except urllib.error.HTTPError as error:
            return error.code != 404
        except (OSError, ValueError):
            return True
        return bool(model.get("execution_state") != "dead")

    async def _ask(self, what: str = "", *, post: bool = False) -> Any:
        path = f"kernels/{self._found.kernel_id}{what}"
        return await asyncio.to_thread(self._found.server.ask, path, post=post)
