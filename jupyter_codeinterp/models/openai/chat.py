"""Chat Completions: a request, and its stream."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ...wire.messages import (
    AnyBlock,
    Image,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    without_pictures,
)
from ...wire.ports import ModelEvent, ModelRequest
from ..http.answer import NOTHING_SAID, AnswerBuilder, mapping, objects, string
from ..http.connection import Event
from ..http.service import Service
from .client import OpenAIConnection, Refused, keep, kept, refusal_of, used

WIRE = "chat"
REASONING = ("reasoning_content", "reasoning")
KEPT = ("extra_content", "reasoning_details")
"""Fields of a message, beside reasoning and calls, that are sent back unchanged."""
IMAGES_OF_RESULTS = "The images of the results above:"
"""A result can only be text, so its images follow in a separate message."""


class ChatConnection(OpenAIConnection):
    answers_path = "/chat/completions"
    optional = ("max_tokens", "stream_options", "tool_choice")
    """Parameters that some servers refuse. OpenAI's newer models call the first
    ``max_completion_tokens``."""

    def talk(
        self, request: ModelRequest, without: frozenset[str], answer: AnswerBuilder
    ) -> tuple[Event, ChatReader]:
        made = body(request, self.server.service, self.options.max_tokens, without)
        return made, ChatReader(answer, self.refused(request.model))


# --- the request -----------------------------------------------------------------------------


def body(
    request: ModelRequest, service: Service, max_tokens: int, without: frozenset[str]
) -> dict[str, Any]:
    limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
    made: dict[str, Any] = {"model": request.model, limit: max_tokens}
    if service.asks_usage and "stream_options" not in without:
        made["stream_options"] = {"include_usage": True}
    if request.tools:
        made["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in request.tools
        ]
        if request.answer_only and "tool_choice" not in without:
            made["tool_choice"] = "none"
    made["messages"] = _bridged(_messages(request)) if service.bridge else [*_messages(request)]
    return made


def _messages(request: ModelRequest) -> Iterator[Event]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        yield from (
            (_from_assistant(message),) if message.role == "assistant" else _from_user(message)
        )


def _bridged(messages: Iterator[Event]) -> list[Event]:
    made: list[Event] = []
    for message in messages:
        if message["role"] == "user" and made and made[-1]["role"] == "tool":
            made.append({"role": "assistant", "content": NOTHING_SAID})
        made.append(message)
    return made


def _from_user(message: Message) -> Iterator[Event]:
    """First the results, each an answer to a call of the previous message. Then one message with
    their images and the person's words."""
    shown: list[Event] = []
    for block in message.content:
        if isinstance(block, ToolResult):
            others, pictures = without_pictures(block.content)
            texts = (part.text for part in others if part.text)
            text = "\n".join(texts).strip() or NOTHING_SAID
            yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": text}
            shown += (part for each in pictures if (part := _part(each)))
    if shown:
        shown.insert(0, {"type": "text", "text": IMAGES_OF_RESULTS})
    parts = shown + [part for block in message.content if (part := _part(block))]
    if parts:
        yield {"role": "user", "content": _plain(parts)}


def _plain(parts: list[Event]) -> Any:
    """A lone text as a string: some servers accept nothing else."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


def _part(block: AnyBlock) -> Event | None:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text} if block.text.strip() else None
    return _image(block)


def _image(block: AnyBlock) -> Event | None:
    if not isinstance(block, Image):
        return None
    url = f"data:{block.source.media_type};base64,{block.source.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _from_assistant(message: Message) -> Event:
    text = "".join(block.text for block in message.content if isinstance(block, Text))
    calls = [block for block in message.content if isinstance(block, ToolUse)]
    made: Event = {"role": "assistant", "content": text if text.strip() else None}
    if calls:
        made["tool_calls"] = [_call(call) for call in calls]
    elif not text.strip():
        made["content"] = NOTHING_SAID
    found = kept(WIRE, message)
    if isinstance(found, dict):
        _restore(made, found, message)
    return made


def _restore(made: Event, found: dict[str, Any], message: Message) -> None:
    """Restore reasoning, and fields that came with calls (Gemini's signatures)."""
    thoughts = "".join(b.thinking for b in message.content if isinstance(b, Thinking))
    field = found.get("reasoning")
    if field == "content" and thoughts:
        words = made["content"]
        chunks = [{"type": "thinking", "thinking": [{"type": "text", "text": thoughts}]}]
        made["content"] = chunks + ([{"type": "text", "text": words}] if words else [])
    elif field in REASONING and thoughts:
        made[field] = thoughts
    for call, extra in zip(made.get("tool_calls", ()), objects(found, "calls"), strict=False):
        call.update({name: extra[name] for name in extra.keys() - call.keys()})
    rest = mapping(found, "message")
    made.update({name: rest[name] for name in KEPT if name in rest})


def _call(call: ToolUse) -> Event:
    arguments = msgspec.json.encode(call.input).decode()
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


# --- the stream ------------------------------------------------------------------------------
#
# Servers differ. Calls come with an index, without one (Gemini), or all with index 0. The stop
# reason may be "stop" despite calls. Usage comes with the last chunk, after it, with each, or
# never. Reasoning has two names, or is part of the content (Mistral).

_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "model_length": "model_context_window_exceeded",
    "content_filter": "refusal",
}
_CALL = {"index", "id", "type", "function"}


class _ChatCall:
    def __init__(self, call_id: str, name: str) -> None:
        self.id = call_id
        self.name = name
        self.block: int | None = None
        self.extra: dict[str, Any] = {}


