"""Who has a window, or is another client that may do what a window does."""

from __future__ import annotations

from http import HTTPStatus

from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
from ..socket.handler import bearer_of
from ..windows import Bearer
from .base import Handler, Nothing

TOKEN_ONLY = (
    "Windows are for browsers that have logged in: a request with the server's token gets none. "
    "Leave the token out, and send the cookies of the login. "
    "(An admin may allow it: c.CodeInterp.allow_token_windows.)"
)


class TicketsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def post(self) -> None:
        """A kernel can read the server's token, and not the browser's cookies: a window is
        for who comes without the one and with the other."""
        bearer = _browser(self)
        ticket, secret = self.manager.known.issue(bearer, self.text(self.body(), "secret"))
        self.answer({"ticket": ticket, "secret": secret})


class ClientsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def post(self) -> None:
        """For who has no socket: the same rule holds."""
        _browser(self)
        self.given(Nothing)
        number, secret = self.manager.known.admit()
        self.answer({"client": number, "secret": secret})


def _browser(handler: Handler) -> Bearer:
    bearer = bearer_of(handler)
    if bearer.has_token and not handler.settings["codeinterp_token_windows"]:
        raise CommandError("no_session", TOKEN_ONLY)
    return bearer


class LeavingHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def post(self) -> None:
        self.manager.goes(self.manager.known.number(self.text(self.body(), "secret")))
        self.set_status(HTTPStatus.NO_CONTENT)
        self.finish()
