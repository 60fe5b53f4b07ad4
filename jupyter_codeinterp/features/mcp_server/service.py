"""Carries out the calls of clients, with the rights of the token's maker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from jupyter_core.utils import ensure_async
from tornado import web

from ...app.notebooks.notebook_kernels import no_notebook, usable
from ...base.errors import CodeInterpError, CommandError, ModelError
from ...base.paths import normalize, root_of
from ...sandbox.shared import trees
from ...wire.commands import NOT_ALLOWED
from ...wire.messages import Text
from .conversation import CallResult, ClientConversation
from .token_file import Token, TokenFile
from .tools import BY_NAME

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...wire.ports import Model
    from .protocol import Protocol

NOT_INSTALLED = (
    "This server cannot speak MCP: a package is missing. Install it and restart the server: "
    "pip install 'jupyter_codeinterp[mcp]'"
)
NO_CLIENT = (
    "This conversation belongs to a program that is not connected. To continue it yourself, "
    "choose a model."
)
LOOKS_EVERY = 1.0
"""Seconds between checks whether the token of a call was revoked."""


class TokenHolder(NamedTuple):
    """Who calls. ``may``: whether the token's maker may do this action on this resource."""

    token: Token
    may: Callable[[str, str], Awaitable[bool]]


class ClientService:
    def __init__(self, bench: Workbench) -> None:
        self.token_file = TokenFile(bench.settings.folder)
        self._manager = bench.manager
        self._kernels = bench.notebook_kernels
        self._contents = bench.contents
        self._conversations: dict[str, ClientConversation] = {}
        """By notebook."""
        self._protocol: Protocol | None = None

    def model(self, name: str) -> Model:
        """The client of this name, for a turn. Raises ModelError ``unknown_model``."""
        for conversation in self._conversations.values():
            if conversation.model == name:
                return conversation.model_of_turn()
        raise ModelError("unknown_model", NO_CLIENT)

    async def protocol(self) -> Protocol:
        """Raises CommandError ``not_installed``."""
        if self._protocol is None:
            try:
                made = await asyncio.to_thread(_import_protocol)
            except ImportError:
                raise CommandError("not_installed", NOT_INSTALLED) from None
            self._protocol = self._protocol or made(self.call)
        return self._protocol

    async def close(self) -> None:
        if self._protocol is not None:
            await self._protocol.close()

    async def call(self, caller: TokenHolder, name: str, given: dict[str, Any]) -> CallResult:
        """Call one of our tools. Errors, such as a token revoked meanwhile, become error results.
        Cancelling it stops the call."""
        work = asyncio.ensure_future(self._call(caller, name, given))
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=LOOKS_EVERY)
                self.token_file.check(caller.token)
            return work.result()
        except CodeInterpError as error:
            return CallResult((Text(error.message),), True)
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _call(self, caller: TokenHolder, name: str, given: dict[str, Any]) -> CallResult:
        tool = BY_NAME.get(name)
        if tool is None:
            raise CommandError("malformed", "There is no tool {name!r}.", name=name)
        for right in tool.needs:
            if not await caller.may(*right):
                raise CommandError("not_allowed", NOT_ALLOWED[right])
        if name == "list_notebooks":
            notebooks = self._manager.notebooks
            found = sorted(filter(notebooks.has_window, notebooks.paths()))
            return CallResult((Text("\n".join(found) or "No notebook is open."),))
        path = await need(self._contents, str(given.get("notebook", "")))
        if path not in self._conversations:
            self._conversations[path] = ClientConversation(self._manager, path)
        if tool.changes:
            await self._kernels.ready(path)
        rest = {key: value for key, value in given.items() if key != "notebook"}
        return await self._conversations[path].call(name, rest)


def _import_protocol() -> type[Protocol]:
    """Import the protocol, which takes seconds: call this in a thread. Raises ImportError."""
    import anyio

    from .protocol import Protocol

    anyio.run(anyio.sleep, 0)  # This loads the rest.
    return Protocol


async def need(contents: Any, notebook: str) -> str:
    """The path of an existing notebook, behind no link. Raises CommandError ``unknown_path`` or
    ``unknown_notebook``."""
    path, root = normalize(notebook), root_of(contents)
    if root is not None and await asyncio.to_thread(trees.has_link, root, path):
        raise CommandError("unknown_path", "{path!r} is a link, or behind one.", path=path)
    await usable(contents, path)
    try:
        model = await ensure_async(contents.get(path, content=False))
    except web.HTTPError as error:
        raise no_notebook(path, error) from None
    if model["type"] != "notebook":
        raise CommandError("unknown_notebook", "{path!r} is no notebook.", path=path)
    return path
