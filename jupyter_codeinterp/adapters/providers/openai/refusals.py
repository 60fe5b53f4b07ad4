"""Reads an error of these APIs, from the body of an answer or in mid-stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model_http.faults import Refusal, status_of


def refusal_of(body: Any, status: int | None = None, headers: Mapping[str, str] = {}) -> Refusal:
    """``body`` is the error object, its container, or a text. Without a status, the error's code or
    type gives one."""
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if not isinstance(body, dict):
        return Refusal(status or 500, body, headers=headers)
    named = [body.get("code"), body.get("type"), body.get("status")]
    kinds = frozenset(str(each).lower() for each in named if isinstance(each, (str, int)))
    numbers = [int(kind) for kind in kinds if len(kind) == 3 and kind.isdecimal()]
    message = body.get("message") or body.get("detail") or body.get("error")
    if not isinstance(message, str):
        message = "" if message is None else str(message)[:2_000]  # a list of faults
    param = body.get("param")
    return Refusal(
        status or next(filter(lambda n: n >= 400, numbers), None) or status_of(kinds),
        message,
        kinds,
        param if isinstance(param, str) else "",
        headers,
    )
