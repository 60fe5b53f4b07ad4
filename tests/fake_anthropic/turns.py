"""What the fake answers, built from small parts: ``answer(text("Look:"), run_cell("1 + 1"))``.

A step of a script is a ``Turn`` (an answer that streams), an ``HttpError`` (an answer that
does not), or a function of the request that gives one of the two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .request import Request


@dataclass(frozen=True)
class Speed:
    """``first``: seconds before the first byte. ``delay``: seconds after each delta.
    ``chunk``: characters a delta. ``split``: bytes a write; 0 for whole frames."""

    first: float = 0.0
    delay: float = 0.0
    chunk: int = 12
    split: int = 0


@dataclass(frozen=True)
class Cut:
    """Where an answer goes wrong: after so many deltas.

    reset   the connection is torn
    end     the body ends cleanly, without message_stop
    stall   nothing comes any more, until the client gives up
    error   an ``error`` event of type ``error_type``
    hang    all is said, message_stop too, but the body does not end
    """

    how: Literal["reset", "end", "stall", "error", "hang"]
    after: int = 1
    error_type: str = "overloaded_error"
    message: str = "Overloaded"


@dataclass(frozen=True)
class TextBlock:
    text: str


@dataclass(frozen=True)
class ThinkingBlock:
    """Signed by the server when it is sent."""

    thinking: str


@dataclass(frozen=True)
class RedactedBlock:
    data: str


@dataclass(frozen=True)
class CallBlock:
    """A tool call. ``json`` is its input as sent, right or wrong; None sends no delta at
    all. ``whole``: in one delta. ``id`` empty: the server makes one."""

    name: str
    json: str | None
    id: str = ""
    whole: bool = False


@dataclass(frozen=True)
class RawEvents:
    """Events that are sent as they are, such as of types that nobody knows yet."""

    events: Iterable[dict[str, Any]]


Block = TextBlock | ThinkingBlock | RedactedBlock | CallBlock | RawEvents


@dataclass(frozen=True)
class Turn:
    """An answer that streams. ``stop`` empty: tool_use if there is a call, else end_turn;
    None: no reason is given. ``speed`` None: the server's."""

    blocks: tuple[Block, ...]
    stop: str | None = ""
    stop_details: dict[str, Any] | None = None
    cut: Cut | None = None
    speed: Speed | None = None

    @property
    def stop_reason(self) -> str | None:
        if self.stop != "":
            return self.stop
        calls = any(isinstance(block, CallBlock) for block in self.blocks)
        return "tool_use" if calls else "end_turn"

    def at(self, **speed: float) -> Turn:
        return replace(self, speed=Speed(**speed))  # type: ignore[arg-type]

    def cut_by(
        self, how: Literal["reset", "end", "stall", "error", "hang"], after: int = 1
    ) -> Turn:
        return replace(self, cut=Cut(how, after))


@dataclass(frozen=True)
class HttpError:
    status: int
    type: str
    message: str
    details: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)


Answer = Turn | HttpError
Step = Answer | Callable[["Request"], Answer]


# --- parts of an answer --------------------------------------------------------------


def answer(
    *blocks: Block, stop: str | None = "", stop_details: dict[str, Any] | None = None
) -> Turn:
    return Turn(blocks, stop, stop_details)


def text(words: str) -> TextBlock:
    return TextBlock(words)


def thinking(words: str) -> ThinkingBlock:
    return ThinkingBlock(words)


def call(name: str, arguments: dict[str, Any], *, id: str = "", whole: bool = False) -> CallBlock:
    return CallBlock(name, json.dumps(arguments, ensure_ascii=False), id, whole)


def raw_call(name: str, json_text: str | None, *, id: str = "") -> CallBlock:
    return CallBlock(name, json_text, id)


def run_cell(source: str, *, title: str = "", after: str = "") -> CallBlock:
    return call("run_cell", _given(title=title, position=after and f"after:{after}", source=source))


def edit_cell(cell: str, source: str, *, title: str = "") -> CallBlock:
    return call("edit_cell", _given(title=title, cell_id=cell, source=source))


def raw_events(*events: dict[str, Any]) -> RawEvents:
    return RawEvents(events)


def _given(**properties: str) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value or name == "source"}


# --- answers that are errors, in the API's own words ---------------------------------


def rate_limited(retry_after: str | None = "1") -> HttpError:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    message = "This request would exceed your organization's rate limit of 50 requests per minute."
    return HttpError(429, "rate_limit_error", message, headers=headers)


def spend_limited(code: str = "enforced_spend_limit_reached") -> HttpError:
    if code != "enforced_spend_limit_reached":
        message = "Your organization has spent what was agreed on."
        return HttpError(429, "rate_limit_error", message, details={"error_code": code})
    message = (
        "You have reached your API usage limits: your organization has crossed its monthly API "
        "usage threshold, set based on your organization's API tier. You will regain access on "
        "2026-12-01 at 00:00 UTC."
    )
    return HttpError(429, "rate_limit_error", message, details={"error_code": code})


def own_spend_limited() -> HttpError:
    """The limit that a customer has set, which comes as a 400."""
    message = (
        "You have reached your specified API usage limits. You will regain access on 2026-12-01 "
        "at 00:00 UTC."
    )
    return HttpError(400, "invalid_request_error", message)


def overloaded() -> HttpError:
    return HttpError(529, "overloaded_error", "Overloaded")


def server_error() -> HttpError:
    return HttpError(500, "api_error", "Internal server error")


def wrong_key() -> HttpError:
    return HttpError(401, "authentication_error", "invalid x-api-key")


def forbidden() -> HttpError:
    message = "Your API key does not have permission to use the specified resource."
    return HttpError(403, "permission_error", message)


def bad_request(message: str) -> HttpError:
    return HttpError(400, "invalid_request_error", message)


def unknown_model(model: str) -> HttpError:
    return HttpError(404, "not_found_error", f"model: {model}")


def prompt_too_long(tokens: int, most: int) -> HttpError:
    return bad_request(f"prompt is too long: {tokens} tokens > {most} maximum")
