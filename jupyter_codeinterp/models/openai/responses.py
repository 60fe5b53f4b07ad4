"""The Responses API: a request, and its stream.

The server stores nothing: each request has the whole conversation. The model's answers go back
as the items that it sent, encrypted reasoning included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ...wire.messages import PDF, AnyBlock, Document, Image, Message, Text, ToolResult, ToolUse
from ...wire.ports import ModelEvent, ModelRequest
from ..http.answer import NOTHING_SAID, AnswerBuilder, mapping, objects, string
from ..http.connection import Event
from .client import OpenAIConnection, Refused, keep, kept, refusal_of, used

UNNAMED = "document.pdf"
WIRE = "responses"


class ResponsesConnection(OpenAIConnection):
    answers_path = "/responses"
    optional = ("include", "reasoning.summary", "max_output_tokens", "tool_choice")
    """Models without reasoning refuse the first, unverified organizations the second."""

    def talk(
        self, request: ModelRequest, without: frozenset[str], answer: AnswerBuilder
    ) -> tuple[Event, ResponsesReader]:
        made = body(request, self.options.max_tokens, without)
        return made, ResponsesReader(answer, self.refused(request.model))


# --- the request -----------------------------------------------------------------------------


def body(request: ModelRequest, max_tokens: int, without: frozenset[str]) -> dict[str, Any]:
    made: dict[str, Any] = {"model": request.model, "store": False}
    if request.system:
        made["instructions"] = request.system
    if request.tools:
        made["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": False,
            }
            for tool in request.tools
        ]
        if request.answer_only and "tool_choice" not in without:
            made["tool_choice"] = "none"
    if "max_output_tokens" not in without:
        made["max_output_tokens"] = max_tokens
    if "include" not in without:
        made["include"] = ["reasoning.encrypted_content"]
    if not without & {"include", "reasoning.summary"}:
        made["reasoning"] = {"summary": "auto"}
    made["input"] = [item for message in request.messages for item in _items(message)]
    return made


def _items(message: Message) -> Iterator[Event]:
    if message.role == "assistant":
        yield from _answered(message)
        return
    yield from (_output(block) for block in message.content if isinstance(block, ToolResult))
    parts = [part for block in message.content if (part := _part(block))]
    if parts:
        yield {"type": "message", "role": "user", "content": parts}


def _output(result: ToolResult) -> Event:
    parts = [part for block in result.content if (part := _part(block))]
    images = any(part["type"] == "input_image" for part in parts)
    text = "\n".join(part.get("text", "") for part in parts)
    output = parts if images else text or NOTHING_SAID
    return {"type": "function_call_output", "call_id": result.tool_use_id, "output": output}


def _part(block: AnyBlock) -> Event | None:
    if isinstance(block, Text) and block.text.strip():
        return {"type": "input_text", "text": block.text}
    if isinstance(block, Image):
        source = block.source
        url = f"data:{source.media_type};base64,{source.data}"
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if isinstance(block, Document):
        url = f"data:{PDF};base64,{block.source.data}"
        return {"type": "input_file", "filename": block.title or UNNAMED, "file_data": url}
    return None


def _answered(message: Message) -> list[Event]:
    """The original items of an answer; new ones for an answer from another provider."""
    texts = [block.text for block in message.content if isinstance(block, Text)]
    calls = [block for block in message.content if isinstance(block, ToolUse)]
    frames = kept(WIRE, message)
    if isinstance(frames, list):
        filled = _filled(frames, iter(texts), iter(calls))
        if filled is not None:
            return filled
    items = [_text_item(text) for text in texts if text.strip()]
    items += [_call(call) for call in calls]
    return items or [_text_item(NOTHING_SAID)]


def _filled(
    frames: list[Any], texts: Iterator[str], calls: Iterator[ToolUse]
) -> list[Event] | None:
    """The original items with texts and calls in their places; None if they do not fit."""
    items: list[Event] = []
    try:
        for frame in frames:
            if frame["type"] == "message":
                parts = [
                    {**part, "text": next(texts)} if part["type"] == "output_text" else part
                    for part in frame["content"]
                ]
                items.append({**frame, "content": parts})
            elif frame["type"] == "function_call":
                items.append({**frame, **_call(next(calls))})
            else:
                items.append(frame)
    except (StopIteration, LookupError, TypeError):
        return None
    whole = next(texts, None) is None and next(calls, None) is None
    return items if whole and items else None


def _text_item(text: str) -> Event:
    return {"type": "message", "role": "assistant", "content": text}


def _call(call: ToolUse) -> Event:
    arguments = msgspec.json.encode(call.input).decode()
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
    }


# --- the stream ------------------------------------------------------------------------------
#
# The event that ends an item counts too: some servers send no pieces. Events name their item by
# index or id; llama.cpp sends no index, and other servers change ids.

_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
"""Stop reasons by the reason why a response is incomplete."""


class _StreamedItem:
    """``block``: the open block; ``some``: whether the item has had any content."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.block: int | None = None
        self.part: Any = None
        self.some = False
        self.done = False


