"""A Turn as the events of a stream, and as what a faithful client makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .signing import sign
from .turns import (
    Block,
    CallBlock,
    Cut,
    RawEvents,
    RedactedBlock,
    Speed,
    TextBlock,
    ThinkingBlock,
    Turn,
)

Event = dict[str, Any]


class Stream:
    """The events of one answer to ``body``. ``content`` is what should come back later."""

    def __init__(self, turn: Turn, body: Event, *, message_id: str, usage: Event) -> None:
        self._turn = turn
        self._body = body
        self._message_id = message_id
        self._usage = usage
        self._place = len(body["messages"])
        self.content: list[Event] = []

    def events(self, speed: Speed) -> Iterator[Event]:
        message = {
            "id": self._message_id,
            "type": "message",
            "role": "assistant",
            "model": self._body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**self._usage, "output_tokens": 1},
        }
        yield {"type": "message_start", "message": message}
        yield {"type": "ping"}
        index = 0
        for block in self._turn.blocks:
            if isinstance(block, RawEvents):
                yield from block.events
                continue
            start, deltas = self._parts(block, index, speed)
            yield {"type": "content_block_start", "index": index, "content_block": start}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
            index += 1
        end: Event = {"stop_reason": self._turn.stop_reason, "stop_sequence": None}
        if self._turn.stop_details:
            end["stop_details"] = self._turn.stop_details
        tokens = 1 + len(json.dumps(self.content)) // 4
        yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": tokens}}
        yield {"type": "message_stop"}

    after = b""
    content_type = "text/event-stream; charset=utf-8"

    def frame(self, event: Event) -> bytes:
        return frame(event)

    def delta(self, event: Event) -> str | None:
        if event["type"] != "content_block_delta":
            return None
        return str(event["delta"].get("text", ""))

    def ends(self, event: Event) -> bool:
        return bool(event["type"] == "message_stop")

    def fault(self, cut: Cut) -> Event:
        return {"type": "error", "error": {"type": cut.error_type, "message": cut.message}}

    def _parts(self, block: Block, index: int, speed: Speed) -> tuple[Event, list[Event]]:
        """How a block starts, and its deltas. Notes what should come back of it."""
        if isinstance(block, TextBlock):
            if block.text.strip():
                self.content.append({"type": "text", "text": block.text})
            pieces = pieces_of(block.text, speed.chunk)
            return {"type": "text", "text": ""}, _deltas("text_delta", "text", pieces)
        if isinstance(block, ThinkingBlock):
            signature = sign(self._body, self._place, block.thinking)
            start: Event = {"type": "thinking", "thinking": "", "signature": ""}
            self.content.append({**start, "thinking": block.thinking, "signature": signature})
            pieces = pieces_of(block.thinking, speed.chunk)
            deltas = _deltas("thinking_delta", "thinking", pieces)
            return start, deltas + _deltas("signature_delta", "signature", [signature])
        if isinstance(block, RedactedBlock):
            start = {"type": "redacted_thinking", "data": block.data}
            self.content.append(start)
            return start, []
        assert isinstance(block, CallBlock)
        call_id = block.id or f"toolu_{self._message_id[4:]}_{index}"
        start = {"type": "tool_use", "id": call_id, "name": block.name, "input": {}}
        self.content.append({**start, "input": input_of(block.json)})
        if block.json is None:
            return start, []
        pieces = [block.json] if block.whole else ["", *pieces_of(block.json, speed.chunk)]
        return start, _deltas("input_json_delta", "partial_json", pieces)


def frame(event: Event) -> bytes:
    """As on the wire. Characters are not escaped, so that UTF-8 can be cut within one."""
    data = json.dumps(event, ensure_ascii=False)
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


def _deltas(kind: str, name: str, pieces: list[str]) -> list[Event]:
    return [{"type": kind, name: piece} for piece in pieces]


def pieces_of(words: str, size: int) -> list[str]:
    return [words[at : at + size] for at in range(0, len(words), size)]


def input_of(text: str | None) -> Event:
    """What a client stores for a call: its input, or {} if that is no JSON object."""
    try:
        value = json.loads(text or "{}")
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
