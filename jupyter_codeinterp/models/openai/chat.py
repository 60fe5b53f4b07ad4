"""Chat Completions: a request, and its stream."""

from __future__ import annotations

from collections.abc import Iterator
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
from ..http.model import Event, Reader
from ..http.service import Service
from .client import OpenAIModel, Refused, keep, kept, refusal_of, used

WIRE = "chat"
REASONING = ("reasoning_content", "reasoning")
IMAGES_OF_RESULTS = "The images of the results above:"
"""A result can only be text, so its images follow in a separate message."""


class ChatModel(OpenAIModel):
    answers_path = "/chat/completions"
    optional = ("max_tokens", "stream_options", "tool_choice")
    """Parameters that some servers refuse. OpenAI's newer models call the first
    ``max_completion_tokens``."""

    def talk(
        self, request: ModelRequest, without: frozenset[str], answer: AnswerBuilder
    ) -> tuple[Event, ChatReader]:
        made = body(request, self.server.service, self.settings.max_tokens, without)
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
    if isinstance(block, Text) and block.text.strip():
        return {"type": "text", "text": block.text}
    if isinstance(block, Image):
        url = f"data:{block.source.media_type};base64,{block.source.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    return None


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
    "length": "max_tokens",
    "model_length": "model_context_window_exceeded",
    "content_filter": "refusal",
}
_CALL = {"index", "id", "type", "function"}


class _ChatCall:
    def __init__(self, block: int, call_id: str) -> None:
        self.block = block
        self.id = call_id
        self.extra: dict[str, Any] = {}


class ChatReader(Reader):
    def __init__(self, answer: AnswerBuilder, refused: Refused) -> None:
        self._answer = answer
        self._refused = refused
        self._blocks = 0
        self._open = ""
        """Whether the last block is an open ``text`` or ``thinking``."""
        self._calls: list[_ChatCall] = []
        self._by_key: dict[int | str, _ChatCall] = {}
        self._reasoning = ""
        self._refusal: list[str] = []
        self._reason = ""
        self._usage: Event = {}

    def feed(self, event: Event) -> Iterator[ModelEvent]:
        if isinstance(event.get("error"), (dict, str)):
            raise self._refused(refusal_of(event["error"]))
        self._usage = mapping(event, "usage") or self._usage
        for choice in objects(event, "choices")[:1]:
            yield from self._delta(mapping(choice, "delta"))
            if reason := string(choice, "finish_reason"):
                self._reason = reason

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

    # --- calls -----------------------------------------------------------------------------

    def _call(self, piece: Event) -> Iterator[ModelEvent]:
        function = mapping(piece, "function")
        call = self._call_of(piece)
        if call is None:
            name = string(function, "name")
            if not name:
                return
            yield from self._close()
            self._blocks += 1
            call = _ChatCall(self._blocks, string(piece, "id"))
            self._calls.append(call)
            yield from self._answer.start_call(call.block, call.id, name)
        call.id = call.id or string(piece, "id")
        self._by_key[_key(piece)] = call
        call.extra.update({name: piece[name] for name in piece.keys() - _CALL})
        if arguments := string(function, "arguments"):
            yield from self._answer.more(call.block, arguments)

    def _call_of(self, piece: Event) -> _ChatCall | None:
        """The call that a piece continues: by index, unless the id differs; without an index by
        id; with neither, the last one. None for a new call."""
        key, call_id = _key(piece), string(piece, "id")
        if key == "":
            begins = bool(string(mapping(piece, "function"), "name"))
            return None if begins or not self._calls else self._calls[-1]
        known = self._by_key.get(key)
        return None if known and call_id and known.id not in ("", call_id) else known

    # --- the end ---------------------------------------------------------------------------

    def end(self) -> Iterator[ModelEvent]:
        """Nothing without a stop reason: the answer was cut off."""
        if not self._reason:
            return
        yield from self._close()
        for call in self._calls:
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
        calls = [call.extra for call in self._calls]
        if any(calls):
            found["calls"] = calls
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


def _key(piece: Event) -> int | str:
    """What names the call of a piece: its index, else its id, which may be ""."""
    index = piece.get("index")
    return index if isinstance(index, int) else string(piece, "id")
