"""Reads values of events of any shape."""

from __future__ import annotations

from typing import Any


def mapping(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def string(value: Any, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def objects(value: Any, name: str) -> list[dict[str, Any]]:
    """The list's items that are objects."""
    found = value.get(name) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


# -------------------------------------------------------------------------------------------------
# Writes an answer as events of the Messages API (platform.claude.com/docs, streaming).

Event = dict[str, Any]


class Written:
    """Makes the events; blocks count from 0. A call's input is the original JSON."""

    def __init__(self) -> None:
        self._next = 0
        self.calls = 0

    @property
    def began(self) -> bool:
        return self._next > 0

    def text(self) -> tuple[int, Event]:
        return self._start({"type": "text", "text": ""})

    def thinking(self) -> tuple[int, Event]:
        return self._start({"type": "thinking", "thinking": "", "signature": ""})

    def call(self, call_id: str, name: str) -> tuple[int, Event]:
        self.calls += 1
        return self._start({"type": "tool_use", "id": call_id, "name": name, "input": {}})

    def kept(self, data: str) -> Event:
        return self._start({"type": "redacted_thinking", "data": data})[1]

    def _start(self, block: Event) -> tuple[int, Event]:
        self._next += 1
        start = {"type": "content_block_start", "index": self._next - 1, "content_block": block}
        return self._next - 1, start


def more_text(index: int, text: str) -> Event:
    return _delta(index, {"type": "text_delta", "text": text})


def more_thinking(index: int, text: str) -> Event:
    return _delta(index, {"type": "thinking_delta", "thinking": text})


def more_input(index: int, json: str) -> Event:
    return _delta(index, {"type": "input_json_delta", "partial_json": json})


def stop(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def end(reason: str, usage: Event, refusal: str = "") -> tuple[Event, Event]:
    """``refusal`` is the model's own explanation."""
    delta: Event = {"stop_reason": reason}
    if refusal:
        delta["stop_details"] = {"type": "refusal", "explanation": refusal}
    return {"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}


def used(read: Any, written: Any, cached: Any, cache_writes: Any = 0) -> Event:
    """Tokens as the Messages API counts them: ``input_tokens`` excludes cached ones."""
    whole, hit, stored = _count(read), _count(cached), _count(cache_writes)
    return {
        "input_tokens": max(0, whole - hit - stored),
        "output_tokens": _count(written),
        "cache_read_input_tokens": hit,
        "cache_creation_input_tokens": stored,
    }


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _delta(index: int, delta: Event) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": delta}
