"""Carries out the calls of outside clients, with the rights of their tokens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from jupyter_core.utils import ensure_async
from tornado import web

from ...core.approval.modes import ASKING, RUN_ALL
from ...core.errors import CodeInterpError, CommandError
from ...core.messages import Image, Message, Text, ToolResult
from ...core.session.service import Sender
from ...core.visible import visible_line
from ...core.wire import commands as c
from ...core.wire.commands import NOT_ALLOWED
from ...sandbox.shared import trees
from ..files.paths import normalize, root_of
from ..notebook_kernels import no_notebook
from ..windows import Bearer
from .clients import MODELS, Clients
from .conversations import Conversation, Tell, end_of_turn
from .tokens import NO_TOKEN, Token, Tokens
from .tools import LOOKS, needs_of, offered

if TYPE_CHECKING:
    from ..notebook_kernels import NotebookKernels
    from ..session_manager import SessionManager


# -------------------------------------------------------------------------------------------------
# The notebooks of a folder, as a client lists them.

MOST = 200
"""Entries of a list."""


async def listed(contents: Any, folder: str, is_open: Callable[[str], bool]) -> str:
    """Notebooks and folders as JSON. Raises CommandError ``unknown_path``."""
    folder = normalize(folder)
    await _need_no_link(contents, folder)
    try:
        model = await ensure_async(contents.get(folder, content=True, type="directory"))
    except web.HTTPError as error:
        words = "Cannot list the folder {folder!r}: {why}"
        why = error.log_message or error.reason
        raise CommandError("unknown_path", words, folder=folder, why=why) from None
    entries = sorted(model["content"], key=lambda entry: str(entry["name"]))
    books = [one["path"] for one in entries if one["type"] == "notebook"]
    folders = [one["path"] for one in entries if one["type"] == "directory"]
    shown: dict[str, Any] = {
        "notebooks": [{"path": path, "open": is_open(path)} for path in books[:MOST]],
        "folders": folders[:MOST],
    }
    left = max(len(books) - MOST, 0) + max(len(folders) - MOST, 0)
    if left:
        shown["left_out"] = left
    return json.dumps(shown, ensure_ascii=False)


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


# -------------------------------------------------------------------------------------------------
# ``ask``: a whole turn of the agent on behalf of an outside client.

MOST_IMAGES = 4
"""The latest pictures of a turn that go with its answer."""
LONGEST_ANSWER = 20_000
"""Characters."""


async def ask(
    manager: SessionManager, text: str, where: dict[str, str], mode: Any, by: int, tell: Tell
) -> tuple[list[Union[Text, Image]], bool]:
    """The content of the result, and whether the turn failed. Cancelling it stops the turn.

    ``where`` has ``session_id``, or the ``notebook`` of a new conversation. Raises CommandError
    and StoreError as ``SessionService.send``, and CommandError ``busy``.
    """
    if where.get("session_id") and manager.session(where["session_id"]).running:
        raise CommandError("busy", "A turn is running in this conversation. Try again later.")
    notebook, to = where.get("notebook", ""), where.get("session_id", "")
    message = c.SendMessage(text, notebook, session_id=to, mode=mode)
    session, _ = await manager.service.send(message, Sender(by, headless=True))
    session_id, store = session.info.session_id, manager.store
    before = store.count_messages(session_id)
    try:
        ended = await end_of_turn(session, session.event_log.last_seq, tell)
    except asyncio.CancelledError:
        with suppress(CommandError):  # The session was deleted.
            await manager.service.stop(c.Cancel(session_id), Sender(by))
        raise
    messages = store.all_messages(session_id)[before:]
    facts = [f"conversation: {session_id}"]
    for name in ("added", "edited", "removed", "run_again", "failed"):
        cells = getattr(ended, name)
        if cells:
            facts.append(f"{name.replace('_', ' ')} cells: {', '.join(cells)}")
    answer = _answer(messages)[:LONGEST_ANSWER]
    words = "\n\n".join(part for part in (answer, ended.message, "\n".join(facts)) if part)
    return [Text(words), *_images(messages)[-MOST_IMAGES:]], ended.stop_reason != "end_turn"


def _answer(messages: Iterable[Message]) -> str:
    """The texts of the model's last message."""
    replies = [message for message in messages if message.role == "assistant"]
    last = replies[-1].content if replies else ()
    return "\n".join(block.text for block in last if isinstance(block, Text))


def _images(messages: Iterable[Message]) -> list[Image]:
    results = (b for message in messages for b in message.content if isinstance(b, ToolResult))
    return [part for result in results for part in result.content if isinstance(part, Image)]


LOOKS_ONLY = "This token may only look. Ask the person for one with the scope “run”."
MAY = "codeinterp_may"
"""The name of a request's ``May`` in its ASGI scope."""
LOOKS_EVERY = 1.0
"""Seconds between checks whether a call's token was revoked."""
LONGEST_CLIENT = 60
"""Characters of a client's name."""
MOST_CONVERSATIONS = 500
"""Kept conversations. Beyond it, the oldest idle ones are dropped."""


