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
from ..http.model import Event, Reader
from .client import OpenAIModel, Refused, keep, kept, refusal_of, used

UNNAMED = "document.pdf"
WIRE = "responses"


class ResponsesModel(OpenAIModel):
    answers_path = "/responses"
    optional = ("include", "reasoning.summary", "max_output_tokens", "tool_choice")
    """Models without reasoning refuse the first, unverified organizations the second."""

    def talk(
        self, request: ModelRequest, without: frozenset[str], answer: AnswerBuilder
    ) -> tuple[Event, ResponsesReader]:
        made = body(request, self.settings.max_tokens, without)
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
# Items come one after the other, so each piece belongs to the last one.

_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
"""Stop reasons by the reason why a response is incomplete."""
_TEXT = ("response.output_text.delta",)
_THINKING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_INPUT = ("response.function_call_arguments.delta",)
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class ResponsesReader(Reader):
    def __init__(self, answer: AnswerBuilder, refused: Refused) -> None:
        self._answer = answer
        self._refused = refused
        self._blocks = 0
        """The number of the last block, which is open if it has pieces of a type."""
        self._pieces: tuple[str, ...] = ()
        """Types of the events that bring pieces of the open block."""
        self._part: Any = None
        self._frames: list[Any] = []
        self._refusal: list[str] = []

    def feed(self, event: Event) -> Iterable[ModelEvent]:
        kind = string(event, "type")
        if self._answer.done:
            return ()
        if kind == "error":
            raise self._refused(refusal_of(event))
        if kind == "response.output_item.added":
            return self._added(mapping(event, "item"))
        if kind == "response.refusal.delta":
            self._refusal.append(string(event, "delta"))
        elif kind in _TEXT + _THINKING:
            return self._words(kind, event)
        elif kind in _INPUT and kind in self._pieces:
            return self._answer.more(self._blocks, string(event, "delta"))
        elif kind == "response.output_item.done":
            return self._item_done(mapping(event, "item"))
        elif kind in _ENDS:
            return self._finish(kind, mapping(event, "response"))
        return ()

    # --- items ---------------------------------------------------------------------------

    def _added(self, item: Event) -> Iterator[ModelEvent]:
        yield from self._close()
        if string(item, "type") == "function_call":
            self._blocks, self._pieces = self._blocks + 1, _INPUT
            call_id, name = string(item, "call_id"), string(item, "name")
            yield from self._answer.start_call(self._blocks, call_id, name)

    def _words(self, kind: str, event: Event) -> Iterator[ModelEvent]:
        """A piece of a text, or of thinking, whose parts become paragraphs."""
        pieces = _TEXT if kind in _TEXT else _THINKING
        part = event.get("summary_index", event.get("content_index"))
        is_other = part != self._part
        self._part = part
        if kind not in self._pieces or (is_other and pieces is _TEXT):
            yield from self._close()
            self._blocks, self._pieces = self._blocks + 1, pieces
            is_text = pieces is _TEXT
            start = self._answer.start_text if is_text else self._answer.start_thinking
            yield from start(self._blocks)
        elif is_other:
            yield from self._answer.more(self._blocks, "\n\n")
        yield from self._answer.more(self._blocks, string(event, "delta"))

    def _item_done(self, item: Event) -> Iterator[ModelEvent]:
        yield from self._close()
        if frame := _frame(item):
            self._frames.append(frame)

    def _close(self) -> Iterator[ModelEvent]:
        if self._pieces:
            self._pieces = ()
            yield from self._answer.stop(self._blocks)

    # --- the end -------------------------------------------------------------------------

    def _finish(self, kind: str, response: Event) -> Iterator[ModelEvent]:
        if kind == "response.failed":
            raise self._refused(refusal_of(response))
        yield from self._close()
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
