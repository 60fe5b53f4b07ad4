"""How the services differ. Each trait was reported of the service by those who met it, or stands
in its documentation (November 2026)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fake_anthropic.turns import HttpError


@dataclass(frozen=True)
class Manner:
    """reasoning      where it stands in a piece of an answer; "" for nowhere
    indexed        pieces of calls have an index
    signed         calls have signatures, which must come back (``extra_content``)
    strict_order   what a person says may not follow the result of a tool
    usage          in a chunk of its own after the reason to stop, or with it
    counts_all     ``completion_tokens`` has the reasoning in it
    stops          whether a call makes ``finish_reason`` "tool_calls", or it stays "stop"
    parameters     what a request may have
    refuses        whether there is a field for a refusal in words
    """

    name: str
    service: str
    reasoning: Literal["item", "reasoning_content", "chunks", ""]
    indexed: bool = True
    signed: bool = False
    strict_order: bool = False
    usage: Literal["after", "with"] = "after"
    counts_all: bool = True
    stops: bool = True
    parameters: frozenset[str] = frozenset()
    refuses: bool = True
    wrong_key: HttpError = field(
        default_factory=lambda: error(
            401, "Incorrect API key provided: wr***ng.", "invalid_request_error", "invalid_api_key"
        )
    )


def error(
    status: int, message: str, kind: str, code: str | int | None = None, param: str | None = None
) -> HttpError:
    """In the shape of these APIs. ``HttpError`` has details for what Anthropic's has not."""
    details: dict[str, Any] = {"code": code, "param": param}
    return HttpError(status, kind, message, details=details)


_CHAT = frozenset({"model", "messages", "tools", "tool_choice", "stream", "max_tokens"})

RESPONSES = Manner(
    "responses",
    "openai",
    "item",
    parameters=frozenset(
        {
            *("model", "input", "instructions", "tools", "parallel_tool_calls", "stream"),
            "tool_choice",
            *("max_output_tokens", "store", "include", "reasoning"),
        }
    ),
)
AZURE = Manner(
    "azure",
    "azure-openai",
    "item",
    parameters=RESPONSES.parameters,
    wrong_key=error(
        401,
        "Access denied due to invalid subscription key or wrong API endpoint. Make sure to "
        "provide a valid key for an active subscription.",
        "",
        "401",
    ),
)
LOCAL = Manner(
    "chat", "openai-compatible", "reasoning_content", parameters=_CHAT | {"stream_options"}
)
GEMINI = Manner(
    "gemini",
    "gemini",
    "",
    indexed=False,
    signed=True,
    usage="with",
    stops=False,
    refuses=False,
    parameters=_CHAT | {"stream_options"},
    wrong_key=error(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
)
MISTRAL = Manner(
    "mistral",
    "mistral",
    "chunks",
    strict_order=True,
    usage="with",
    refuses=False,
    parameters=_CHAT,
    wrong_key=error(401, "Unauthorized", "invalid_request_error"),
)
XAI = Manner(
    "xai",
    "xai",
    "reasoning_content",
    counts_all=False,
    parameters=_CHAT | {"stream_options"},
    wrong_key=error(400, "Incorrect API key provided: wr***ng.", "invalid-argument"),
)
