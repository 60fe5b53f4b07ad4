"""Registers windows, other clients with the same permissions, and tokens of outside agents."""

from __future__ import annotations

from typing import Any

import msgspec

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


async def issue_ticket(handler: Handler) -> dict[str, str]:
    """Register a window. Needs the browser's cookies and no token: code in a kernel can read
    the server's token, but not cookies."""
    bearer = _browser(handler)
    secret = handler.text(handler.body(), "secret")
    ticket, secret = handler.manager.windows.issue(bearer, secret)
    return {"ticket": ticket, "secret": secret}


async def admit_client(handler: Handler) -> dict[str, Any]:
    """Register a client without a socket, by the same rule."""
    bearer = _browser(handler)
    handler.given(Nothing)
    number, secret = handler.manager.windows.admit(bearer)
    return {"client": number, "secret": secret}


def _browser(handler: Handler) -> Bearer:
    bearer = bearer_of(handler)
    if bearer.has_token and not handler.settings["codeinterp_token_windows"]:
        raise CommandError("no_session", TOKEN_ONLY)
    return bearer


async def leave(handler: Handler) -> None:
    secret = handler.text(handler.body(), "secret")
    handler.manager.departing(handler.manager.windows.number(secret))


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


def _mcp(handler: Handler) -> Endpoint:
    endpoint: Endpoint = handler.settings["codeinterp_mcp"]
    return endpoint


async def mcp_tokens(handler: Handler) -> ListedTokens:
    mcp = _mcp(handler)
    return ListedTokens(mcp.tokens.all(), mcp.installed, mcp.runs_at_once)


async def make_mcp_token(handler: Handler) -> MadeToken:
    given = handler.given(NewToken)
    maker = {name: value for name, value in vars(handler.current_user).items() if _is_json(value)}
    token, secret = _mcp(handler).tokens.make(given.name, given.scope, maker)
    return MadeToken(**msgspec.structs.asdict(token), token=secret)


def _is_json(value: object) -> bool:
    try:
        return bool(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return False


async def revoke_mcp_token(handler: Handler, token_id: str) -> None:
    _mcp(handler).tokens.revoke(token_id)
