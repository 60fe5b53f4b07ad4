"""Serves the routes: the client's identity, permissions, bodies, errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from jupyter_server.base.handlers import APIHandler
from tornado import web

from ...base.errors import CodeInterpError, CommandError, StoreError
from ...base.sentences import in_english
from ...base.translation import translated
from ...extensions import Route
from ..socket.handler import may

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...session.server.manager import SessionManager

T = TypeVar("T")

WINDOW_HEADER = "X-Codeinterp-Window"
"""Holds the secret of the window or client."""
MAX_BODY = 1_000_000
"""Bytes."""
_STATUS = {
    code: status
    for status, codes in {
        HTTPStatus.FORBIDDEN: "no_session no_window not_allowed",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
        HTTPStatus.NOT_FOUND: """
            unknown_session unknown_path unknown_provider unknown_step unknown_turn
            unknown_notebook unknown_draft unknown_server unknown_question
            table_gone table_restarted""",
        HTTPStatus.CONFLICT: """
            server_refused table_busy table_slow key_in_environment already_decided
            stale_decision busy in_folder no_longer_waits not_queued too_many_queued
            held_elsewhere""",
        HTTPStatus.BAD_GATEWAY: "offline server_error",
        HTTPStatus.TOO_MANY_REQUESTS: "too_many_windows",
        HTTPStatus.INTERNAL_SERVER_ERROR: "not_kept",
    }.items()
    for code in codes.split()
}

NO_WINDOW = (
    "This needs a window of the Code Interpreter: connect the panel, and try again. "
    "(A program gets a secret from POST clients, and sends it as X-Codeinterp-Window.)"
)


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An empty body."""


class Handler(APIHandler):
    """All routes of one path. Methods other than GET need a window's or client's secret. The
    server's token is not enough, because code in a kernel can read it."""

    auth_resource = "contents"
    by = 0
    """The number of the asking window or client; 0 if none is needed."""

    def initialize(self, routes: Mapping[str, Route]) -> None:
        """``routes``: by method."""
        self._routes = routes
        self.bench: Workbench = self.settings["codeinterp_bench"]
        self.manager: SessionManager = self.bench.manager
        self.at_disconnect: Callable[[], object] = lambda: None

    async def prepare(self) -> None:  # type: ignore[override]
        """Raises CommandError ``no_window``. ``_serve`` checks the login."""
        await super().prepare()
        asks = self.request.method not in ("GET", "HEAD", "OPTIONS")
        route = self._routes.get(self.request.method or "")
        needed = asks and (route is None or route.needs_window)
        if needed and not self._finished and self.current_user is not None:
            self.by = self.manager.windows.number(self.request.headers.get(WINDOW_HEADER, ""))
            if not self.by:
                raise CommandError("no_window", NO_WINDOW)

    @web.authenticated
    async def _serve(self, *parts: str) -> None:
        route = self._routes.get(self.request.method or "")
        if route is None:
            raise web.HTTPError(HTTPStatus.METHOD_NOT_ALLOWED)
        await self.need(*route.needs)
        answer = await route.work(self, *parts)
        if self._finished:
            return
        self.set_status(HTTPStatus.NO_CONTENT if answer is None else route.status)
        if answer is None:
            self.finish()
        else:
            self.answer(answer)

    get = post = put = patch = delete = _serve

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self.at_disconnect()

    async def need(self, *permissions: tuple[str, str]) -> None:
        """Raises HTTPError 403 without one of them."""
        for action, resource in permissions:
            if not await may(self, action, resource):
                words = f"User is not authorized to {action} on resource: {resource}."
                raise web.HTTPError(HTTPStatus.FORBIDDEN, words)

    def answer(self, value: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(value, enc_hook=self.words))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer our errors as JSON; leave others to jupyter_server."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, CodeInterpError):
            ours = isinstance(error, StoreError)
            otherwise = HTTPStatus.INTERNAL_SERVER_ERROR if ours else HTTPStatus.BAD_REQUEST
            self.set_status(_STATUS.get(error.code, otherwise))
            self.answer(described(error))
        else:
            super().write_error(status_code, **kwargs)

    def words(self, sentence: object) -> str:
        """A sentence in the page's language for a browser, which sends ``Accept-Language``; else in
        English."""
        browser = "Accept-Language" in self.request.headers
        return translated(sentence) if browser else in_english(sentence)

    def log_exception(self, *exc_info: Any) -> None:
        if isinstance(exc_info[1], StoreError) or not isinstance(exc_info[1], CodeInterpError):
            super().log_exception(*exc_info)

    def body(self) -> dict[str, Any]:
        """The body as a dict. Raises CommandError ``malformed`` or ``too_large``."""
        return dict(self.given(dict[str, Any]))

    def given(self, kind: type[T]) -> T:
        """The body as a ``kind``. Raises CommandError ``malformed`` or ``too_large``."""
        if len(self.request.body) > MAX_BODY:
            words = "The request is larger than {limit:,} bytes."
            raise CommandError("too_large", words, limit=MAX_BODY)
        return _read(lambda: msgspec.json.decode(self.request.body or b"{}", type=kind))

    def text(self, given: dict[str, Any], name: str) -> str:
        value = given.get(name, "")
        if not isinstance(value, str):
            raise CommandError("malformed", "“{name}” must be a string.", name=name)
        return value.strip()


def described(error: CodeInterpError) -> dict[str, str]:
    return {"code": error.code, "message": error.message}


def converted(given: dict[str, Any], kind: Any) -> Any:
    """A decoded body as a ``kind``. Raises CommandError ``malformed``."""
    return _read(lambda: msgspec.convert(given, kind))


def _read(read: Callable[[], T]) -> T:
    try:
        return read()
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        words = "Not the expected JSON object: {why}"
        raise CommandError("malformed", words, why=error) from None
