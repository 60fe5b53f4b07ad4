"""The exceptions of the core. A failed tool is not an exception but a result.

CodeInterpError            has ``code`` (stable, for programs) and a message for people
├── CommandError           a command that cannot be carried out; answered to its sender
├── ModelError             a model call that ended the turn
│     codes: no_key, wrong_key, forbidden, unknown_model, bad_request, offline,
│            rate_limit, overloaded, server_error, spend_limit, broken_stream,
│            context_full, not_allowed, not_installed, day_limit
├── ToolServerError        an MCP server fails: not_started, ended, too_slow,
│                          refused, not_installed
├── KernelError            the kernel cannot run anything: no_kernel, kernel_dead,
│                          kernel_changed
├── DocumentError          no notebook to work on: not_open
└── StoreError             the journal cannot be written or read
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any


class _Named(Formatter):
    def get_field(self, field_name: str, _: Any, kwargs: Mapping[str, Any]) -> Any:
        return kwargs[field_name], field_name


def filled(template: str, arguments: Mapping[str, Any]) -> str:
    """The sentence. Only a field's exact name stands for its argument, so ``{name.attribute}``
    raises KeyError; what an argument contains is not filled."""
    return _Named().vformat(template, (), arguments).strip() if arguments else template


class CodeInterpError(Exception):
    """``template`` is what a translator knows; ``message`` is it in English, filled."""

    def __init__(self, code: str, template: str, /, **arguments: Any) -> None:
        self.code = code
        self.template = template
        self.arguments = arguments
        self.message = filled(template, arguments)
        super().__init__(self.message)


class CommandError(CodeInterpError):
    pass


class ModelError(CodeInterpError):
    """A model call failed for good. ``retry_after``: seconds, if the server named them."""

    def __init__(self, code: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(code, message)
        self.retry_after = retry_after


class ToolServerError(CodeInterpError):
    pass


class KernelError(CodeInterpError):
    pass


class DocumentError(CodeInterpError):
    pass


class StoreError(CodeInterpError):
    pass
