"""Faults of a model call: what to say, and whether to try again.

Sources: platform.claude.com/docs/api/errors and api/rate-limits, developers.openai.com's guide
to error codes. Other servers' wordings come from answers of llama.cpp, vLLM, Ollama, Gemini,
Mistral, xAI and OpenRouter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time

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
    "exceed context limit",
    "exceeds the available context size",
    "maximum context length",
    "maximum prompt length",
    "exceeds the context window",
    "input token count exceeds",
)
_KEY_KINDS = frozenset({"invalid_api_key", "api_key_invalid"})
_KEY_WORDS = ("api key not valid", "incorrect api key", "invalid api key")
_MODEL_KINDS = frozenset({"model_not_found", "invalid_model"})
_MODEL_WORDS = ("invalid model", "model not found")
_NOT = ("not support", "only support", "unsupported", "unknown variant", "not a multimodal")
_BAD_IMAGE_KINDS = frozenset({"invalid_image", "image_parse_error", "invalid_image_format"})
_BAD_IMAGE = (
    *("could not process image", "unsupported image", "a valid image", "image exceeds"),
    *("image dimensions exceed", "unable to process input image", "failed to decode image"),
)
_OF_PDF = ("pdf", "input_file", "file_data", "document block", "including documents")
_NO_TOOLS = ("--jinja", "--enable-auto-tool-choice", "that support tool use")
THESE_IMAGES, THESE_PDFS = "these images", "these PDFs"
"""Parts that a repeated request may leave out: only the files in this request, because others may
work."""
_STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
    "server_overloaded": 529,
    "context_length_exceeded": 413,
}
"""Statuses by error type or code, for errors in mid-stream: their HTTP status was 200."""


class Fault(Exception):
    """``again``: worth another try. ``retry_after``: seconds, if the server named them.
    ``without``: what the model does not accept; a request without it may follow at once.
    ``in_stream``: the server had begun to answer."""

    def __init__(
        self,
        code: str,
        message: Sentence,
        *,
        again: bool = False,
        retry_after: float | None = None,
        without: str = "",
        in_stream: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.again = again
        self.retry_after = retry_after
        self.without = without
        self.in_stream = in_stream


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
    place = server.place
    status = refusal.status
    said = _server_words(refusal.message, server)
    lower = said.lower()
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
    if name := _refused_parameter(refusal, lower, optional):
        message = together(
            Sentence("{place} refused the request ({status}).", place=place, status=status), said
        )
        return Fault("bad_request", message, without=name)
    if status in (400, 422) and _has(lower, _OF_PDF):
        message = together(
            Sentence("{place} cannot read a PDF of this conversation.", place=place), said
        )
        return Fault("bad_request", message, without=THESE_PDFS)
    if status in (400, 422) and (refusal.kinds & _BAD_IMAGE_KINDS or _has(lower, _BAD_IMAGE)):
        message = together(
            Sentence("{place} cannot read an image of this conversation.", place=place), said
        )
        return Fault("bad_request", message, without=THESE_IMAGES)
    if status != 429 and ("image" in lower or "multimodal" in lower) and _has(lower, _NOT):
        message = together(
            Sentence("The model “{model}” does not support images.", model=model), said
        )
        return Fault("bad_request", message, without="images")
    if _has(lower, _NO_TOOLS) or ("tool" in lower and _has(lower, _NOT) and status < 429):
        return Fault(
            "bad_request",
            together(
                Sentence(
                    "The model “{model}” on {place} does not support tools, which are needed "
                    "to write cells.",
                    model=model,
                    place=place,
                ),
                said,
                Sentence("Choose a model that supports tools."),
            ),
        )
    no_such_key = refusal.kinds & _KEY_KINDS or _has(lower, _KEY_WORDS)
    if status == 401 or (no_such_key and status in (400, 403)):
        return _wrong_key(place) if server.secret else no_key(server)
    return _by_status(refusal, place, model, said)


def _by_status(refusal: ApiRefusal, place: str, model: str, said: Sentence) -> Fault:
    status = refusal.status
    again = refusal.headers.get("x-should-retry") != "false"
    wait = _retry_after(refusal.headers.get("retry-after"))
    if status == 403:
        return Fault(
            "forbidden",
            together(
                Sentence("{place} does not allow this request.", place=place),
                said,
                Sentence("Ask whoever manages the account, or use another key."),
            ),
        )
    no_such_model = refusal.kinds & _MODEL_KINDS or _has(said.lower(), _MODEL_WORDS)
    if status == 404 or (no_such_model and status in (400, 422)):
        return Fault(
            "unknown_model",
            together(
                Sentence("{place} does not know the model “{model}”.", place=place, model=model),
                said,
                Sentence("Choose another model, or check the server's address."),
            ),
        )
    if status == 429:
        message = together(Sentence("The rate limit of {place} is reached.", place=place), said)
        return Fault("rate_limit", message, again=again, retry_after=wait)
    if status == 529:
        message = together(Sentence("{place} is overloaded.", place=place), said)
        return Fault("overloaded", message, again=again, retry_after=wait)
    if status in (408, 409) or status >= 500:
        message = together(
            Sentence("{place} had an internal error ({status}).", place=place, status=status), said
        )
        return Fault("server_error", message, again=again, retry_after=wait)
    return Fault(
        "bad_request",
        together(
            Sentence("{place} refused the request ({status}).", place=place, status=status), said
        ),
    )


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


def _refused_parameter(refusal: ApiRefusal, lower: str, optional: tuple[str, ...]) -> str:
    """The parameter of ``optional`` that was refused, or ""."""
    if refusal.status not in (400, 422):
        return ""
    for name in optional:
        if refusal.param in (name, name.partition(".")[0]) or f"'{name}'" in lower:
            return name
    return ""


def _retry_after(header: str | None) -> float | None:
    """Seconds from now; the header has seconds or a date."""
    if header is None:
        return None
    try:
        seconds = float(header)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except (ValueError, OverflowError, OSError):
        return None
