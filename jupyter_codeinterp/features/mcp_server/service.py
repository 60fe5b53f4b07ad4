"""Carries out the calls of clients, with the rights of their tokens."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async
from tornado import web

from ...app.notebooks.notebook_kernels import no_notebook
from ...base.errors import CodeInterpError, CommandError, ModelError
from ...base.paths import normalize, root_of
from ...base.visible import visible_line
from ...run.approval.modes import ASKING, RUN_ALL
from ...sandbox.shared import trees
from ...session.messages import Sender
from ...session.server.windows import Bearer
from ...wire.commands import NOT_ALLOWED, Cancel, SendMessage
from ...wire.messages import Image, Message, Text, ToolResult
from . import MODELS
from .conversation import CallResult, ClientConversation, Tell, end_of_turn
from .tokens import NO_TOKEN, Token, Tokens
from .tools import BY_NAME

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...wire.ports import Model

LOOKS_ONLY = "This token may only look. Ask the person for one with the scope “run”."
NO_CLIENT = (
    "This conversation belongs to a program that is not connected. To continue it yourself, "
    "choose a model."
)
MAY = "codeinterp_may"
"""The name of a request's ``May`` in its ASGI scope."""
LOOKS_EVERY = 1.0
"""Seconds between checks whether a call's token was revoked."""
LONGEST_CLIENT = 60
"""Characters of a client's name."""
MOST_CONVERSATIONS = 500
"""Kept conversations of one token. Beyond it, the oldest idle ones are dropped."""
MOST_CALLS = 40
"""Open calls of one token."""
MOST_ENTRIES = 200
"""Notebooks, and folders, in a list."""
MOST_IMAGES = 4
"""The latest pictures of a turn that go with the answer of ``ask``."""
LONGEST_ANSWER = 20_000
"""Characters."""

May = Callable[[str, str], Awaitable[bool]]
"""Whether the token's maker may do this action on this resource."""


