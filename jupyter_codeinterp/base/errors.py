"""The exceptions of the core. A failed tool is not an exception but a result.

CodeInterpError            has ``code`` (stable, for programs) and a message for people
├── CommandError           a command that cannot be carried out; answered to its sender
├── ModelError             a model call that ended the turn
│     codes: no_key, wrong_key, forbidden, unknown_model, bad_request, offline,
│            rate_limit, overloaded, server_error, spend_limit, broken_stream,
│            context_full, not_allowed, not_installed, day_limit
├── ToolServerError        an MCP server fails: not_started, ended, too_slow, refused
├── KernelError            the kernel cannot run anything: no_kernel, kernel_dead,
│                          kernel_changed
├── DocumentError          no notebook to work on: not_open
└── StoreError             the journal cannot be written or read
"""

from __future__ import annotations

from .sentences import Sentence, as_it_is


class CodeInterpError(Exception):
    def __init__(self, code: str, template: str, /, **arguments: object) -> None:
        """``template`` may also be a ``Sentence``, without further arguments."""
        self.code = code
        has_all = isinstance(template, Sentence) and not arguments
        self.message = as_it_is(template) if has_all else Sentence(template, **arguments)
        super().__init__(str(self.message))


class CommandError(CodeInterpError):
    pass


class ModelError(CodeInterpError):
    pass


class ToolServerError(CodeInterpError):
    pass


class KernelError(CodeInterpError):
    pass


class DocumentError(CodeInterpError):
    pass


class StoreError(CodeInterpError):
    pass