class ResponsesReader:
    complete = False

    def __init__(self, answer: AnswerBuilder, refused: Refused) -> None:
        self._answer = answer
        self._refused = refused
        self._blocks = 0
        self._items: dict[int | str, _StreamedItem] = {}
        self._last: _StreamedItem | None = None
        self._frames: list[Any] = []
        self._refusal: list[str] = []
        self._ended = False

    def feed(self, event: Event) -> Iterable[ModelEvent]:
        kind = string(event, "type")
        if self._ended:
            return ()
        if kind == "error":
            raise self._refused(refusal_of(event))
        if kind == "response.output_item.added":
            return self._added(event)
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            return self._text(event, string(event, "delta"), kind)
        if kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            part = event.get("summary_index", event.get("content_index"))
            return self._thinking(self._item(event), part, string(event, "delta"))
        if kind == "response.function_call_arguments.delta":
            return self._input(self._item(event), string(event, "delta"))
        if kind == "response.output_item.done":
            return self._item_done(event)
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            return self._finish(kind, mapping(event, "response"))
        return ()

    def end(self, done: bool) -> Iterable[ModelEvent]:
        return ()

    # --- items ---------------------------------------------------------------------------

    def _added(self, event: Event) -> Iterator[ModelEvent]:
        given = mapping(event, "item")
        item = self._last = _StreamedItem(string(given, "type"))
        self._items.update(dict.fromkeys(_keys(event, given), item))
        if item.kind == "function_call":
            name = string(given, "name")
            item.block = self._next()
            yield from self._answer.start_call(item.block, string(given, "call_id"), name)

    def _next(self) -> int:
        self._blocks += 1
        return self._blocks

    def _item(self, event: Event) -> _StreamedItem | None:
        place = event.get("output_index")
        if isinstance(place, int):
            return self._items.get(place)
        return self._items.get(string(event, "item_id"), self._last)

    def _text(self, event: Event, text: str, kind: str) -> Iterator[ModelEvent]:
        item = self._item(event)
        if item is None or item.done:
            return
        item.some = True
        if kind == "response.refusal.delta":
            self._refusal.append(text)
            return
        part = event.get("content_index", 0)
        if item.block is None or item.part != part:
            yield from self._close(item)
            item.block, item.part = self._next(), part
            yield from self._answer.start_text(item.block)
        yield from self._answer.more(item.block, text)

    def _thinking(self, item: _StreamedItem | None, part: Any, text: str) -> Iterator[ModelEvent]:
        if item is None or item.done:
            return
        if item.block is None:
            item.block = self._next()
            yield from self._answer.start_thinking(item.block)
        elif item.part != part:
            yield from self._answer.more(item.block, "\n\n")
        item.part, item.some = part, True
        yield from self._answer.more(item.block, text)

    def _input(self, item: _StreamedItem | None, json: str) -> Iterator[ModelEvent]:
        if item is not None and item.block is not None and not item.done:
            item.some = item.some or bool(json)
            yield from self._answer.more(item.block, json)

    def _item_done(self, event: Event) -> Iterator[ModelEvent]:
        given = mapping(event, "item")
        if self._found(event, given) is None:
            yield from self._added(event)
        item = self._found(event, given)
        if item is None or item.done:
            return
        if not item.some:
            yield from self._unstreamed(item, given)
        yield from self._close(item)
        item.done = True
        if frame := _frame(given):
            self._frames.append(frame)

    def _found(self, event: Event, given: Event) -> _StreamedItem | None:
        found = (self._items.get(key) for key in _keys(event, given))
        return next(filter(None, found), None)

    def _unstreamed(self, item: _StreamedItem, given: Event) -> Iterator[ModelEvent]:
        """The parts of an item that did not come in pieces."""
        if item.kind == "function_call":
            yield from self._input(item, string(given, "arguments"))
        elif item.kind == "reasoning":
            texts = [*objects(given, "summary"), *objects(given, "content")]
            for number, each in enumerate(texts):
                yield from self._thinking(item, number, string(each, "text"))
        elif item.kind == "message":
            for part in objects(given, "content"):
                if string(part, "type") == "refusal":
                    self._refusal.append(string(part, "refusal"))
                elif words := string(part, "text"):
                    key = self._next()
                    yield from self._answer.start_text(key)
                    yield from self._answer.more(key, words)
                    yield from self._answer.stop(key)

    def _close(self, item: _StreamedItem) -> Iterator[ModelEvent]:
        if item.block is not None:
            yield from self._answer.stop(item.block)
            item.block = None

    # --- the end -------------------------------------------------------------------------

    def _finish(self, kind: str, response: Event) -> Iterator[ModelEvent]:
        if kind == "response.failed":
            raise self._refused(refusal_of(response))
        self._ended = True
        for item in self._items.values():
            yield from self._close(item)
        if self._frames:
            self._answer.redacted(keep(WIRE, self._frames))
        refusal = "".join(self._refusal)
        reason = "tool_use" if self._answer.calls else "end_turn"
        if kind == "response.incomplete":
            why = string(mapping(response, "incomplete_details"), "reason")
            reason = _REASONS.get(why, why or "incomplete")
        elif refusal:
            reason = "refusal"
        usage = mapping(response, "usage")
        details = mapping(usage, "input_tokens_details")
        self._answer.count(
            used(
                usage.get("input_tokens"),
                usage.get("output_tokens"),
                details.get("cached_tokens"),
                details.get("cache_write_tokens"),
            )
        )
        yield from self._answer.finish(reason, refusal)


def _keys(event: Event, item: Event) -> list[int | str]:
    """Keys that may identify an item."""
    place = event.get("output_index")
    names: list[int | str] = [place] if isinstance(place, int) else []
    return names + [name for name in (string(item, "id"), string(item, "call_id")) if name]


def _frame(item: Event) -> Event | None:
    """The item to send back, without the parts that have their own blocks. None for a blank
    text."""
    if item.get("type") == "message":
        parts = [_kept_part(part) for part in objects(item, "content")]
        parts = [part for part in parts if part is not None]
        return {**item, "content": parts} if parts else None
    if item.get("type") == "function_call":
        return {name: value for name, value in item.items() if name != "arguments"}
    return item or None


def _kept_part(part: Event) -> Event | None:
    if part.get("type") != "output_text":
        return part
    if not string(part, "text").strip():
        return None
    return {name: value for name, value in part.items() if name != "text"}
