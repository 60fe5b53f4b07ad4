"""Registers windows, and other clients with the same permissions."""

from __future__ import annotations

from typing import Any

from ...base.errors import CommandError
from ...session.server.windows import Bearer
from ..socket.handler import bearer_of
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