class ChatReader:
    def __init__(self, answer: AnswerBuilder, refused: Refused) -> None:
        self.complete = False
        self._answer = answer
        self._refused = refused
        self._blocks = 0
        self._open = ""
        """Whether the last block is an open ``text`` or ``thinking``."""
        self._calls: list[_ChatCall] = []
        self._by_index: dict[int, _ChatCall] = {}
        self._by_id: dict[str, _ChatCall] = {}
        self._reasoning = ""
        self._extra: dict[str, Any] = {}
        self._refusal: list[str] = []
        self._reason = ""
        self._usage: Event = {}

    def feed(self, event: Event) -> Iterator[ModelEvent]:
        if isinstance(event.get("error"), (dict, str)):
            raise self._refused(refusal_of(event["error"]))
        self._usage = mapping(event, "usage") or self._usage
        for choice in objects(event, "choices")[:1]:
            if isinstance(choice.get("error"), dict):
                raise self._refused(refusal_of(choice))
            yield from self._delta(mapping(choice, "delta"))
            if reason := string(choice, "finish_reason"):
                self._reason = reason
                self.complete = True

    def _delta(self, delta: Event) -> Iterator[ModelEvent]:
        for name in REASONING:
            if text := string(delta, name):
                yield from self._thinking(text, name)
                break
        content = delta.get("content")
        if isinstance(content, str) and content:
            yield from self._more("text", content)
        for part in objects(delta, "content"):
            if string(part, "type") == "thinking":
                for piece in objects(part, "thinking"):
                    yield from self._thinking(string(piece, "text"), "content")
            elif text := string(part, "text"):
                yield from self._more("text", text)
        if text := string(delta, "refusal"):
            self._refusal.append(text)
        for name in KEPT:
            self._keep(name, delta.get(name))
        for call in objects(delta, "tool_calls"):
            yield from self._call(call)

    def _thinking(self, text: str, name: str) -> Iterator[ModelEvent]:
        self._reasoning = self._reasoning or name
        yield from self._more("thinking", text)

    def _more(self, kind: str, text: str) -> Iterator[ModelEvent]:
        if self._open != kind:
            yield from self._close()
            self._open, self._blocks = kind, self._blocks + 1
            is_text = kind == "text"
            start = self._answer.start_text if is_text else self._answer.start_thinking
            yield from start(self._blocks)
        yield from self._answer.more(self._blocks, text)

    def _close(self) -> Iterator[ModelEvent]:
        if self._open:
            self._open = ""
            yield from self._answer.stop(self._blocks)

    def _keep(self, name: str, value: Any) -> None:
        if isinstance(value, list):
            pieces = self._extra.setdefault(name, [])
            if isinstance(pieces, list):
                pieces += value
        elif isinstance(value, dict):
            self._extra[name] = value

    # --- calls -----------------------------------------------------------------------------

    def _call(self, piece: Event) -> Iterator[ModelEvent]:
        function = mapping(piece, "function")
        call = self._call_of(piece, string(function, "name"))
        if call is None:
            return
        call.extra.update({name: piece[name] for name in piece.keys() - _CALL})
        if call.block is None:
            yield from self._close()
            self._blocks += 1
            call.block = self._blocks
            yield from self._answer.start_call(call.block, call.id, call.name)
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # complete, and not as text
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str) and arguments:
            yield from self._answer.more(call.block, arguments)

    def _call_of(self, piece: Event, name: str) -> _ChatCall | None:
        """The call that a piece belongs to: by index, unless the id differs; without an index by
        id; else the last call. A new call begins with its name; None without a call."""
        index, call_id = piece.get("index"), string(piece, "id")
        if isinstance(index, int):
            known = self._by_index.get(index)
        else:
            last = self._calls[-1] if self._calls and not (call_id or name) else None
            known = self._by_id.get(call_id, last)
        if known is None or (call_id and known.id and call_id != known.id):
            if not name:
                return None
            known = _ChatCall(call_id, name)
            self._calls.append(known)
        known.id = known.id or call_id
        if known.id:
            self._by_id[known.id] = known
        if isinstance(index, int):
            self._by_index[index] = known
        return known

    # --- the end ---------------------------------------------------------------------------

    def end(self, done: bool) -> Iterable[ModelEvent]:
        """Nothing without a stop reason or ``[DONE]``: the answer was cut off."""
        if done and self._answer.began:
            self._reason = self._reason or "stop"
        return self._end() if self._reason else ()

    def _end(self) -> Iterator[ModelEvent]:
        yield from self._close()
        for call in self._calls:
            if call.block is not None:
                yield from self._answer.stop(call.block)
        if found := self._to_keep():
            self._answer.redacted(keep(WIRE, found))
        refusal = "".join(self._refusal)
        reason = _REASONS.get(self._reason.lower(), self._reason)
        if reason == "end_turn" and self._answer.calls:
            reason = "tool_use"
        if refusal:
            reason = "refusal"
        self._answer.count(self._used())
        yield from self._answer.finish(reason, refusal)

    def _to_keep(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._reasoning:
            found["reasoning"] = self._reasoning
        calls = [call.extra for call in self._calls if call.block is not None]
        if any(calls):
            found["calls"] = calls
        if self._extra:
            found["message"] = self._extra
        return found

    def _used(self) -> Event:
        """Some servers count reasoning in ``total_tokens`` only."""
        usage = self._usage
        read, written, total = (
            value if isinstance(value := usage.get(name), int) else 0
            for name in ("prompt_tokens", "completion_tokens", "total_tokens")
        )
        cached = mapping(usage, "prompt_tokens_details").get("cached_tokens")
        return used(read, max(written, total - read), cached)
