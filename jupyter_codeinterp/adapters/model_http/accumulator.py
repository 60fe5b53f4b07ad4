"""The raw events of a streamed message made into ModelEvents, and at last into a Message.

Why not the SDK's own snapshot: it shows a string of a tool's input only when that string
is whole, and it accepts broken JSON without a word.

Event and block types that are not known are skipped. A block is numbered when it first
has something that will be stored, so ``block`` is its index in the message: a text block
that stays blank is never one (the API refuses it when it comes back).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeGuard

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

Event = Mapping[str, Any]
OFTEN = 20_000
"""Characters of a call's input up to which each piece is shown at once."""


MOST_TOKENS = 10**12
"""Of one call. No server has read or written more, whatever it says."""


class _Block(Protocol):
    """A block that is being written. ``grow`` takes a delta, ``finish`` the block's end;
    both give what is worth showing, if anything."""

    def grow(self, delta: Event) -> ModelEvent | None: ...

    def finish(self) -> ModelEvent | None: ...

    def value(self) -> AnyBlock: ...


class Accumulator:
    """Feed it the events of one message in order. ``taken`` are the tool call ids of the
    conversation so far: the API refuses a request in which two calls have the same id, and
    would go on refusing it, so a repeated id is made unique by a suffix (``toolu_1-2``).
    ``done`` tells whether the message came to its end; a stream that stops before has
    broken off."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._open: dict[int, _Block] = {}
        self._blocks: list[_Block] = []
        self._usage: dict[str, int] = {}
        self._stop_reason = ""
        self._detail = ""
        self.done = False

    def feed(self, event: Event) -> list[ModelEvent]:
        """What the event brings to show. The last list ends with ModelDone."""
        kind = event.get("type")
        if kind == "message_start":
            self._count(_mapping(event, "message").get("usage"))
            read = Usage(**self._usage)
            return [ModelRead(read)] if read.total_input else []
        elif kind == "content_block_start":
            # Some servers call every block number 0: the one before is whole by now.
            before = self._finish(_index(event))
            return _some(before, self._start(_index(event), _mapping(event, "content_block")))
        elif kind == "content_block_delta":
            block = self._open.get(_index(event))
            return _some(block.grow(_mapping(event, "delta")) if block else None)
        elif kind == "content_block_stop":
            return _some(self._finish(_index(event)))
        elif kind == "message_delta":
            self._end(_mapping(event, "delta"))
            self._count(event.get("usage"))
        elif kind == "message_stop":
            return self._stop()
        return []

    def _start(self, index: int, start: Event) -> ModelEvent | None:
        kind = start.get("type")
        if kind == "text":
            self._open[index] = _TextBlock(self._blocks, start)
        elif kind == "thinking":
            self._open[index] = _ThinkingBlock(self._blocks, start)
        elif kind == "redacted_thinking":
            self._open[index] = _RedactedBlock(self._blocks, start)
        elif kind == "tool_use":
            call = _ToolBlock(self._blocks, self._unique(_string(start, "id")), start)
            self._open[index] = call
            return call.event({})
        else:
            return None
        return self._open[index].grow(start)

    def _finish(self, index: int) -> ModelEvent | None:
        block = self._open.pop(index, None)
        return block.finish() if block else None

    def _unique(self, call_id: str) -> str:
        call_id = call_id or "call"
        unique, n = call_id, 1
        while unique in self._taken:
            n += 1
            unique = f"{call_id}-{n}"
        self._taken.add(unique)
        return unique

    def _count(self, usage: Any) -> None:
        """Figures in later events are sums so far: they replace the earlier ones."""
        if isinstance(usage, Mapping):
            names = Usage.__struct_fields__
            self._usage.update(
                (name, value) for name in names if _is_count(value := usage.get(name))
            )

    def _end(self, delta: Event) -> None:
        self._stop_reason = _string(delta, "stop_reason") or self._stop_reason
        details = _mapping(delta, "stop_details")
        self._detail = _string(details, "explanation") or _string(details, "category")

    def _stop(self) -> list[ModelEvent]:
        if self.done or not self._stop_reason:  # the API always gives a reason
            return []
        rest = _some(*[self._finish(index) for index in sorted(self._open)])
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


class _TextBlock:
    def __init__(self, blocks: list[_Block], start: Event) -> None:
        self._blocks = blocks
        self._number: int | None = None
        self._parts: list[str] = []

    def grow(self, delta: Event) -> ModelEvent | None:
        text = _whole(_string(delta, "text"))
        self._parts.append(text)
        if self._number is None:
            if not text.strip():
                return None
            self._number = _append(self._blocks, self)
            text = "".join(self._parts)
        return ModelText(self._number, text) if text else None

    def finish(self) -> None:
        return None

    def value(self) -> Text:
        return Text("".join(self._parts))


class _ThinkingBlock:
    """``grow`` takes both of its deltas, and the start of the block, which has both fields."""

    def __init__(self, blocks: list[_Block], start: Event) -> None:
        self._number = _append(blocks, self)
        self._parts: list[str] = []
        self._signature: list[str] = []

    def grow(self, delta: Event) -> ModelEvent | None:
        text = _whole(_string(delta, "thinking"))
        self._parts.append(text)
        self._signature.append(_string(delta, "signature"))
        return ModelThinking(self._number, text) if text else None

    def finish(self) -> None:
        return None

    def value(self) -> Thinking:
        return Thinking("".join(self._parts), "".join(self._signature))


class _RedactedBlock:
    def __init__(self, blocks: list[_Block], start: Event) -> None:
        _append(blocks, self)
        self._data = _string(start, "data")

    def grow(self, delta: Event) -> None:
        return None

    def finish(self) -> None:
        return None

    def value(self) -> RedactedThinking:
        return RedactedThinking(self._data)


class _ToolBlock:
    """A call whose input comes as pieces of JSON.

    All that has come is parsed again at each piece, from ``OFTEN`` characters on only when
    it has grown by a 64th, so that the work stays in proportion. Measured: 20 kB of code in
    pieces of 8 bytes cost 20 ms in all, 200 kB 60 ms, 1 MB 0.2 s, spread over the minutes
    that a model needs.
    """

    def __init__(self, blocks: list[_Block], call_id: str, start: Event) -> None:
        self._number = _append(blocks, self)
        self.id = call_id
        self.wrong = ""
        self._name = _string(start, "name")
        self._input = dict(_mapping(start, "input"))  # whole at once, from some servers
        self._parts: list[str] = []
        self._length = 0
        self._next = 0
        """The length from which on to parse again."""
        self._shown: dict[str, Any] = {}

    def event(self, partial: dict[str, Any]) -> ModelEvent:
        self._shown = partial
        return ModelToolInput(self._number, self.id, self._name, partial)

    def grow(self, delta: Event) -> ModelEvent | None:
        piece = _string(delta, "partial_json")
        self._parts.append(piece)
        self._length += len(piece)
        if self._length < self._next:
            return None
        self._next = self._length + (self._length // 64 if self._length > OFTEN else 0)
        try:
            data = self._so_far().encode()
            partial = jiter.from_json(data, partial_mode="trailing-strings")
        except ValueError:
            return None  # broken, or broken off within an escape; judged when it is whole
        changed = isinstance(partial, dict) and partial != self._shown
        return self.event(partial) if changed else None

    def _so_far(self) -> str:
        whole = "".join(self._parts)
        self._parts = [whole]
        return whole

    def finish(self) -> ModelEvent | None:
        if self._length and (whole := self._so_far()).strip():
            try:
                self._input = _strict(whole)
            except (ValueError, RecursionError) as error:
                self.wrong = f"The input is not valid JSON: {error}"
        return self.event(self._input) if self._input != self._shown else None

    def value(self) -> ToolUse:
        return ToolUse(self.id, self._name, self._input)


def _strict(text: str) -> dict[str, Any]:
    """Python reads more than JSON: NaN, numbers without end, halves of surrogate pairs. None
    of them could be stored and sent back."""
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


def _some(*events: ModelEvent | None) -> list[ModelEvent]:
    return [event for event in events if event is not None]


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= MOST_TOKENS


def _mapping(event: Event, name: str) -> Event:
    value = event.get(name)
    return value if isinstance(value, Mapping) else {}


def _string(event: Event, name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _index(event: Event) -> int:
    value = event.get("index")
    return value if isinstance(value, int) else 0