May = Callable[[str, str], Awaitable[bool]]
"""Whether the token's maker may do this action on this resource."""


class Result(NamedTuple):
    content: tuple[Union[Text, Image], ...]
    is_error: bool = False


class OutsideClients:
    def __init__(
        self,
        tokens: Tokens,
        clients: Clients,
        manager: SessionManager,
        kernels: NotebookKernels,
        contents: Any,
        at_once: bool,
    ) -> None:
        """``at_once``: the admin lets code of tokens with the scope ``run`` run without review."""
        self.tokens = tokens
        self._clients = clients
        self._manager = manager
        self._kernels = kernels
        self._contents = contents
        self._at_once = at_once
        self._windows: dict[str, tuple[int, str]] = {}
        """Window number and secret of each token's client, by token id."""
        self._conversations: dict[tuple[str, str], Conversation] = {}

    async def call(
        self, token_id: str, client: str, name: str, given: dict[str, Any], tell: Tell, may: May
    ) -> Result:
        """Call one of our tools. Errors, such as a token revoked meanwhile, become error results.
        Cancelling it stops the call."""
        work = asyncio.ensure_future(self._call(token_id, client, name, given, tell, may))
        revoked = asyncio.ensure_future(self._revoked(token_id))
        try:
            both: set[asyncio.Future[Any]] = {work, revoked}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            self.tokens.maker(token_id)
            return await work
        except CodeInterpError as error:
            return Result((Text(error.message),), True)
        finally:
            for task in (work, revoked):
                task.cancel()
            await asyncio.gather(work, revoked, return_exceptions=True)

    async def _revoked(self, token_id: str) -> None:
        """Raises CommandError ``no_token`` once a page, another server or the command line has
        revoked the token."""
        while True:
            self.tokens.maker(token_id)
            await asyncio.sleep(LOOKS_EVERY)

    async def _call(
        self, token_id: str, client: str, name: str, given: dict[str, Any], tell: Tell, may: May
    ) -> Result:
        token = next((one for one in self.tokens.all() if one.id == token_id), None)
        if token is None:
            raise CommandError("no_token", NO_TOKEN)
        if name not in {tool.name for tool in offered(token.scope)}:
            raise CommandError("not_allowed", LOOKS_ONLY)
        for right in needs_of(name):
            if not await may(*right):
                raise CommandError("not_allowed", NOT_ALLOWED[right])
        by = self._number(token)
        if name == "list_notebooks":
            has = self._manager.notebooks.has_window
            return Result((Text(await listed(self._contents, _text(given, "folder"), has)),))
        path = await need(self._contents, _text(given, "notebook"))
        rest = {key: value for key, value in given.items() if key != "notebook"}
        if name == "ask":
            return await self._ask(path, rest, by, tell)
        conversation = self._conversation(token, client, path)
        if name == "interrupt":
            if conversation.at_work:
                await conversation.stop(by)
                return Result((Text("Stopped your call in this notebook."),))
            name, rest = "kernel", {"action": "interrupt"}
        if name not in LOOKS:
            await self._kernels.ready(path)
        return Result(*await conversation.call(name, rest, token.scope, by, tell))

    async def _ask(self, path: str, given: dict[str, Any], by: int, tell: Tell) -> Result:
        session_id = _text(given, "conversation")
        where = {"session_id": session_id} if session_id else {"notebook": path}
        if session_id:
            info = self._manager.session(session_id).info
            if info.notebook != path or info.model.startswith(MODELS):
                raise CommandError("unknown_session", "The agent has no such conversation there.")
        await self._kernels.ready(path)
        mode = RUN_ALL if self._at_once else ASKING
        content, failed = await ask(self._manager, _text(given, "text"), where, mode, by, tell)
        return Result(tuple(content), failed)

    def _conversation(self, token: Token, client: str, path: str) -> Conversation:
        key = (token.id, path)
        if key not in self._conversations:
            name = visible_line(client)[:LONGEST_CLIENT].strip() or token.name
            self._conversations[key] = Conversation(
                self._manager, self._clients, name, path, self._at_once
            )
            for old, one in list(self._conversations.items())[:-MOST_CONVERSATIONS]:
                if not one.at_work:
                    self._clients.remove(self._conversations.pop(old).model)
        return self._conversations[key]

    def _number(self, token: Token) -> int:
        """The client's number among the windows. Raises CommandError ``too_many_windows``."""
        windows = self._manager.windows
        number, secret = self._windows.get(token.id, (0, ""))
        if not number or not windows.number(secret):
            self._windows[token.id] = windows.admit(Bearer(f"mcp {token.id}", False))
        return self._windows[token.id][0]


def _text(given: dict[str, Any], name: str) -> str:
    """Raises CommandError ``malformed``."""
    value = given.get(name, "")
    if not isinstance(value, str):
        raise CommandError("malformed", "“{name}” must be a string.", name=name)
    return value
