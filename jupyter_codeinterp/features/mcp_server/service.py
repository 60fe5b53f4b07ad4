"""Carries out the calls of clients, with the rights of their tokens."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async
from tornado import web

from ...app.notebooks.notebook_kernels import no_notebook, usable
from ...base.errors import CodeInterpError, CommandError, ModelError
from ...base.paths import normalize, root_of
from ...sandbox.shared import trees
from ...session.server.windows import Bearer
from ...wire.commands import NOT_ALLOWED
from ...wire.messages import Text
from .conversation import CallResult, ClientConversation, Tell
from .tokens import Token, TokenHolder, Tokens
from .tools import BY_NAME

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...wire.ports import Model
    from .protocol import TokenSessions

NOT_INSTALLED = (
    "This server cannot speak MCP: a package is missing. Install it and restart the server: "
    "pip install 'jupyter_codeinterp[mcp]'"
)
LOOKS_ONLY = "This token may only look. Ask the person for one with the scope “run”."
NO_CLIENT = (
    "This conversation belongs to a program that is not connected. To continue it yourself, "
    "choose a model."
)
LOOKS_EVERY = 1.0
"""Seconds between checks whether a call's token was revoked."""
TELLS_EVERY = 10.0
"""Seconds between progress notifications without news."""
WAITING = "Waiting for a person to decide in JupyterLab."
WORKING = "Working."
MOST_CONVERSATIONS = 500
"""Kept conversations of one token. Beyond it, the oldest idle ones are dropped."""
MOST_CALLS = 40
"""Open calls of one token."""
MOST_ENTRIES = 200
"""Notebooks, and folders, in a list."""


