"""Chat Completions: a Turn as its chunks, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.fake_anthropic.frames import Event, input_of, pieces_of
from tests.fake_anthropic.turns import (
    CallBlock,
    Cut,
    RawEvents,
    Speed,
    TextBlock,
    ThinkingBlock,
    Turn,
)

from . import common
from .manners import Manner

_FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
_FIELDS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "tool": {"role", "content", "tool_call_id"},
    "assistant": {"role", "content", "tool_calls"},
}


class ChatStream:
    """The chunks of one answer. ``message`` must come back."""

    after = b"data: [DONE]\n\n"
    content_type = "text/event-stream; charset=utf-8"

    def __init__(self, turn: Turn, body: Event, manner: Manner, *, name: str, usage: Event) -> None:
        self._turn = turn
        self._body = body
        self._manner = manner
        self._name = name
        self._usage = usage
        self.message: Event = {"role": "assistant", "content": None}

    def events(self, speed: Speed) -> Iterator[Event]:
        yield self._chunk({"role": "assistant", "content": ""})
        for block in self._turn.blocks:
            if isinstance(block, RawEvents):
                yield from block.events
            elif isinstance(block, TextBlock):
                self.message["content"] = (self.message["content"] or "") + block.text
                for piece in pieces_of(block.text, speed.chunk):
                    yield self._chunk({"content": piece})
            elif isinstance(block, ThinkingBlock):
                yield from self._thinking(block.thinking, speed)
            elif isinstance(block, CallBlock):
                yield from self._call(block, speed)
        if self._turn.stop == "refusal" and self._manner.refuses:
            for piece in pieces_of(str((self._turn.stop_details or {})["explanation"]), 12):
                yield self._chunk({"refusal": piece})
        if self._turn.stop_reason is not None:
            yield from self._end()

    def _end(self) -> Iterator[Event]:
        reason = _FINISH.get(self._turn.stop_reason or "", "content_filter")
        if reason == "tool_calls" and not self._manner.stops:
            reason = "stop"
        if self._turn.stop == "refusal" and self._manner.refuses:
            reason = "stop"
        last = self._chunk({}, reason)
        if self._manner.usage == "with":
            last["usage"] = self._used()
        yield last
        if self._manner.usage == "after" and self._body.get("stream_options"):
            yield {**self._chunk({}), "choices": [], "usage": self._used()}

    def _used(self) -> Event:
        written = 1 + len(json.dumps(self.message)) // 4
        total = self._usage["prompt_tokens"] + written
        said = written if self._manner.counts_all else 1
        return {**self._usage, "completion_tokens": said, "total_tokens": total}

    def _thinking(self, words: str, speed: Speed) -> Iterator[Event]:
        where = self._manner.reasoning
        for piece in pieces_of(words, speed.chunk) if where else ():
            if where == "chunks":
                chunk = {"type": "thinking", "thinking": [{"type": "text", "text": piece}]}
                yield self._chunk({"content": [chunk]})
            else:
                yield self._chunk({where: piece})
        if where:
            self.message[where] = self.message.get(where, "") + words

    def _call(self, block: CallBlock, speed: Speed) -> Iterator[Event]:
        calls: list[Event] = self.message.setdefault("tool_calls", [])
        number = len(calls)
        call: Event = {"id": block.id or f"call{self._name}{number}", "type": "function"}
        if self._manner.indexed:
            call["index"] = number
        extra = {}
        if self._manner.signed:
            extra = {"extra_content": {"google": {"thought_signature": f"sig-{call['id']}"}}}
        whole = block.json or ""
        calls.append({"id": call["id"], "name": block.name, "arguments": whole, **extra})
        pieces = [whole] if block.whole or not whole else pieces_of(whole, speed.chunk)
        first: Event = {**call, **extra, "function": {"name": block.name, "arguments": pieces[0]}}
        yield self._chunk({"tool_calls": [first]})
        for piece in pieces[1:]:
            more: Event = {"index": number} if self._manner.indexed else {}
            yield self._chunk({"tool_calls": [{**more, "function": {"arguments": piece}}]})

    def _chunk(self, delta: Event, reason: str | None = None) -> Event:
        return {
            "id": f"chatcmpl-{self._name}",
            "object": "chat.completion.chunk",
            "model": self._body["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }

    # --- on the wire -----------------------------------------------------------------------

    def frame(self, event: Event) -> bytes:
        return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()

    def delta(self, event: Event) -> str | None:
        delta: Event = next((choice["delta"] for choice in event.get("choices", ())), {})
        if not delta or "role" in delta:
            return None
        return delta["content"] if isinstance(delta.get("content"), str) else ""

    def ends(self, event: Event) -> bool:
        return any(choice["finish_reason"] for choice in event.get("choices", ()))

    def fault(self, cut: Cut) -> Event:
        return {"error": {"message": cut.message, "type": "server_error", "code": 503}}


# --- what is refused ---------------------------------------------------------------------------


def problems(body: Event, manner: Manner, given: list[Event]) -> list[str]:
    """``given``: the messages that were answered so far."""
    found = list(_parameters(body, manner))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*found, "'messages' is a required property"]
    if messages[0]["role"] != "system" or messages[-1]["role"] == "assistant":
        found.append("a conversation begins with the system prompt and ends with a question")
    for before, message in zip([{"role": ""}, *messages], messages, strict=False):
        found += _order(before["role"], message["role"], manner)
        found += _message(message, manner)
    found += _calls(messages)
    found += _returned(messages, manner, given)
    return found


def _parameters(body: Event, manner: Manner) -> Iterator[str]:
    for name in body.keys() - manner.parameters:
        yield f"Unknown name '{name}': Cannot find field."
    if body.get("stream") is not True:
        yield "the product always streams"
    for tool in body.get("tools", []):
        if tool.keys() != {"type", "function"} or tool["type"] != "function":
            yield "Invalid 'tools[].type'."
        yield from common.tool(tool["function"], {"name", "description", "parameters"})


def _order(before: str, role: str, manner: Manner) -> Iterator[str]:
    if (role == "user" and before == "tool" and manner.strict_order) or (
        role == before and role != "tool"
    ):
        yield f"Unexpected role '{role}' after role '{before}'"


def _message(message: Event, manner: Manner) -> Iterator[str]:
    role, content = message["role"], message.get("content")
    allowed = set(_FIELDS[role])
    if role == "assistant" and manner.reasoning == "reasoning_content":
        allowed.add("reasoning_content")
    for name in message.keys() - allowed:
        yield f"Unknown name '{name}' at 'messages[]'."
    if isinstance(content, list):
        for part in content:
            yield from _part(part, role, manner)
    elif content is not None or not message.get("tool_calls"):
        yield from common.text(content, f"{role}.content")
    for call in message.get("tool_calls", ()):
        if not call.keys() <= {"id", "type", "function", "extra_content"}:
            yield f"Unknown name in a call: {call}"
        if call["type"] != "function" or call["function"].keys() != {"name", "arguments"}:
            yield f"Invalid call: {call}"
        yield from common.arguments(call["function"]["arguments"])


def _part(part: Event, role: str, manner: Manner) -> Iterator[str]:
    if part["type"] == "text":
        yield from common.text(part["text"], f"{role}.content")
    elif part["type"] == "image_url" and role == "user":
        yield from common.image(part["image_url"]["url"])
    elif part["type"] != "thinking" or role != "assistant" or manner.reasoning != "chunks":
        yield f"Invalid content type '{part['type']}' of role '{role}'."


def _calls(messages: list[Event]) -> Iterator[str]:
    """Each is answered right after its message, in order."""
    ids: list[str] = []
    for index, message in enumerate(messages):
        called = [call["id"] for call in message.get("tool_calls", ())]
        ids += called
        told = []
        for after in messages[index + 1 :] if message["role"] == "assistant" else ():
            if after["role"] != "tool":
                break
            told.append(after["tool_call_id"])
        if message["role"] == "assistant" and called != told:
            yield f"An assistant message with 'tool_calls' {called} must be followed by {told}"
    if len(set(ids)) != len(ids):
        yield "Duplicate tool call id."


def _returned(messages: list[Event], manner: Manner, given: list[Event]) -> Iterator[str]:
    """The answers, in order, must come back: reasoning and signatures as they were."""
    answers = [
        message
        for index, message in enumerate(messages)
        if message["role"] == "assistant" and not _is_bridge(messages, index, manner)
    ]
    if len(answers) > len(given):
        return  # a conversation from before
    for message, was in zip(answers, given, strict=False):
        if _as_given(message, manner) != _as_was(was, manner):
            yield f"not as it was given: {message} was {was}"


def _is_bridge(messages: list[Event], index: int, manner: Manner) -> bool:
    """What nobody has said, between a result and what the person says."""
    if not manner.strict_order or index + 1 == len(messages):
        return False
    said = messages[index] == {"role": "assistant", "content": "(nothing said)"}
    return said and messages[index - 1]["role"] == "tool" and messages[index + 1]["role"] == "user"


def _as_given(message: Event, manner: Manner) -> Any:
    content, thoughts = message["content"], message.get("reasoning_content", "")
    if isinstance(content, list):
        thoughts = "".join(
            piece["text"]
            for part in content
            if part["type"] == "thinking"
            for piece in part["thinking"]
        )
        content = "".join(part["text"] for part in content if part["type"] == "text")
    calls = [
        (call["function"]["name"], json.loads(call["function"]["arguments"]), _signature(call))
        for call in message.get("tool_calls", ())
    ]
    return ("" if content == "(nothing said)" else content or ""), thoughts, calls


def _as_was(was: Event, manner: Manner) -> Any:
    calls = [
        (call["name"], input_of(call["arguments"]), _signature(call))
        for call in was.get("tool_calls", ())
    ]
    content = was["content"] or ""
    return content if content.strip() else "", was.get(manner.reasoning, ""), calls


def _signature(call: Event) -> Any:
    return call.get("extra_content")
