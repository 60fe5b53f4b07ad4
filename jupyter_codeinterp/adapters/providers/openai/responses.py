"""Writes a ModelRequest as the body of ``POST /responses``.

The server stores nothing: each request has the whole conversation. The model's answers go back
as the items that it sent, encrypted reasoning included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from ....core.messages import PDF, AnyBlock, Document, Image, Message, Text, ToolResult, ToolUse
from ....core.ports import ModelRequest
from ...model_http.events import (
    Event,
    Written,
    end,
    mapping,
    more_input,
    more_text,
    more_thinking,
    objects,
    stop,
    string,
    used,
)
from ...model_http.faults import Fault, Refusal
from .kept import keep, kept
from .refusals import refusal_of

PATH = "/responses"
OPTIONAL = ("include", "reasoning.summary", "max_output_tokens", "tool_choice")
"""Models without reasoning refuse the first, unverified organizations the second."""
NOTHING_SAID = "(nothing said)"
UNNAMED = "document.pdf"
WIRE = "responses"

Item = dict[str, Any]


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


def _items(message: Message) -> Iterator[Item]:
    if message.role == "assistant":
        yield from _answered(message)
        return
    yield from (_output(block) for block in message.content if isinstance(block, ToolResult))
    parts = [part for block in message.content if (part := _part(block))]
    if parts:
        yield {"type": "message", "role": "user", "content": parts}


def _output(result: ToolResult) -> Item:
    parts = [part for block in result.content if (part := _part(block))]
    images = any(part["type"] == "input_image" for part in parts)
    text = "\n".join(part.get("text", "") for part in parts)
    output = parts if images else text or NOTHING_SAID
    return {"type": "function_call_output", "call_id": result.tool_use_id, "output": output}


def _part(block: AnyBlock) -> Item | None:
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


def _answered(message: Message) -> list[Item]:
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


def _filled(frames: list[Any], texts: Iterator[str], calls: Iterator[ToolUse]) -> list[Item] | None:
    """The original items with texts and calls in their places; None if they do not fit."""
    items: list[Item] = []
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


def _text_item(text: str) -> Item:
    return {"type": "message", "role": "assistant", "content": text}


def _call(call: ToolUse) -> Item:
    arguments = msgspec.json.encode(call.input).decode()
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
    }


# -------------------------------------------------------------------------------------------------
# Translates events of the Responses API into those of the Messages API.
#
# The event that ends an item counts too: some servers send no pieces. Events name their item by
# index or id; llama.cpp sends no index, and other servers change ids.

_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
"""Stop reasons by the reason why a response is incomplete."""


class _Item:
    """``block``: the open block; ``some``: whether the item has had any content."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.block: int | None = None
        self.part: Any = None
        self.some = False
        self.done = False


class ResponsesWire:
    """``refused`` makes a Fault of an error in the stream."""

    complete = False

    def __init__(self, refused: Callable[[Refusal], Fault]) -> None:
        self._refused = refused
        self._written = Written()
        self._items: dict[int | str, _Item] = {}
        self._last: _Item | None = None
        self._frames: list[Any] = []
        self._refusal: list[str] = []
        self._ended = False

    def feed(self, event: Event) -> Iterable[Event]:
        kind = string(event, "type")
        if self._ended:
            return ()
        if kind == "error":
            raise self._refused(refusal_of(event))
        if kind == "response.output_item.added":
            return list(self._added(event))
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            return list(self._text(event, string(event, "delta"), kind))
        if kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            part = event.get("summary_index", event.get("content_index"))
            return list(self._thinking(self._item(event), part, string(event, "delta")))
        if kind == "response.function_call_arguments.delta":
            return list(self._input(self._item(event), string(event, "delta")))
        if kind == "response.output_item.done":
            return list(self._item_done(event))
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            return list(self._finish(kind, mapping(event, "response")))
        return ()

    def end(self, done: bool) -> Iterable[Event]:
        return ()

    # --- items ---------------------------------------------------------------------------

    def _added(self, event: Event) -> Iterator[Event]:
        given = mapping(event, "item")
        item = self._last = _Item(string(given, "type"))
        self._items.update(dict.fromkeys(_keys(event, given), item))
        if item.kind == "function_call":
            name = string(given, "name")
            item.block, start = self._written.call(string(given, "call_id"), name)
            yield start

    def _item(self, event: Event) -> _Item | None:
        place = event.get("output_index")
        if isinstance(place, int):
            return self._items.get(place)
        return self._items.get(string(event, "item_id"), self._last)

    def _text(self, event: Event, text: str, kind: str) -> Iterator[Event]:
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
            item.block, start = self._written.text()
            item.part = part
            yield start
        yield more_text(item.block, text)

    def _thinking(self, item: _Item | None, part: Any, text: str) -> Iterator[Event]:
        if item is None or item.done:
            return
        if item.block is None:
            item.block, start = self._written.thinking()
            yield start
        elif item.part != part:
            yield more_thinking(item.block, "\n\n")
        item.part, item.some = part, True
        yield more_thinking(item.block, text)

    def _input(self, item: _Item | None, json: str) -> Iterator[Event]:
        if item is not None and item.block is not None and not item.done:
            item.some = item.some or bool(json)
            yield more_input(item.block, json)

    def _item_done(self, event: Event) -> Iterator[Event]:
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

    def _found(self, event: Event, given: Event) -> _Item | None:
        found = (self._items.get(key) for key in _keys(event, given))
        return next(filter(None, found), None)

    def _unstreamed(self, item: _Item, given: Event) -> Iterator[Event]:
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
                    index, start = self._written.text()
                    yield from (start, more_text(index, words), stop(index))

    def _close(self, item: _Item) -> Iterator[Event]:
        if item.block is not None:
            yield stop(item.block)
            item.block = None

    # --- the end -------------------------------------------------------------------------

    def _finish(self, kind: str, response: Event) -> Iterator[Event]:
        if kind == "response.failed":
            raise self._refused(refusal_of(response))
        self._ended = True
        for item in self._items.values():
            yield from self._close(item)
        if self._frames:
            yield self._written.kept(keep(WIRE, self._frames))
        refusal = "".join(self._refusal)
        reason = "tool_use" if self._written.calls else "end_turn"
        if kind == "response.incomplete":
            why = string(mapping(response, "incomplete_details"), "reason")
            reason = _REASONS.get(why, why or "incomplete")
        elif refusal:
            reason = "refusal"
        usage = mapping(response, "usage")
        details = mapping(usage, "input_tokens_details")
        yield from end(
            reason,
            used(
                usage.get("input_tokens"),
                usage.get("output_tokens"),
                details.get("cached_tokens"),
                details.get("cache_write_tokens"),
            ),
            refusal,
        )


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
