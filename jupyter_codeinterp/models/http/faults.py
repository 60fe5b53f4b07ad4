"""Faults of a model call: what to say, and whether to try again.

Sources: platform.claude.com/docs/api/errors and api/rate-limits, developers.openai.com's guide
to error codes. Other servers' wordings come from answers of llama.cpp, vLLM, Ollama, Gemini,
Mistral, xAI and OpenRouter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from ...base.sentences import Sentence, together
from ...wire.providers import origin
from .service import ModelServer

_SHORTEST_SECRET = 8
"""Characters; a local server's key ("ollama") may occur in any sentence."""
_LONGEST_READ = 2_000
"""Characters of a server's message that are searched."""
_SPEND_KINDS = frozenset(
    {
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "linked_organization_spend_limit_reached",
        "insufficient_quota",
        "billing_hard_limit_reached",
    }
)
_SPEND_WORDS = ("api usage limits", "credit balance is too low", "used all available credits")
_LENGTH_KINDS = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_LENGTH_WORDS = (
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "exceeds the available context size",
    "maximum context length",
    "maximum prompt length",
    "exceeds the context window",
    "input token count exceeds",
)
_KEY_WORDS = ("api key not valid", "incorrect api key", "invalid api key")
_MODEL_KINDS = frozenset({"model_not_found", "invalid_model"})
_PDF_WORDS = ("pdf", "input_file", "file_data", "document block")
_IMAGE_WORDS = ("image", "multimodal")
IMAGES, DOCUMENTS = "images", "documents"
"""Parts that a repeated request may leave out."""
_STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "context_length_exceeded": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "overloaded_error": 529,
    "server_overloaded": 529,
}
"""Statuses by error type or code, for errors in mid-stream: their HTTP status was 200. Others are
500."""


