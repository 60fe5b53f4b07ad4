"""``/codeinterp/api/mcp``: from tornado's requests to the package's ASGI application. Also REST for
the client's token.

Only the client's token counts for MCP. Cookies, the server's token and URL parameters do not, so no
web page can be tricked into a call.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any

import msgspec
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.auth.identity import User
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import ensure_async
from tornado import web
from tornado.iostream import StreamClosedError

from ...base.errors import CommandError
from ...extensions import Route
from ...server.rest.base import Handler
from ...wire.commands import BOTH, LOOK
from .service import ClientService, Token

_STATUS = {
    "no_token": HTTPStatus.UNAUTHORIZED,
    "not_installed": HTTPStatus.NOT_IMPLEMENTED,
    "not_kept": HTTPStatus.INTERNAL_SERVER_ERROR,
}


class McpHandler(JupyterHandler):
    """Uses the setting ``codeinterp_mcp``. The server itself checks ``Host``."""

    def check_xsrf_cookie(self) -> None:
        """Skip the check, because cookies do not count here."""

    def initialize(self) -> None:
        self._service: ClientService = self.settings["codeinterp_mcp"]
        self._is_read = False
        self._gone = asyncio.Event()

    @allow_unauthenticated
    async def _serve(self) -> None:
        if not self.check_origin():
            raise web.HTTPError(HTTPStatus.FORBIDDEN)
        kind, _, secret = self.request.headers.get("Authorization", "").partition(" ")
        secret = secret.strip() if kind.lower() == "bearer" else ""
        try:
            token = self._service.token_file.find(secret)
            protocol = await self._service.protocol()
        except CommandError as error:
            self.set_status(_STATUS[error.code])
            self.set_header("WWW-Authenticate", "Bearer")
            self.finish({"message": str(error.message)})
            return
        self.clear_header("Content-Type")
        await protocol(self._scope(token), self._receive, self._send)
        if not self._finished:
            with suppress(StreamClosedError):
                await self.finish()

    get = post = delete = _serve

    async def _may(self, maker: dict[str, Any], action: str, resource: str) -> bool:
        """Whether the server's authorizer lets the token's maker do this."""
        user = User(str(maker["username"]))
        vars(user).update(maker)  # Logins add fields, which their authorizers ask for.
        try:
            asked = self.authorizer.is_authorized(self, user, action, resource)
            return bool(await ensure_async(asked))
        except Exception:
            self.log.exception("The authorizer cannot judge the maker of an MCP token")
            return False

    # --- ASGI ------------------------------------------------------------------------

    def _scope(self, token: Token) -> dict[str, Any]:
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in self.request.headers.get_all()
            if name.lower() not in ("authorization", "cookie")
        ]
        return {
            "type": "http",
            "method": self.request.method,
            "path": self.request.path,
            "query_string": b"",
            "headers": headers,
            "codeinterp_call": partial(self._service.call, token, partial(self._may, token.maker)),
        }

    async def _receive(self) -> dict[str, Any]:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": self.request.body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.set_status(message["status"])
            for name, value in message["headers"]:
                if name.lower() != b"content-length":
                    self.add_header(name.decode("latin-1"), value.decode("latin-1"))
        elif message["type"] == "http.response.body":
            self.write(message.get("body", b""))
            if message.get("more_body", False):
                # ``_receive`` reports that the client has gone.
                with suppress(StreamClosedError):
                    await self.flush()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._gone.set()


# --- REST for the token --------------------------------------------------------------


class AgentToken(msgspec.Struct, frozen=True):
    """``made``: when the token was made, in seconds since 1970; 0 if there is none. ``token``: the
    secret, in the answer that makes it only. Nobody can read it again."""

    made: float
    token: str = ""


async def token(handler: Handler) -> AgentToken:
    known = handler.settings["codeinterp_mcp"].token_file.token
    return AgentToken(0.0 if known is None else known.made)


async def make_token(handler: Handler) -> AgentToken:
    """Replace the token."""
    maker = {name: value for name, value in vars(handler.current_user).items() if _is_json(value)}
    secret = handler.settings["codeinterp_mcp"].token_file.make(maker)
    return AgentToken((await token(handler)).made, secret)


def _is_json(value: object) -> bool:
    try:
        return bool(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return False


async def revoke_token(handler: Handler) -> None:
    handler.settings["codeinterp_mcp"].token_file.revoke()


ROUTES: tuple[Any, ...] = (
    Route("GET", r"mcp/token", (LOOK,), token),
    Route("POST", r"mcp/token", BOTH, make_token, HTTPStatus.CREATED),
    Route("DELETE", r"mcp/token", BOTH, revoke_token),
    (r"mcp", McpHandler),
)
"""The last one needs a client's token instead of a login."""
