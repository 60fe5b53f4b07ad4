"""``/codeinterp/api/mcp``: from tornado's requests to the package's ASGI application. Also REST for
clients' tokens.

Only a client's token counts for MCP. Cookies, the server's token and URL parameters do not, so no
web page can be tricked into a call.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import msgspec
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.auth.identity import User
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import ensure_async
from tornado import web
from tornado.iostream import StreamClosedError

from ...base.errors import CodeInterpError, CommandError
from ...extensions import Route
from ...server.rest.base import Handler
from ...wire.commands import BOTH, LOOK
from .service import ClientService
from .tokens import CALLER, Scope, Token, TokenHolder

_STATUS = {
    "no_token": HTTPStatus.UNAUTHORIZED,
    "wrong_origin": HTTPStatus.FORBIDDEN,
    "not_installed": HTTPStatus.NOT_IMPLEMENTED,
}
UNKNOWN = "mcp"
"""The username for tokens of earlier versions, which have no maker."""
WRONG_ORIGIN = "Web pages of other sites cannot use this server."


class McpHandler(JupyterHandler):
    """Uses the setting ``codeinterp_mcp``. The server itself checks ``Host``."""

    def check_xsrf_cookie(self) -> None:
        """Skip the check, because cookies do not count here."""

    def initialize(self) -> None:
        self._service: ClientService = self.settings["codeinterp_mcp"]
        self._gone = asyncio.Event()

    @allow_unauthenticated
    async def post(self) -> None:
        await self._serve()

    @allow_unauthenticated
    async def get(self) -> None:
        await self._serve()

    @allow_unauthenticated
    async def delete(self) -> None:
        await self._serve()

    async def _serve(self) -> None:
        try:
            token = self._token()
            sessions = await self._service.sessions(token.id)
        except CodeInterpError as error:
            self._refuse(error)
            return
        self.clear_header("Content-Type")
        await sessions.handle(self._scope(token), self._receiver(), self._send)
        if not self._finished:
            with suppress(StreamClosedError):
                await self.finish()

    def _token(self) -> Token:
        """Raises CommandError ``wrong_origin`` or ``no_token``."""
        if not self.check_origin():
            raise CommandError("wrong_origin", WRONG_ORIGIN)
        kind, _, secret = self.request.headers.get("Authorization", "").partition(" ")
        return self._service.tokens.find(secret.strip() if kind.lower() == "bearer" else "")

    def _refuse(self, error: CodeInterpError) -> None:
        status = _STATUS.get(error.code, HTTPStatus.INTERNAL_SERVER_ERROR)
        self.set_status(status)
        if status == HTTPStatus.UNAUTHORIZED:
            self.set_header("WWW-Authenticate", "Bearer")
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode({"code": error.code, "message": str(error.message)}))

    # --- ASGI ------------------------------------------------------------------------

    def _scope(self, token: Token) -> dict[str, Any]:
        request = self.request
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in request.headers.get_all()
            if name.lower() not in ("authorization", "cookie")
        ]
        return {
            "type": "http",
            "method": request.method,
            "path": request.path,
            "query_string": b"",
            "headers": headers,
            CALLER: TokenHolder(token, self._may),
        }

    async def _may(self, action: str, resource: str) -> bool:
        """Whether the server's authorizer lets the token's maker do this."""
        maker = dict(self._service.tokens.maker(self._token().id))
        user = User(str(maker.get("username") or UNKNOWN))
        vars(user).update(maker)  # Logins add fields, which their authorizers ask for.
        try:
            asked = self.authorizer.is_authorized(self, user, action, resource)
            return bool(await ensure_async(asked))
        except Exception:
            self.log.exception("The authorizer cannot judge the maker of an MCP token")
            return False

    def _receiver(self) -> Any:
        body = {"type": "http.request", "body": self.request.body, "more_body": False}
        first = [body]

        async def receive() -> dict[str, Any]:
            if first:
                return first.pop()
            await self._gone.wait()
            return {"type": "http.disconnect"}

        return receive

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.set_status(message["status"])
            for name, value in message["headers"]:
                if name.lower() != b"content-length":
                    self.add_header(name.decode("latin-1"), value.decode("latin-1"))
        elif message["type"] == "http.response.body":
            self.write(message.get("body", b""))
            if message.get("more_body", False):
                # ``receive`` reports that the client has gone.
                with suppress(StreamClosedError):
                    await self.flush()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._gone.set()


class NoDiscoveryHandler(JupyterHandler):
    """Answers 404. Clients that find OAuth would ignore the token in their settings."""

    @allow_unauthenticated
    async def get(self) -> None:
        raise web.HTTPError(HTTPStatus.NOT_FOUND)


# --- REST for tokens -----------------------------------------------------------------


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


async def tokens(handler: Handler) -> ListedTokens:
    mcp: ClientService = handler.settings["codeinterp_mcp"]
    return ListedTokens(mcp.tokens.all(), mcp.installed, mcp.runs_at_once)


async def make_token(handler: Handler) -> MadeToken:
    given = handler.given(NewToken)
    mcp: ClientService = handler.settings["codeinterp_mcp"]
    maker = {name: value for name, value in vars(handler.current_user).items() if _is_json(value)}
    token, secret = mcp.tokens.make(given.name, given.scope, maker)
    return MadeToken(**msgspec.structs.asdict(token), token=secret)


def _is_json(value: object) -> bool:
    try:
        return bool(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return False


async def revoke_token(handler: Handler, token_id: str) -> None:
    handler.settings["codeinterp_mcp"].tokens.revoke(token_id)


PROTOCOL_ROUTES: tuple[tuple[str, type[JupyterHandler]], ...] = (
    (r"mcp", McpHandler),
    (r"mcp/(?:.*/)?\.well-known/.*", NoDiscoveryHandler),
    (r"\.well-known/.*", NoDiscoveryHandler),
)
"""These need a client's token instead of a login."""
TOKEN = r"([0-9a-f]{16})"
REST_ROUTES: tuple[Route, ...] = (
    Route("GET", r"mcp/tokens", (LOOK,), tokens),
    Route("POST", r"mcp/tokens", BOTH, make_token, HTTPStatus.CREATED),
    Route("DELETE", rf"mcp/tokens/{TOKEN}", BOTH, revoke_token),
)
ROUTES: tuple[Any, ...] = (*REST_ROUTES, *PROTOCOL_ROUTES)
