"""Carries out the calls of outside clients, with the rights of their tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from ...core.approval.modes import ASKING, RUN_ALL
from ...core.errors import CodeInterpError, CommandError
from ...core.messages import Image, Text
from ...core.visible import visible_line
from ..socket.connection import NOT_ALLOWED
from ..windows.windows import Bearer
from . import notebooks
from .clients import MODELS, Clients
from .conversations import Conversation, Tell
from .delegation import ask
from .tokens import NO_TOKEN, Token, Tokens
from .tools import LOOKS, needs_of, offered

if TYPE_CHECKING:
    from ..notebook_kernels import NotebookKernels
    from ..session_manager import SessionManager

LOOKS_ONLY = "This token may only look. Ask the person for one with the scope “run”."
MAY = "codeinterp_may"
"""The name of a request's ``May`` in its ASGI scope."""
LOOKS_EVERY = 1.0
"""Seconds between looks whether the token of a call was revoked."""
LONGEST_CLIENT = 60
"""Characters of a client's name."""
MOST_CONVERSATIONS = 500
"""Remembered conversations; one more forgets the oldest that is at rest."""


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
        """``at_once``: an admin lets code of tokens with the scope ``run`` run unasked."""
        self.tokens = tokens
        self._clients = clients
        self._manager = manager
        self._kernels = kernels
        self._contents = contents
        self._at_once = at_once
        self._windows: dict[str, tuple[int, str]] = {}
        """Number and secret of each token's client among the windows, by the token's id."""
        self._conversations: dict[tuple[str, str], Conversation] = {}

    async def call(
        self, token_id: str, client: str, name: str, given: dict[str, Any], tell: Tell, may: May
    ) -> Result:
        """The result of a call of one of our tools; words if it could not be carried out, or the
        token was revoked meanwhile. Cancelling it stops what it does."""
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
        for need in needs_of(name):
            if not await may(*need):
                raise CommandError("not_allowed", NOT_ALLOWED[need])
        by = self._number(token)
        if name == "list_notebooks":
            has = self._manager.notebooks.has_window
            return Result(
                (Text(await notebooks.listed(self._contents, _text(given, "folder"), has)),)
            )
        path = await notebooks.need(self._contents, _text(given, "notebook"))
        rest = {key: value for key, value in given.items() if key != "notebook"}
        if name == "ask":
            return await self._ask(path, rest, by, tell)
        conversation = self._conversation(token, client, path)
        if name == "interrupt":
            if conversation.at_work:
                conversation.stop(by)
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
        raise CommandError("malformed", f"“{name}” must be a string.")
    return value
