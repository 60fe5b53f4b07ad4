"""Registers windows, other clients with the same permissions, and tokens of outside agents."""

from __future__ import annotations

from http import HTTPStatus

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
from ..mcp.endpoint import Endpoint
from ..mcp.tokens import Scope, Token
from ..socket.handler import bearer_of
from ..windows import Bearer
from .base import Handler, Nothing

TOKEN_ONLY = (
    "Only logged-in browsers get windows; requests with the server's token do not. Leave out "
    "the token and send the login's cookies. (An admin can allow it: "
    "c.CodeInterp.allow_token_windows.)"
)


class TicketsHandler(Handler):
    needs_window = False

    @web.authenticated
    @authorized("read")
    async def post(self) -> None:
        """Register a window. Needs the browser's cookies and no token: code in a kernel can read
        the server's token, but not cookies."""
        bearer = _browser(self)
        ticket, secret = self.manager.windows.issue(bearer, self.text(self.body(), "secret"))
        self.answer({"ticket": ticket, "secret": secret})


class ClientsHandler(Handler):
    needs_window = False

    @web.authenticated
    @authorized("read")
    async def post(self) -> None:
        """Register a client without a socket, by the same rule."""
        bearer = _browser(self)
        self.given(Nothing)
        number, secret = self.manager.windows.admit(bearer)
        self.answer({"client": number, "secret": secret})


def _browser(handler: Handler) -> Bearer:
    bearer = bearer_of(handler)
    if bearer.has_token and not handler.settings["codeinterp_token_windows"]:
        raise CommandError("no_session", TOKEN_ONLY)
    return bearer


class LeavingHandler(Handler):
    needs_window = False

    @web.authenticated
    @authorized("read")
    async def post(self) -> None:
        self.manager.departing(self.manager.windows.number(self.text(self.body(), "secret")))
        self.set_status(HTTPStatus.NO_CONTENT)
        self.finish()


# --- outside agents ------------------------------------------------------------------


class NewToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``name``: for people. ``scope``: ``look`` reads; ``run`` also changes and runs, by review."""

    name: str
    scope: Scope = "look"


class MadeToken(Token, frozen=True):
    """``token`` is the secret. Nobody can read it again."""

    token: str = ""


class ListedTokens(msgspec.Struct, frozen=True):
    """``installed``: whether the server can speak MCP. ``runs_at_once``: whether code of a token
    with the scope ``run`` runs without review."""

    tokens: tuple[Token, ...]
    installed: bool
    runs_at_once: bool


class _McpTokens(Handler):
    @property
    def mcp(self) -> Endpoint:
        endpoint: Endpoint = self.settings["codeinterp_mcp"]
        return endpoint


class McpTokensHandler(_McpTokens):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        mcp = self.mcp
        self.answer(ListedTokens(mcp.tokens.all(), mcp.installed, mcp.runs_at_once))

    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self) -> None:
        given = self.given(NewToken)
        maker = {name: value for name, value in vars(self.current_user).items() if _is_json(value)}
        token, secret = self.mcp.tokens.make(given.name, given.scope, maker)
        self.set_status(HTTPStatus.CREATED)
        self.answer(MadeToken(**msgspec.structs.asdict(token), token=secret))


def _is_json(value: object) -> bool:
    try:
        return bool(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return False


class McpTokenHandler(_McpTokens):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def delete(self, token_id: str) -> None:
        self.mcp.tokens.revoke(token_id)
        self.set_status(HTTPStatus.NO_CONTENT)
        self.finish()
