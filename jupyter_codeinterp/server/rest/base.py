"""What all handlers of the REST side have in common: bodies, errors in words, who asks."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from jupyter_server.base.handlers import APIHandler

from ...core.errors import CodeInterpError, CommandError, StoreError
from ...core.stores import Journal
from ..models import Models
from ..notebook_kernels import NotebookKernels
from ..session_manager import SessionManager

T = TypeVar("T")

WINDOW_HEADER = "X-Codeinterp-Window"
"""Carries the window's or the client's secret."""
MAX_BODY = 1_000_000
"""Bytes."""
_STATUS = {
    "no_session": HTTPStatus.FORBIDDEN,
    "no_window": HTTPStatus.FORBIDDEN,
    "closed_window": HTTPStatus.FORBIDDEN,
    "not_allowed": HTTPStatus.FORBIDDEN,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "unknown_session": HTTPStatus.NOT_FOUND,
    "unknown_provider": HTTPStatus.NOT_FOUND,
    "unknown_step": HTTPStatus.NOT_FOUND,
    "unknown_turn": HTTPStatus.NOT_FOUND,
    "unknown_notebook": HTTPStatus.NOT_FOUND,
    "unknown_draft": HTTPStatus.NOT_FOUND,
    "unknown_question": HTTPStatus.NOT_FOUND,
    "key_in_environment": HTTPStatus.CONFLICT,
    "already_decided": HTTPStatus.CONFLICT,
    "stale_decision": HTTPStatus.CONFLICT,
    "busy": HTTPStatus.CONFLICT,
    "no_longer_waits": HTTPStatus.CONFLICT,
    "not_queued": HTTPStatus.CONFLICT,
    "too_many_queued": HTTPStatus.CONFLICT,
    "held_elsewhere": HTTPStatus.CONFLICT,
    "not_kept": HTTPStatus.INTERNAL_SERVER_ERROR,
    "offline": HTTPStatus.BAD_GATEWAY,
    "server_error": HTTPStatus.BAD_GATEWAY,
}

NO_WINDOW = (
    "This is done in a window of the Code Interpreter: connect the panel, and try again. "
    "(A program gets a secret from POST clients, and sends it as X-Codeinterp-Window.)"
)


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request that needs none."""


class Handler(APIHandler):
    auth_resource = "contents"

    @property
    def manager(self) -> SessionManager:
        manager: SessionManager = self.settings["codeinterp_manager"]
        return manager

    @property
    def models(self) -> Models:
        models: Models = self.settings["codeinterp_models"]
        return models

    @property
    def store(self) -> Journal:
        store: Journal = self.settings["codeinterp_store"]
        return store

    @property
    def kernels(self) -> NotebookKernels:
        kernels: NotebookKernels = self.settings["codeinterp_kernels"]
        return kernels

    def answer(self, value: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(value))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Errors of ours in words; the others as jupyter_server writes them."""
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
        """Of any names. Raises CommandError ``malformed`` or ``too_large``."""
        return dict(self.given(dict[str, Any]))

    def given(self, kind: type[T]) -> T:
        """The body as a value. Raises CommandError ``malformed`` or ``too_large``."""
        if len(self.request.body) > MAX_BODY:
            raise CommandError("too_large", f"The request is larger than {MAX_BODY:,} bytes.")
        try:
            return msgspec.json.decode(self.request.body or b"{}", type=kind)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            words = f"Not the JSON object that is expected: {error}"
            raise CommandError("malformed", words) from None

    def text(self, given: dict[str, Any], name: str) -> str:
        value = given.get(name, "")
        if not isinstance(value, str):
            raise CommandError("malformed", f"“{name}” must be a string.")
        return value.strip()

    def window(self) -> int:
        """The number of the window that asks. Raises CommandError ``no_window``: the
        server's token alone is not enough here, for code in a kernel may have it."""
        number = self.manager.known.number(self.request.headers.get(WINDOW_HEADER, ""))
        if not number:
            raise CommandError("no_window", NO_WINDOW)
        return number
