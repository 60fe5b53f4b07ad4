"""Signatures of thinking. As in the API, one is good for its text in its conversation: for
the same system prompt, tools and messages before it."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

_SECRET = b"only the fake knows this"


def sign(body: dict[str, Any], index: int, words: str) -> str:
    """For thinking in message ``index`` of a conversation that begins like ``body``."""
    before = [body.get("system"), body.get("tools"), body["messages"][:index]]
    data = json.dumps([without_markers(before), words]).encode()
    return hmac.new(_SECRET, data, hashlib.sha256).hexdigest()


def without_markers(value: Any) -> Any:
    """The value without its cache markers, which may move between requests."""
    if isinstance(value, dict):
        return {k: without_markers(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list):
        return [without_markers(item) for item in value]
    return value
