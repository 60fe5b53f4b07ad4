"""The token of other agents, and the service that carries out their calls with the rights of the
token's maker."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

import msgspec

from ...app.notebooks.notebook_kernels import notebook_content
from ...base.errors import CodeInterpError, CommandError, ModelError
from ...base.paths import normalize, root_of
from ...base.private_file import PrivateFile
from ...base.sentences import Sentence
from ...sandbox.shared import trees
from ...wire.commands import CHANGE, NOT_ALLOWED
from ...wire.messages import Text, ToolResult
from .conversation import NEEDS, NOT_THEIRS, ClientConversation

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...wire.ports import Model

May = Callable[[str, str], Awaitable[bool]]

NOT_INSTALLED = (
    "This server cannot speak MCP: a package is missing. Install it and restart the server: "
    "pip install 'jupyter_codeinterp[mcp]'"
)
LOOKS_EVERY = 1.0
"""Seconds between checks whether the token of a call was revoked."""
PREFIX = "cimcp_"
"""Prefix of each token, so that people and scanners recognize one."""
NO_TOKEN = "The token is not known here, or somebody has revoked it."


class Token(msgspec.Struct, frozen=True):
    """``digest``: of the secret; ``made``: seconds since 1970; ``maker``: fields of the server's
    user who made it, as they were then."""

    digest: str
    made: float
    maker: dict[str, Any]


class _Content(msgspec.Struct, frozen=True):
    version: Literal[1] = 1
    token: Union[Token, None] = None


class TokenFile:
    """``mcp-token.json``: the token as a digest, in a file that only its owner can read. Several
    servers may use the file; each reads it again when it has changed."""

    def __init__(self, folder: Path) -> None:
        path = folder / "mcp-token.json"
        self._file = PrivateFile(path, _Content(), Sentence("the token of other agents"))

    @property
    def token(self) -> Token | None:
        """Raises CommandError ``not_kept``."""
        return self._file.content.token

    def make(self, maker: Mapping[str, Any]) -> str:
        """Replace the token. Returns the secret, which nobody can read again. ``maker``: the
        user's fields that fit in JSON, at least ``username``. Raises CommandError ``not_kept``."""
        secret = PREFIX + secrets.token_urlsafe(32)
        made = Token(_digest(secret), time.time(), dict(maker))
        self._file.change(lambda _: _Content(token=made))
        return secret

    def revoke(self) -> None:
        """Raises CommandError ``not_kept``."""
        self._file.change(lambda _: _Content())

    def find(self, secret: str) -> Token:
        """The token with this secret. Raises CommandError ``no_token`` or ``not_kept``."""
        token = self.token
        if token is None or not hmac.compare_digest(token.digest, _digest(secret)):
            raise CommandError("no_token", NO_TOKEN)
        return token


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


class ClientService:
    def __init__(self, bench: Workbench) -> None:
        self.token_file = TokenFile(bench.settings.folder)
        self._bench = bench
        self._conversations: dict[str, ClientConversation] = {}
        """By notebook."""
        self._answers: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._running: asyncio.Future[None] | None = None
        self._over = asyncio.Event()

    def model(self, name: str) -> Model:
        """The client of this name, for a turn. Raises ModelError ``unknown_model``."""
        for conversation in self._conversations.values():
            if conversation.model == name:
                return conversation.model_of_turn()
        raise ModelError("unknown_model", NOT_THEIRS)

    async def protocol(self) -> Any:
        """The protocol as an application of ASGI. Raises CommandError ``not_installed``."""
        if self._running is None:
            try:
                # In threads: the import takes seconds.
                protocol = await asyncio.to_thread(import_module, ".protocol", __package__)
            except ImportError:
                raise CommandError("not_installed", NOT_INSTALLED) from None
            manager = await asyncio.to_thread(protocol.session_manager)
            self._running = self._running or asyncio.ensure_future(self._run(manager))
        return await asyncio.shield(self._answers)

    async def _run(self, manager: Any) -> None:
        # The package's task group must be entered and left in one task.
        async with manager.run():
            self._answers.set_result(manager.handle_request)
            await self._over.wait()

    async def close(self) -> None:
        self._over.set()
        if self._running is not None:
            await self._running

    async def call(self, token: Token, may: May, name: str, given: dict[str, Any]) -> ToolResult:
        """Call one of our tools. ``may``: whether the token's maker may do this action on this
        resource. Errors, such as a token revoked meanwhile, become error results. Cancelling it
        stops the call."""
        work = asyncio.ensure_future(self._call(may, name, given))
        try:
            while True:
                if self.token_file.token != token:
                    raise CommandError("no_token", NO_TOKEN)
                if work.done():
                    return work.result()
                await asyncio.wait({work}, timeout=LOOKS_EVERY)
        except CodeInterpError as error:
            return ToolResult("", (Text(error.message),), True)
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _call(self, may: May, name: str, given: dict[str, Any]) -> ToolResult:
        if name not in NEEDS:
            raise CommandError("malformed", "There is no tool {name!r}.", name=name)
        for right in NEEDS[name]:
            if not await may(*right):
                raise CommandError("not_allowed", NOT_ALLOWED[right])
        if name == "list_notebooks":
            notebooks = self._bench.manager.notebooks
            found = sorted(filter(notebooks.has_window, notebooks.paths()))
            return ToolResult("", (Text("\n".join(found) or "No notebook is open."),))
        path = await need(self._bench.contents, str(given.get("notebook", "")))
        if path not in self._conversations:
            self._conversations[path] = ClientConversation(self._bench.manager, path)
        if CHANGE in NEEDS[name]:
            await self._bench.notebook_kernels.ready(path)
        rest = {key: value for key, value in given.items() if key != "notebook"}
        return await self._conversations[path].call(name, rest)


async def need(contents: Any, notebook: str) -> str:
    """The path of an existing notebook, behind no link. Raises CommandError ``unknown_path`` or
    ``unknown_notebook``."""
    path, root = normalize(notebook), root_of(contents)
    if root is not None and await asyncio.to_thread(trees.has_link, root, path):
        raise CommandError("unknown_path", "{path!r} is a link, or behind one.", path=path)
    await notebook_content(contents, path)
    return path
