"""The base class of all REST handlers: bodies, errors, the client's identity."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from jupyter_core.utils import ensure_async
from jupyter_server.base.handlers import APIHandler

from ...core.errors import CodeInterpError, CommandError, StoreError
from ...core.stores import Journal
from ..models import Models
from ..notebook_kernels import NotebookKernels
from ..session_manager import SessionManager

T = TypeVar("T")

WINDOW_HEADER = "X-Codeinterp-Window"
"""Holds the secret of the window or client."""
MAX_BODY = 1_000_000
"""Bytes."""
_STATUS = {
    "no_session": HTTPStatus.FORBIDDEN,
    "no_window": HTTPStatus.FORBIDDEN,
    "not_allowed": HTTPStatus.FORBIDDEN,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "unknown_session": HTTPStatus.NOT_FOUND,
    "unknown_path": HTTPStatus.NOT_FOUND,
    "unknown_provider": HTTPStatus.NOT_FOUND,
    "unknown_step": HTTPStatus.NOT_FOUND,
    "unknown_turn": HTTPStatus.NOT_FOUND,
    "unknown_notebook": HTTPStatus.NOT_FOUND,
    "unknown_draft": HTTPStatus.NOT_FOUND,
    "unknown_token": HTTPStatus.NOT_FOUND,
    "unknown_server": HTTPStatus.NOT_FOUND,
    "server_refused": HTTPStatus.CONFLICT,
    "server_failed": HTTPStatus.BAD_GATEWAY,
    "files_slow": HTTPStatus.SERVICE_UNAVAILABLE,
    "unknown_question": HTTPStatus.NOT_FOUND,
    "table_gone": HTTPStatus.NOT_FOUND,
    "table_restarted": HTTPStatus.NOT_FOUND,
    "table_no_file": HTTPStatus.NOT_FOUND,
    "table_busy": HTTPStatus.CONFLICT,
    "table_slow": HTTPStatus.CONFLICT,
    "key_in_environment": HTTPStatus.CONFLICT,
    "already_decided": HTTPStatus.CONFLICT,
    "stale_decision": HTTPStatus.CONFLICT,
    "busy": HTTPStatus.CONFLICT,
    "in_folder": HTTPStatus.CONFLICT,
    "no_table": HTTPStatus.CONFLICT,
    "no_longer_waits": HTTPStatus.CONFLICT,
    "not_queued": HTTPStatus.CONFLICT,
    "too_many_queued": HTTPStatus.CONFLICT,
    "held_elsewhere": HTTPStatus.CONFLICT,
    "too_many_windows": HTTPStatus.TOO_MANY_REQUESTS,
    "not_kept": HTTPStatus.INTERNAL_SERVER_ERROR,
    "offline": HTTPStatus.BAD_GATEWAY,
    "server_error": HTTPStatus.BAD_GATEWAY,
}

NO_WINDOW = (
    "This needs a window of the Code Interpreter: connect the panel, and try again. "
    "(A program gets a secret from POST clients, and sends it as X-Codeinterp-Window.)"
)

NO_PATH = (
    "Nothing has this address. docs/openapi.json lists all; ids of conversations are 32 "
    "hexadecimal digits."
)


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An empty body."""


class Handler(APIHandler):
    auth_resource = "contents"
    needs_window = True
    """Whether methods other than GET need a window's or client's secret. The server's token is
    not enough, because code in a kernel can read it. False only where a window begins or ends."""
    by = 0
    """The number of the asking window or client; 0 if none is needed."""

    def initialize(self) -> None:
        self.manager: SessionManager = self.settings["codeinterp_manager"]
        self.models: Models = self.settings["codeinterp_models"]
        self.store: Journal = self.settings["codeinterp_store"]
        self.kernels: NotebookKernels = self.settings["codeinterp_kernels"]

    async def prepare(self) -> None:  # type: ignore[override]
        """Raises CommandError ``no_window``. The methods themselves check the login."""
        await super().prepare()
        asks = self.request.method not in ("GET", "HEAD", "OPTIONS")
        if self.needs_window and asks and not self._finished and self.current_user is not None:
            self.by = self.manager.windows.number(self.request.headers.get(WINDOW_HEADER, ""))
            if not self.by:
                raise CommandError("no_window", NO_WINDOW)

    async def may(self, action: str, resource: str) -> bool:
        """Whether the user may do this. The routes' own rights are decorators."""
        asked = self.authorizer.is_authorized(self, self.current_user, action, resource)
        return bool(await ensure_async(asked))

    def answer(self, value: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(value))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer our errors as JSON; leave others to jupyter_server."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, CodeInterpError):
            ours = isinstance(error, StoreError)
            otherwise = HTTPStatus.INTERNAL_SERVER_ERROR if ours else HTTPStatus.BAD_REQUEST
            self.set_status(_STATUS.get(error.code, otherwise))
            self.answer({"code": error.code, "message": error.message})
        else:
            super().write_error(status_code, **kwargs)

    def log_exception(self, *exc_info: Any) -> None:
        if isinstance(exc_info[1], StoreError) or not isinstance(exc_info[1], CodeInterpError):
            super().log_exception(*exc_info)

    def body(self) -> dict[str, Any]:
        """The body as a dict. Raises CommandError ``malformed`` or ``too_large``."""
        return dict(self.given(dict[str, Any]))

    def given(self, kind: type[T]) -> T:
        """The body as a ``kind``. Raises CommandError ``malformed`` or ``too_large``."""
        if len(self.request.body) > MAX_BODY:
            raise CommandError("too_large", f"The request is larger than {MAX_BODY:,} bytes.")
        try:
            return msgspec.json.decode(self.request.body or b"{}", type=kind)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            words = f"Not the expected JSON object: {error}"
            raise CommandError("malformed", words) from None

    def text(self, given: dict[str, Any], name: str) -> str:
        value = given.get(name, "")
        if not isinstance(value, str):
            raise CommandError("malformed", f"“{name}” must be a string.")
        return value.strip()


class UnknownHandler(Handler):
    """Every other address of the API, such as one with a malformed id."""

    needs_window = False

    async def prepare(self) -> None:  # type: ignore[override]
        """Raises CommandError ``unknown_path``."""
        await super().prepare()
        if not self._finished and self.current_user is not None:
            raise CommandError("unknown_path", NO_PATH)