class ClientService:
    def __init__(self, bench: Workbench) -> None:
        self.tokens = Tokens(bench.settings.folder)
        self.runs_at_once = bench.settings.mcp_runs_at_once
        self._manager = bench.manager
        self._kernels = bench.notebook_kernels
        self._contents = bench.contents
        self._windows: dict[str, tuple[int, str]] = {}
        """Window number and secret of each token's client, by token id."""
        self._conversations: dict[tuple[str, str], ClientConversation] = {}
        """By token id and notebook."""
        self._calls: Counter[str] = Counter()
        """Open calls by token id."""
        self._sessions: dict[str, TokenSessions] = {}
        """By token id."""
        self._opening = asyncio.Lock()

    def model(self, name: str) -> Model:
        """The client of this name, for a turn. Raises ModelError ``unknown_model``."""
        for conversation in self._conversations.values():
            if conversation.model == name:
                return conversation.model_of_turn()
        raise ModelError("unknown_model", NO_CLIENT)

    @property
    def installed(self) -> bool:
        """Whether the package that speaks the protocol is there. Does not import it."""
        return find_spec("mcp") is not None

    async def sessions(self, token_id: str) -> TokenSessions:
        """The token's sessions of the protocol. Raises CommandError ``not_installed``."""
        async with self._opening:
            for revoked in self._sessions.keys() - {token.id for token in self.tokens.all()}:
                await self._sessions.pop(revoked).close()
            if token_id not in self._sessions:
                try:
                    sessions = await asyncio.to_thread(_import_sessions)
                except ImportError:
                    raise CommandError("not_installed", NOT_INSTALLED) from None
                self._sessions[token_id] = sessions(self.call)
            return self._sessions[token_id]

    async def close(self) -> None:
        for one in self._sessions.values():
            await one.close()

    async def call(
        self, caller: TokenHolder, name: str, given: dict[str, Any], tell: Tell
    ) -> CallResult:
        """Call one of our tools. Errors, such as a token revoked meanwhile, become error results.
        Cancelling it stops the call."""
        token_id = caller.token.id
        if self._calls[token_id] >= MOST_CALLS:
            words = f"This token has {MOST_CALLS} open calls. Wait until one of them ends."
            return CallResult((Text(words),), True)
        self._calls[token_id] += 1
        work = asyncio.ensure_future(self._call(caller, name, given))
        try:
            await self._watch(work, token_id, tell)
            return work.result()
        except CodeInterpError as error:
            return CallResult((Text(error.message),), True)
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            self._calls[token_id] -= 1

    async def _watch(self, work: asyncio.Future[CallResult], token_id: str, tell: Tell) -> None:
        """Wait for the end of a call. Raises CommandError ``no_token`` once a page, another server
        or the command line has revoked the token."""
        told, when = WORKING, time.monotonic()
        while not work.done():
            await asyncio.wait({work}, timeout=LOOKS_EVERY)
            self.tokens.maker(token_id)
            mine = (one for (of, _), one in self._conversations.items() if of == token_id)
            words = WAITING if any(one.waiting for one in mine) else WORKING
            if not work.done() and (words != told or time.monotonic() - when > TELLS_EVERY):
                told, when = words, time.monotonic()
                await tell(words)

    async def _call(self, caller: TokenHolder, name: str, given: dict[str, Any]) -> CallResult:
        token, tool = caller.token, BY_NAME[name]
        self.tokens.maker(token.id)  # Somebody may have revoked it since the request came.
        if tool.changes and token.scope != "run":
            raise CommandError("not_allowed", LOOKS_ONLY)
        for right in tool.needs:
            if not await caller.may(*right):
                raise CommandError("not_allowed", NOT_ALLOWED[right])
        if name == "list_notebooks":
            return CallResult((Text(await self._listed(_text(given, "folder"))),))
        path = await need(self._contents, _text(given, "notebook"))
        conversation = self._conversation(token, path)
        if tool.changes:
            await self._kernels.ready(path)
        rest = {key: value for key, value in given.items() if key != "notebook"}
        return await conversation.call(name, rest, token.scope, self._number(token))

    def _conversation(self, token: Token, path: str) -> ClientConversation:
        key = (token.id, path)
        if key not in self._conversations:
            made = ClientConversation(self._manager, token.name, path, self.runs_at_once)
            self._conversations[key] = made
            mine = [kept for kept in self._conversations if kept[0] == token.id]
            for old in mine[:-MOST_CONVERSATIONS]:
                if not self._conversations[old].at_work:
                    del self._conversations[old]
        return self._conversations[key]

    def _number(self, token: Token) -> int:
        """The client's number among the windows. Raises CommandError ``too_many_windows``."""
        windows = self._manager.windows
        number, secret = self._windows.get(token.id, (0, ""))
        if not number or not windows.number(secret):
            self._windows[token.id] = windows.admit(Bearer(f"mcp {token.id}", False))
        return self._windows[token.id][0]

    async def _listed(self, folder: str) -> str:
        """Notebooks and folders as JSON. Raises CommandError ``unknown_path``."""
        folder = normalize(folder)
        await _need_no_link(self._contents, folder)
        try:
            found = self._contents.get(folder, content=True, type="directory")
            entries = (await ensure_async(found))["content"]
        except web.HTTPError as error:
            words = "Cannot list the folder {folder!r}: {why}"
            why = error.log_message or error.reason
            raise CommandError("unknown_path", words, folder=folder, why=why) from None
        entries = sorted(entries, key=lambda entry: str(entry["name"]))
        books = [one["path"] for one in entries if one["type"] == "notebook"]
        folders = [one["path"] for one in entries if one["type"] == "directory"]
        has_window = self._manager.notebooks.has_window
        shown: dict[str, Any] = {
            "notebooks": [{"path": one, "open": has_window(one)} for one in books[:MOST_ENTRIES]],
            "folders": folders[:MOST_ENTRIES],
        }
        left = len(books[MOST_ENTRIES:]) + len(folders[MOST_ENTRIES:])
        if left:
            shown["left_out"] = left
        return json.dumps(shown, ensure_ascii=False)


def _import_sessions() -> type[TokenSessions]:
    """Import the protocol, which takes seconds: call this in a thread. Raises ImportError."""
    import anyio

    from .protocol import TokenSessions

    anyio.run(anyio.sleep, 0)  # This loads the rest.
    return TokenSessions


async def need(contents: Any, notebook: str) -> str:
    """The path of an existing notebook. Raises CommandError ``unknown_notebook``."""
    path = normalize(notebook)
    await _need_no_link(contents, path)
    await usable(contents, path)
    try:
        model = await ensure_async(contents.get(path, content=False))
    except web.HTTPError as error:
        raise no_notebook(path, error) from None
    if model["type"] != "notebook":
        raise CommandError("unknown_notebook", "{path!r} is no notebook.", path=path)
    return path


async def _need_no_link(contents: Any, path: str) -> None:
    root = root_of(contents)
    if root is not None and await asyncio.to_thread(trees.has_link, root, path):
        raise CommandError("unknown_path", "{path!r} is a link, or behind one.", path=path)


def _text(given: dict[str, Any], name: str) -> str:
    """Raises CommandError ``malformed``."""
    value = given.get(name, "")
    if not isinstance(value, str):
        raise CommandError("malformed", "“{name}” must be a string.", name=name)
    return value
