"""Registers windows, and other clients with the same permissions."""

from __future__ import annotations

from http import HTTPStatus

from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
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
