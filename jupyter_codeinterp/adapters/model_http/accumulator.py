"""Turns the raw events of a streamed message into ModelEvents, and finally a Message.

The SDK's own snapshot shows a string of a tool's input only when it is complete, and it silently
accepts broken JSON.

Unknown event and block types are skipped. A block gets its number with its first stored content,
so ``block`` is its index in the message. A blank text block never gets one: the API refuses it
when it comes back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

import jiter

from ...core.messages import (
    AnyBlock,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolUse,
    Usage,
)
from ...core.ports import (
    ModelDone,
    ModelEvent,
    ModelRead,
    ModelText,
    ModelThinking,
    ModelToolInput,
)
from . import markup
from .events import mapping, string

Event = Mapping[str, Any]
OFTEN = 20_000
"""Characters of a call's input up to which each piece is shown at once."""
MOST_TOKENS = 10**12
"""Most tokens of one call. Larger numbers from a server are false."""


class _Block:
    """A block in progress. ``grow`` takes a delta, ``finish`` the block's end; both return the
    events to show."""

    def grow(self, delta: Event) -> list[ModelEvent]:
        return []

    def finish(self) -> list[ModelEvent]:
        return []

    def value(self) -> AnyBlock:
        raise NotImplementedError


class Accumulator:
    """Feed it the events of one message in order. ``taken`` are the tool call ids of the
    conversation so far. The API refuses requests with a repeated id, so a repeated one gets a
    suffix (``toolu_1-2``). ``done`` tells whether the message is complete; otherwise the stream
    broke off."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._open: dict[int, _Block] = {}
        self._blocks: list[_Block] = []
        self._usage: dict[str, int] = {}
        self._stop_reason = ""
        self._detail = ""
        self.done = False

    def feed(self, event: Event) -> list[ModelEvent]:
        """Return the events to show. The last list ends with ModelDone."""
        kind = event.get("type")
        if kind == "message_start":
            self._count(mapping(event, "message").get("usage"))
            read = Usage(**self._usage)
            return [ModelRead(read)] if read.total_input else []
        elif kind == "content_block_start":
            # Some servers call every block number 0: the previous one is complete.
            before = self._finish(_index(event))
            return [*before, *self._start(_index(event), mapping(event, "content_block"))]
        elif kind == "content_block_delta":
            block = self._open.get(_index(event))
            return block.grow(mapping(event, "delta")) if block else []
        elif kind == "content_block_stop":
            return self._finish(_index(event))
        elif kind == "message_delta":
            self._end(mapping(event, "delta"))
            self._count(event.get("usage"))
        elif kind == "message_stop":
            return self._stop()
        return []

    def _start(self, index: int, start: Event) -> list[ModelEvent]:
        kind = start.get("type")
        if kind == "text":
            self._open[index] = _TaggedBlock(self._blocks)
        elif kind == "thinking":
            self._open[index] = _ThinkingBlock(self._blocks, start)
        elif kind == "redacted_thinking":
            self._open[index] = _RedactedBlock(self._blocks, start)
        elif kind == "tool_use":
            call = _ToolBlock(self._blocks, self._unique(string(start, "id")), start)
            self._open[index] = call
            return [call.event({})]
        else:
            return []
        return self._open[index].grow(start)

    def _finish(self, index: int) -> list[ModelEvent]:
        block = self._open.pop(index, None)
        return block.finish() if block else []

    def _unique(self, call_id: str) -> str:
        call_id = call_id or "call"
        unique, n = call_id, 1
        while unique in self._taken:
            n += 1
            unique = f"{call_id}-{n}"
        self._taken.add(unique)
        return unique

    def _count(self, usage: Any) -> None:
        """Usage counts are totals so far: later ones replace earlier ones."""
        if isinstance(usage, Mapping):
            names = Usage.__struct_fields__
            self._usage.update(
                (name, value) for name in names if _is_count(value := usage.get(name))
            )

    def _end(self, delta: Event) -> None:
        self._stop_reason = string(delta, "stop_reason") or self._stop_reason
        details = mapping(delta, "stop_details")
        self._detail = string(details, "explanation") or string(details, "category")

    def _stop(self) -> list[ModelEvent]:
        if self.done or not self._stop_reason:  # the API always gives a reason
            return []
        rest = [event for index in sorted(self._open) for event in self._finish(index)]
        self.done = True
        return [*rest, self._message()]

    def _message(self) -> ModelDone:
        calls = [block for block in self._blocks if isinstance(block, _ToolBlock)]
        return ModelDone(
            message=Message("assistant", tuple(block.value() for block in self._blocks)),
            stop_reason=self._stop_reason,
            usage=Usage(**self._usage),
            invalid={call.id: call.wrong for call in calls if call.wrong},
            detail=self._detail,
        )


class _TaggedBlock(_Block):
    """A text that may begin with thinking between tags. Its two parts are the message's blocks."""

    def __init__(self, blocks: list[_Block]) -> None:
        self._blocks = blocks
        self._tags = markup.Thinking()
        self._thinking: _ThinkingBlock | None = None
        self._text = _TextBlock(blocks)

    def grow(self, delta: Event) -> list[ModelEvent]:
        return self._put(self._tags.split(_whole(string(delta, "text"))))

    def finish(self) -> list[ModelEvent]:
        return self._put(self._tags.split("", last=True))

    def _put(self, pieces: list[tuple[markup.Kind, str]]) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for kind, text in pieces:
            if kind == "text":
                events += self._text.grow({"text": text})
            elif text:
                self._thinking = self._thinking or _ThinkingBlock(self._blocks, {})
                events += self._thinking.grow({"thinking": text})
        return events


