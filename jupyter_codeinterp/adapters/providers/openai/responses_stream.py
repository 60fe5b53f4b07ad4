"""Translates events of the Responses API into those of the Messages API.

The event that ends an item counts too: some servers send no pieces. Events name their item by
index or id; llama.cpp sends no index, and other servers change ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...model_http.faults import Fault, Refusal
from ...model_http.reading import mapping, objects, string
from ...model_http.written import (
    Event,
    Written,
    end,
    more_input,
    more_text,
    more_thinking,
    stop,
    used,
)
from .kept import keep
from .refusals import refusal_of
from .responses_request import WIRE

_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
"""Why a response is incomplete."""


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
    """The item for sending it back, without the parts that have their own blocks. None for a
    blank text."""
    if item.get("type") == "message":
        parts = [_part(part) for part in objects(item, "content")]
        parts = [part for part in parts if part is not None]
        return {**item, "content": parts} if parts else None
    if item.get("type") == "function_call":
        return {name: value for name, value in item.items() if name != "arguments"}
    return item or None


def _part(part: Event) -> Event | None:
    if part.get("type") != "output_text":
        return part
    if not string(part, "text").strip():
        return None
    return {name: value for name, value in part.items() if name != "text"}