class Fault(Exception):
    """``again``: worth another try. ``retry_after``: seconds, if the server named them.
    ``without``: what the model does not accept; a request without it may follow at once."""

    def __init__(
        self,
        code: str,
        message: Sentence,
        *,
        again: bool = False,
        retry_after: float | None = None,
        without: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.again = again
        self.retry_after = retry_after
        self.without = without


class ApiRefusal(msgspec.Struct, frozen=True):
    """An error answer. ``kinds`` are its type and code, ``param`` the parameter at fault.
    ``message`` may be of any type."""

    status: int
    message: object = ""
    kinds: frozenset[str] = frozenset()
    param: str = ""
    headers: Mapping[str, str] = {}


def status_of(kinds: frozenset[str]) -> int:
    """The HTTP status that an error in mid-stream would have had."""
    return next((_STATUS_OF_KIND[kind] for kind in sorted(kinds & _STATUS_OF_KIND.keys())), 500)


def status_fault(
    refusal: ApiRefusal, server: ModelServer, model: str, optional: tuple[str, ...] = ()
) -> Fault:
    """``optional``: parameters that the request can go without."""
    place, status = server.place, refusal.status
    said = _server_words(refusal.message, server)
    lower = said.lower()
    refused = together(
        Sentence("{place} refused the request ({status}).", place=place, status=status), said
    )
    if _is_spend_limit(refusal, lower):
        return Fault(
            "spend_limit",
            together(
                Sentence("The account reached its spending limit."),
                said,
                Sentence("Raise the limit or wait for its reset, then try again."),
            ),
        )
    if status == 413 or refusal.kinds & _LENGTH_KINDS or _has(lower, _LENGTH_WORDS):
        return Fault(
            "context_full", together(Sentence("The conversation is too long for the model."), said)
        )
    if without := _refused_part(refusal, lower, optional):
        return Fault("bad_request", refused, without=without)
    if status == 401 or (status in (400, 403) and _has(lower, _KEY_WORDS)):
        return _wrong_key(place) if server.secret else no_key(server)
    if status == 403:
        return Fault(
            "forbidden",
            together(
                Sentence("{place} does not allow this request.", place=place),
                said,
                Sentence("Ask whoever manages the account, or use another key."),
            ),
        )
    if status == 404 or (status in (400, 422) and refusal.kinds & _MODEL_KINDS):
        return Fault(
            "unknown_model",
            together(
                Sentence("{place} does not know the model “{model}”.", place=place, model=model),
                said,
                Sentence("Choose another model, or check the server's address."),
            ),
        )
    return _passing(refusal, place, said) or Fault("bad_request", refused)


def _passing(refusal: ApiRefusal, place: str, said: Sentence) -> Fault | None:
    """The Fault of a status after which the request may be sent again; None for others."""
    status = refusal.status
    if status == 429:
        code, words = "rate_limit", Sentence("The rate limit of {place} is reached.", place=place)
    elif status == 529:
        code, words = "overloaded", Sentence("{place} is overloaded.", place=place)
    elif status in (408, 409) or status >= 500:
        code = "server_error"
        words = Sentence("{place} had an internal error ({status}).", place=place, status=status)
    else:
        return None
    again = refusal.headers.get("x-should-retry") != "false"
    wait = _retry_after(refusal.headers.get("retry-after"))
    return Fault(code, together(words, said), again=again, retry_after=wait)


def connection_fault(reason: str, server: ModelServer) -> Fault:
    far, near = Sentence("Check the network."), Sentence("Check that it is running.")
    hint = far if server.is_public else near
    return Fault(
        "offline",
        Sentence(
            "{place} cannot be reached: {reason}. {hint}",
            place=server.place,
            reason=reason,
            hint=hint,
        ),
        again=True,
    )


def no_model_server(server: ModelServer) -> Fault:
    place = origin(server.base_url).removeprefix("http://")
    message = Sentence(
        "The server at {place} is not a model server. Check the address.", place=place
    )
    return Fault("offline", message)


def no_key(server: ModelServer) -> Fault:
    for name in server.service.key_variables[:1]:
        words = Sentence(
            "{place} needs an API key. Paste a key in the panel, run “jupyter codeinterp key set”, "
            "or set {name} and restart.",
            place=server.place,
            name=name,
        )
        return Fault("no_key", words)
    words = Sentence(
        "{place} needs an API key. Paste a key in the panel, or run “jupyter codeinterp key set”.",
        place=server.place,
    )
    return Fault("no_key", words)


def _wrong_key(place: str) -> Fault:
    return Fault(
        "wrong_key",
        Sentence(
            "{place} rejected the API key. Check that it is complete and still "
            "valid, then paste it again.",
            place=place,
        ),
    )


def _server_words(message: object, server: ModelServer) -> Sentence:
    """The server's message as a sentence, shortened, and never with the key in it."""
    words = " ".join(message[:_LONGEST_READ].split())[:300] if isinstance(message, str) else ""
    if server.secret and len(server.secret) >= _SHORTEST_SECRET:
        words = words.replace(server.secret, "[key]")
    return Sentence("It says: {words}.", words=words.rstrip(".")) if words else Sentence()


def _has(lower: str, words: tuple[str, ...]) -> bool:
    return any(each in lower for each in words)


def _is_spend_limit(refusal: ApiRefusal, lower: str) -> bool:
    words = _has(lower, _SPEND_WORDS) and refusal.status in (400, 403, 429)
    return refusal.status == 402 or bool(refusal.kinds & _SPEND_KINDS) or words


def _refused_part(refusal: ApiRefusal, lower: str, optional: tuple[str, ...]) -> str:
    """What to leave out: a parameter of ``optional``, ``DOCUMENTS`` or ``IMAGES``; "" for
    nothing."""
    if refusal.status in (400, 422):
        for name in optional:
            if refusal.param in (name, name.partition(".")[0]) or f"'{name}'" in lower:
                return name
        if _has(lower, _PDF_WORDS):
            return DOCUMENTS
    can_be_files = refusal.status in (400, 404, 422, 500)  # llama.cpp: 500, OpenRouter: 404
    return IMAGES if can_be_files and _has(lower, _IMAGE_WORDS) else ""


def _retry_after(header: str | None) -> float | None:
    """Seconds from now; None without a number of them."""
    try:
        seconds = float(header or "nan")
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
