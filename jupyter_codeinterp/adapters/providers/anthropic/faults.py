"""What went wrong in a model call, in words and as a decision: again, or not.

Sources: platform.claude.com/docs/api/errors and api/rate-limits; the words by which other
servers say that a prompt is too long were taken from llama.cpp and vLLM.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING

from ....core.providers import origin
from .credentials import Credentials

if TYPE_CHECKING:
    from anthropic import APIStatusError

_SHORTEST_SECRET = 8
"""Characters; what local servers take for a key ("ollama") may stand in any sentence."""
_SPEND_CODES = frozenset(
    {
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "linked_organization_spend_limit_reached",
    }
)
_SPEND_WORDS = ("api usage limits", "credit balance is too low")
_LENGTH_WORDS = (
    "prompt is too long",
    "exceed context limit",
    "exceeds the available context size",
    "maximum context length",
)
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""An ``error`` event comes in an answer whose HTTP status was 200; its type says the rest."""


class Fault(Exception):
    """``again``: worth another try. ``retry_after``: seconds, where the server named them."""

    def __init__(
        self, code: str, message: str, *, again: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.again = again
        self.retry_after = retry_after


def status_fault(error: APIStatusError, credentials: Credentials, model: str) -> Fault:
    """The fault that an answer with an error status, or an error event, stands for."""
    place = credentials.place
    status = error.status_code
    if status == 200:
        status = _STATUS_OF_TYPE.get(str(error.type), 500)
    said = _said(error, credentials)
    again = error.response.headers.get("x-should-retry") != "false"
    wait = _retry_after(error.response.headers.get("retry-after"))

    if _is_spend_limit(error, status, said):
        return Fault(
            "spend_limit",
            f"The account's spending limit is reached.{said} Raise the limit, or wait until it "
            "is renewed, then try again.",
        )
    if status == 413 or any(words in said.lower() for words in _LENGTH_WORDS):
        return Fault("context_full", f"The conversation is too long for the model.{said}")
    if status == 401 and credentials.secret is None:
        return no_key(credentials)
    if status == 401:
        return Fault(
            "wrong_key",
            f"{place} does not accept the API key. Check that it is whole and still valid, and "
            "paste it again.",
        )
    if status == 403:
        return Fault(
            "forbidden",
            f"{place} does not allow this request.{said} Ask whoever manages the account, or "
            "use another key.",
        )
    if status == 404:
        return Fault(
            "unknown_model",
            f"{place} does not know the model “{model}”.{said} Choose another model, or check "
            "the server's address.",
        )
    if status == 429:
        message = f"{place} has a rate limit, and it is reached.{said}"
        return Fault("rate_limit", message, again=again, retry_after=wait)
    if status == 529:
        message = f"{place} is overloaded.{said}"
        return Fault("overloaded", message, again=again, retry_after=wait)
    if status in (408, 409) or status >= 500:
        message = f"{place} had an error of its own ({status}).{said}"
        return Fault("server_error", message, again=again, retry_after=wait)
    return Fault("bad_request", f"{place} refused the request ({status}).{said}")


def connection_fault(reason: str, credentials: Credentials) -> Fault:
    hint = "Check the network." if credentials.is_anthropic else "Check that it is running."
    return Fault("offline", f"{credentials.place} cannot be reached: {reason}. {hint}", again=True)


def no_model_server(credentials: Credentials) -> Fault:
    place = origin(credentials.base_url).removeprefix("http://")
    message = f"Something answers at {place}, but it is no model server. Check the address."
    return Fault("offline", message)


def no_key(credentials: Credentials) -> Fault:
    return Fault(
        "no_key",
        f"{credentials.place} wants an API key, and there is none for it. Paste a key in the "
        "panel, give one to “jupyter codeinterp key set”, or set ANTHROPIC_API_KEY and start "
        "again.",
    )


def _said(error: APIStatusError, credentials: Credentials) -> str:
    """The server's own words as a sentence, shortened; never with the key in them."""
    message: object = error.api_message  # in truth whatever the server has put there
    words = " ".join(message[:2_000].split())[:300] if isinstance(message, str) else ""
    if credentials.secret and len(credentials.secret) >= _SHORTEST_SECRET:
        words = words.replace(credentials.secret, "[key]")
    return f" It says: {words.rstrip('.')}." if words else ""


def _is_spend_limit(error: APIStatusError, status: int, said: str) -> bool:
    words = any(words in said.lower() for words in _SPEND_WORDS)
    return status == 402 or error.error_code in _SPEND_CODES or (status in (400, 429) and words)


def _retry_after(header: str | None) -> float | None:
    """Seconds from now; the header has seconds or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except ValueError:
        return None
