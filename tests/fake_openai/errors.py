"""Answers that are errors, in the services' own words."""

from __future__ import annotations

from dataclasses import replace

from tests.fake_anthropic.turns import HttpError

from .manners import error


def rate_limited(retry_after: str | None = "1") -> HttpError:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    words = "Rate limit reached for gpt-6-sol in organization org-x on requests per min (RPM)."
    return replace(error(429, words, "requests", "rate_limit_exceeded"), headers=headers)


def out_of_quota() -> HttpError:
    words = "You exceeded your current quota, please check your plan and billing details."
    return error(429, words, "insufficient_quota", "insufficient_quota")


def overloaded() -> HttpError:
    words = "The engine is currently overloaded, please try again later."
    return error(503, words, "server_error")


def server_error() -> HttpError:
    return error(500, "The server had an error while processing your request.", "server_error")


def forbidden() -> HttpError:
    words = "You have insufficient permissions for this operation."
    return error(403, words, "invalid_request_error", "insufficient_permissions")


def unknown_model(model: str) -> HttpError:
    words = f"The model `{model}` does not exist or you do not have access to it."
    return error(404, words, "invalid_request_error", "model_not_found")


def too_long() -> HttpError:
    words = "Your input exceeds the context window of this model. Please adjust your input."
    return error(400, words, "invalid_request_error", "context_length_exceeded", "input")


def refused(name: str, words: str) -> HttpError:
    """A parameter that a model does not take."""
    return error(400, words, "invalid_request_error", "unsupported_parameter", name)


def bad_request(words: str) -> HttpError:
    return error(400, words, "invalid_request_error")
