"""The kernel that a running server has for a notebook, used without the server: by its connection
file. It stays the server's: an interrupt, and whether it is alive, are asked of that.

A page that has the notebook open has a connection to its kernel, and what is typed there and not
saved is known to nobody else. So a kernel with a connection is not used.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_runtime_dir
from jupyter_server.services.kernels.kernelmanager import ServerKernelManager

from .problems import USAGE, Problem

TIMEOUT = 5.0
"""Seconds that a server has to answer."""
BELIEVED = 1.0
"""Seconds for which a kernel that was alive is taken to be so."""


@dataclass(frozen=True)
class Server:
    """``url`` ends with a slash."""

    url: str
    token: str
    root: Path

    def ask(self, path: str, *, post: bool = False) -> Any:
        """What it answers, as JSON; None for nothing. Raises OSError and ValueError."""
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
    """A kernel as the server lists it, and how it is reached."""

    server: Server
    kernel_id: str
    name: str
    state: str
    connection: dict[str, Any]


def find(notebook: Path) -> Existing:
    """Raises Problem: no server has a kernel for it, it is open in a page, or the kernel cannot
    be reached from here."""
    silent = []
    for server in _servers(notebook):
        try:
            listed = server.ask("sessions")
        except (OSError, ValueError) as error:
            silent.append(f"{server.url} does not answer ({_reason(error)}).")
            continue
        for session in listed:
            kernel = session.get("kernel")
            if kernel and (server.root / session["path"]).resolve() == notebook.resolve():
                return _usable(notebook, server, kernel)
    words = f"No running Jupyter server of yours has a kernel for {notebook}."
    raise Problem(" ".join([words, *silent, "Leave --existing out to start one."]), USAGE)


def _servers(notebook: Path) -> list[Server]:
    """Those that serve its folder, as they have put down themselves in the runtime folder."""
    from jupyter_server.serverapp import list_running_servers  # which is all of a server

    found = []
    for info in list_running_servers(log=None):
        root = Path(info.get("root_dir") or info.get("notebook_dir") or "/")
        if notebook.resolve().is_relative_to(root.resolve()):
            found.append(Server(str(info.get("url", "")), str(info.get("token", "")), root))
    return found


def _usable(notebook: Path, server: Server, kernel: dict[str, Any]) -> Existing:
    if kernel.get("connections"):
        words = (
            f"{notebook} is open in a page, which may have changes that are not saved. Ask in its "
            "panel, or save and close it there."
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
    """Of a kernel that is another process's: it is never started, ended or restarted here."""

    def __init__(self, found: Existing, **given: Any) -> None:
        super().__init__(owns_kernel=False, **given)
        self._found = found
        self._believed_until = 0.0
        self.load_connection_info(found.connection)  # type: ignore[arg-type]
        self.kernel_id = found.kernel_id
        self.kernel_name = found.name
        self.execution_state = found.state
        self.last_activity = datetime.now(timezone.utc)
        self.ready.set_result(None)

    async def interrupt_kernel(self) -> None:  # type: ignore[override]
        await self._ask("/interrupt", post=True)

    async def is_alive(self) -> bool:  # type: ignore[override]
        """Whether its server has it still; as long as that does not answer, it has."""
        if time.monotonic() < self._believed_until:
            return True
        try:
            model = await self._ask()
        except urllib.error.HTTPError as error:
            return error.code != 404
        except (OSError, ValueError):
            return True
        alive = model.get("execution_state") != "dead"
        self._believed_until = time.monotonic() + BELIEVED if alive else 0.0
        return bool(alive)

    async def _ask(self, what: str = "", *, post: bool = False) -> Any:
        path = f"kernels/{self._found.kernel_id}{what}"
        return await asyncio.to_thread(self._found.server.ask, path, post=post)
