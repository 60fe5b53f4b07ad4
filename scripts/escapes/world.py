"""The targets: a server with a conversation, a stored key and a waiting draft, and a home folder
around it. All of it is real, except the content of the secrets."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from tornado.httpclient import AsyncHTTPClient, HTTPRequest

from jupyter_codeinterp.wire.commands import Decide
from jupyter_codeinterp.wire.events import DraftDecided
from scripts.benchmark.sandbox import write_kernelspec
from scripts.benchmark.servers import Server, jupyter_server
from scripts.benchmark.start import OURS, others_off
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.login import log_in
from tests.reference_window import ReferenceWindow, notebook

from .attempts.bounds import SMALL
from .attempts.listed import allowed
from .attempts.processes import STAYS
from .outside import Outside, marked, outside
from .prelude import prelude

KEY = "sk-ant-stored-0123456789"
SAID = "the words of another conversation"
HOME_FILES = (".ssh/id_ed25519", ".bashrc", "project/data.csv", "notebooks/private.ipynb")
FOLDER_FILES = (
    ".git/config", ".git/description", ".git/hooks/pre-commit", "deep/er/.git/hooks/pre-commit",
    ".ipynb_checkpoints/a-checkpoint.ipynb", ".vscode/tasks.json", ".envrc",
)  # fmt: skip
FOLDERS = ("plain", "sandboxed", "small", "listed", "overlaid", "other")
"""Folders of notebooks, one for each kernel."""


@dataclass
class World:
    server: Server
    window: ReferenceWindow
    outside: Outside
    names: dict[str, Any]
    """Names for the code of the attempts."""

    def prelude(self, mark: str, folder: str) -> str:
        return prelude({**self.outside.names, **self.names, "MARK": mark, "FOLDER": folder})

    def reached(self, proof: str, mark: str, folder: str) -> bool:
        """Whether the mark of an attempt from this folder is found outside."""
        if proof == "a datagram":
            return mark.encode() in self.outside.datagrams
        if proof == STAYS:
            return bool(marked(mark))
        if proof == "the draft":
            return bool(self.window.of(DraftDecided))
        if proof == "usercustomize.py":
            place = Path(self.outside.names["USER_SITE"], proof)
        else:
            place = self.server.folder / proof.replace("FOLDER", folder)
        return place.is_file() and mark in place.read_text(encoding="utf-8", errors="replace")


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        script = in_order([answer(run_cell("1")), answer(text("Done."))])
        model = await stack.enter_async_context(FakeAnthropic(script, check=False))
        variables = {
            "A_SECRET": "a secret of the environment",
        }
        extensions = {**others_off(), OURS: True}
        server = stack.enter_context(
            jupyter_server(extensions=extensions, environment=variables, at_home=True)
        )
        made = await stack.enter_async_context(outside(server.folder))
        _fill(server.folder, made.owned_by_another, allowed(made.names))
        other = await start_kernel(server, "sandboxed", "other")
        window, decision = await _conversation(server, model.url)
        stack.push_async_callback(window.close)
        yield World(server, window, made, {**_places(server), **_of(server, other), **decision})


def _fill(home: Path, by_another: bool, allow: list[str]) -> None:
    for name in HOME_FILES:
        _write(home / name, f"a secret in {name}\n")
    for folder in FOLDERS:
        notebooks = home / "notebooks" / folder
        notebooks.mkdir(parents=True, exist_ok=True)
        for name in FOLDER_FILES:
            _write(notebooks / name, "\n")
        (notebooks / "link").symlink_to(home / ".ssh" / "id_ed25519")
        tool = shutil.copy(shutil.which("id") or "/usr/bin/id", notebooks / "as-its-owner")
        if by_another:
            shutil.chown(tool, 65534)
        Path(tool).chmod(0o4755)
    kernels: dict[str, dict[str, Any]] = {
        "sandboxed": {},
        "small": SMALL,
        "listed": {"allow": allow},
        "overlaid": {"overlay": True},
    }
    for name, traits in kernels.items():
        write_kernelspec(home / "data", name, traits)


def _write(path: Path, words: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(words, encoding="utf-8")


async def _conversation(server: Server, model: str) -> tuple[ReferenceWindow, dict[str, Any]]:
    """A window in which a draft waits, and the decision on it, which anyone with the server's token
    can read."""
    login = await log_in(server.url, server.token)
    given = await login.ask()
    book = notebook("x = 20")
    (server.folder / "notebooks" / "private.ipynb").write_text(json.dumps(book))
    window = ReferenceWindow(await login.connect(given.ticket), "private.ipynb", book)
    headers = {**login.headers, "X-Codeinterp-Window": given.secret}
    given_key = {"base_url": model, "key": KEY}
    await _post(server, "codeinterp/api/connections/anthropic", given_key, headers)
    await window.open(await start_kernel(server, "python3", ""))
    await window.ask(SAID)
    draft = await window.draft()
    decide = Decide(window.session_id, draft.draft_id, draft.nonce, "run", source=draft.source)
    return window, {"DECISION": msgspec.to_builtins(decide)}


def _places(server: Server) -> dict[str, Any]:
    home = server.folder
    return {
        "HOME": str(home),
        "CONFIG": str(home / "config"),
        "DATA": str(home / "data"),
        "RUNTIME": str(home / "runtime"),
        "STARTUP": str(home / "ipython" / "profile_default" / "startup"),
        "URL": server.url,
        "TOKEN": server.token,
        "PORT": int(server.url.rpartition(":")[2]),
        "KEY": KEY,
        "SAID": SAID,
    }


def _of(server: Server, other: str) -> dict[str, Any]:
    """The facts about another sandboxed kernel."""
    connection = json.loads(connection_file(server, other).read_text(encoding="utf-8"))
    return {
        "OTHER_KERNEL": other,
        "OTHER_SOCKET": f"{connection['ip']}-{connection['shell_port']}",
        "OTHER_PLACE": str(Path(connection["ip"]).parent),
    }


def connection_file(server: Server, kernel: str) -> Path:
    return server.folder / "runtime" / f"kernel-{kernel}.json"


async def start_kernel(server: Server, name: str, folder: str) -> str:
    """Start a kernel of this kernelspec for a notebook in this folder; return its id."""
    made = await _post(server, "api/kernels", {"name": name, "path": folder}, server.headers)
    return str(json.loads(made)["id"])


async def end_kernel(server: Server, kernel: str) -> None:
    url = f"{server.url}/api/kernels/{kernel}"
    await AsyncHTTPClient().fetch(
        HTTPRequest(url, "DELETE", server.headers, request_timeout=60), raise_error=False
    )


async def _post(server: Server, route: str, body: dict[str, Any], headers: dict[str, str]) -> bytes:
    url, data = f"{server.url}/{route}", json.dumps(body)
    request = HTTPRequest(url, "POST", headers, data, request_timeout=60)
    return (await AsyncHTTPClient().fetch(request)).body