class ClientService:
    def __init__(self, tokens: Tokens, bench: Workbench) -> None:
        self.tokens = tokens
        self._manager = bench.manager
        self._kernels = bench.notebook_kernels
        self._contents = bench.contents
        self._at_once = bench.settings.mcp_runs_at_once
        self._windows: dict[str, tuple[int, str]] = {}
        """Window number and secret of each token's client, by token id."""
        self._conversations: dict[tuple[str, str], ClientConversation] = {}
        """By token id and notebook."""
        self._calls: Counter[str] = Counter()
        """Open calls by token id."""

    def model(self, name: str) -> Model:
        """The client of this name, for a turn. Raises ModelError ``unknown_model``."""
        for conversation in self._conversations.values():
            if conversation.model == name:
                return conversation.model_of_turn()
        raise ModelError("unknown_model", NO_CLIENT)

    async def call(
        self, token_id: str, client: str, name: str, given: dict[str, Any], tell: Tell, may: May
    ) -> CallResult:
        """Call one of our tools. Errors, such as a token revoked meanwhile, become error results.
        Cancelling it stops the call."""
        if self._calls[token_id] >= MOST_CALLS:
            words = f"This token has {MOST_CALLS} open calls. Wait until one of them ends."
            return CallResult((Text(words),), True)
        self._calls[token_id] += 1
        work = asyncio.ensure_future(self._call(token_id, client, name, given, tell, may))
        revoked = asyncio.ensure_future(self._revoked(token_id))
        try:
            both: set[asyncio.Future[Any]] = {work, revoked}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            self.tokens.maker(token_id)
            return await work
        except CodeInterpError as error:
            return CallResult((Text(error.message),), True)
        finally:
            for task in (work, revoked):
                task.cancel()
            await asyncio.gather(work, revoked, return_exceptions=True)
            self._calls[token_id] -= 1

    async def _revoked(self, token_id: str) -> None:
        """Raises CommandError ``no_token`` once a page, another server or the command line has
        revoked the token."""
        while True:
            self.tokens.maker(token_id)
            await asyncio.sleep(LOOKS_EVERY)

    async def _call(
        self, token_id: str, client: str, name: str, given: dict[str, Any], tell: Tell, may: May
    ) -> CallResult:
        token = next((one for one in self.tokens.all() if one.id == token_id), None)
        if token is None:
            raise CommandError("no_token", NO_TOKEN)
        tool = BY_NAME[name]
        if tool.changes and token.scope != "run":
            raise CommandError("not_allowed", LOOKS_ONLY)
        for right in tool.needs:
            if not await may(*right):
                raise CommandError("not_allowed", NOT_ALLOWED[right])
        by = self._number(token)
        if name == "list_notebooks":
            return CallResult((Text(await self._listed(_text(given, "folder"))),))
        path = await need(self._contents, _text(given, "notebook"))
        rest = {key: value for key, value in given.items() if key != "notebook"}
        if name == "ask":
            return await self._ask(path, rest, by, tell)
        conversation = self._conversation(token, client, path)
        if name == "interrupt":
            if conversation.at_work:
                await conversation.stop(by)
                return CallResult((Text("Stopped your call in this notebook."),))
            name, rest = "kernel", {"action": "interrupt"}
        if tool.changes:
            await self._kernels.ready(path)
        return await conversation.call(name, rest, token.scope, by, tell)

    def _conversation(self, token: Token, client: str, path: str) -> ClientConversation:
        key = (token.id, path)
        if key not in self._conversations:
            name = visible_line(client)[:LONGEST_CLIENT].strip() or token.name
            made = ClientConversation(self._manager, name, path, self._at_once)
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

    async def _ask(self, path: str, given: dict[str, Any], by: int, tell: Tell) -> CallResult:
        """A whole turn of the agent. Cancelling it stops the turn."""
        manager, session_id = self._manager, _text(given, "conversation")
        await self._kernels.ready(path)
        # Nothing is awaited from here on: the task must not join another's turn.
        if session_id:
            session = manager.session(session_id)
            if session.info.notebook != path or session.info.model.startswith(MODELS):
                raise CommandError("unknown_session", "The agent has no such conversation there.")
            if session.running:
                words = "A turn is running in this conversation. Try again later."
                raise CommandError("busy", words)
        mode: Any = RUN_ALL if self._at_once else ASKING
        message = SendMessage(_text(given, "text"), path, session_id=session_id, mode=mode)
        sent = await manager.service.send(message, Sender(by, headless=True))
        session, session_id = sent.session, sent.session.info.session_id
        before = manager.store.count_messages(session_id)
        try:
            ended = await end_of_turn(session, session.event_log.last_seq, tell)
        except asyncio.CancelledError:
            with suppress(CommandError):  # The session was deleted.
                await manager.service.stop(Cancel(session_id), Sender(by))
            raise
        messages = manager.store.all_messages(session_id)[before:]
        facts = [f"conversation: {session_id}"]
        for name in ("added", "edited", "removed", "run_again", "failed"):
            cells = getattr(ended, name)
            if cells:
                facts.append(f"{name.replace('_', ' ')} cells: {', '.join(cells)}")
        parts = (_answer(messages)[:LONGEST_ANSWER], ended.message, "\n".join(facts))
        answer = Text("\n\n".join(filter(None, parts)))
        images = _images(messages)[-MOST_IMAGES:]
        return CallResult((answer, *images), ended.stop_reason != "end_turn")


def _answer(messages: Sequence[Message]) -> str:
    """The texts of the model's last message."""
    replies = [message for message in messages if message.role == "assistant"]
    last = replies[-1].content if replies else ()
    return "\n".join(block.text for block in last if isinstance(block, Text))


def _images(messages: Sequence[Message]) -> list[Image]:
    results = (b for message in messages for b in message.content if isinstance(b, ToolResult))
    return [part for result in results for part in result.content if isinstance(part, Image)]


async def need(contents: Any, notebook: str) -> str:
    """The path of an existing notebook. Raises CommandError ``unknown_notebook``."""
    path = normalize(notebook)
    await _need_no_link(contents, path)
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