class _TextBlock(_Block):
    def __init__(self, blocks: list[_Block]) -> None:
        self._blocks = blocks
        self._number: int | None = None
        self._parts: list[str] = []

    def grow(self, delta: Event) -> list[ModelEvent]:
        text = string(delta, "text")
        self._parts.append(text)
        if self._number is None:
            if not text.strip():
                return []
            self._number = _append(self._blocks, self)
            text = "".join(self._parts)
        return [ModelText(self._number, text)] if text else []

    def value(self) -> Text:
        return Text("".join(self._parts))


class _ThinkingBlock(_Block):
    """``grow`` takes both of its deltas, and the start of the block, which has both fields."""

    def __init__(self, blocks: list[_Block], start: Event) -> None:
        self._number = _append(blocks, self)
        self._parts: list[str] = []
        self._signature: list[str] = []

    def grow(self, delta: Event) -> list[ModelEvent]:
        text = _whole(string(delta, "thinking"))
        self._parts.append(text)
        self._signature.append(string(delta, "signature"))
        return [ModelThinking(self._number, text)] if text else []

    def value(self) -> Thinking:
        return Thinking("".join(self._parts), "".join(self._signature))


class _RedactedBlock(_Block):
    def __init__(self, blocks: list[_Block], start: Event) -> None:
        _append(blocks, self)
        self._data = string(start, "data")

    def value(self) -> RedactedThinking:
        return RedactedThinking(self._data)


class _ToolBlock(_Block):
    """A call whose input arrives as pieces of JSON.

    Each piece triggers a new parse of the whole; beyond ``OFTEN`` characters, only growth by a
    64th does. That keeps the work proportional. Measured: 20 kB of code in pieces of 8 bytes
    cost 20 ms in all, 200 kB 60 ms, 1 MB 0.2 s, spread over the minutes that a model needs.
    """

    def __init__(self, blocks: list[_Block], call_id: str, start: Event) -> None:
        self._number = _append(blocks, self)
        self.id = call_id
        self.wrong = ""
        self._name = string(start, "name")
        self._input = dict(mapping(start, "input"))  # some servers send it at once
        self._parts: list[str] = []
        self._length = 0
        self._next = 0
        """The length at which to parse again."""
        self._shown: dict[str, Any] = {}

    def event(self, partial: dict[str, Any]) -> ModelEvent:
        self._shown = partial
        return ModelToolInput(self._number, self.id, self._name, partial)

    def grow(self, delta: Event) -> list[ModelEvent]:
        piece = string(delta, "partial_json")
        self._parts.append(piece)
        self._length += len(piece)
        if self._length < self._next:
            return []
        self._next = self._length + (self._length // 64 if self._length > OFTEN else 0)
        try:
            data = self._so_far().encode()
            partial = jiter.from_json(data, partial_mode="trailing-strings")
        except ValueError:
            return []  # broken, or cut within an escape; ``finish`` decides
        changed = isinstance(partial, dict) and partial != self._shown
        return [self.event(partial)] if changed else []

    def _so_far(self) -> str:
        whole = "".join(self._parts)
        self._parts = [whole]
        return whole

    def finish(self) -> list[ModelEvent]:
        if self._length and (whole := self._so_far()).strip():
            try:
                self._input = _strict(whole)
            except (ValueError, RecursionError) as error:
                self.wrong = f"The input is not valid JSON: {error}"
        return [self.event(self._input)] if self._input != self._shown else []

    def value(self) -> ToolUse:
        return ToolUse(self.id, self._name, self._input)


def _strict(text: str) -> dict[str, Any]:
    """Parse strict JSON. Python also accepts NaN, infinities and halves of surrogate pairs,
    which could not be stored and sent back."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"an object is needed, not {text[:20]}")
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


def _whole(text: str) -> str:
    """Text that UTF-8 can hold: half a surrogate pair becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _append(blocks: list[_Block], block: _Block) -> int:
    blocks.append(block)
    return len(blocks) - 1


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= MOST_TOKENS


def _index(event: Event) -> int:
    value = event.get("index")
    return value if isinstance(value, int) else 0
