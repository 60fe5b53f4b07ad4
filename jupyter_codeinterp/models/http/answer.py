"""Builds the Message of a streamed answer, and the ModelEvents to show meanwhile.

Each API's reader names a block by a key of its own, from ``start_…`` to ``stop``. In the message
a block gets its number with its first content, so ``block`` of an event is its index there. A
blank text never gets one: the APIs refuse it when it comes back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard, Union

import jiter

from ...wire.messages import AnyBlock, Message, RedactedThinking, Text, Thinking, ToolUse, Usage
from ...wire.ports import ModelDone, ModelEvent, ModelRead, ModelText, ModelThinking, ModelToolInput

OFTEN = 20_000
"""Characters of a call's input up to which each piece is shown at once."""
MOST_TOKENS = 10**12
"""Most tokens of one call. Larger numbers from a server are false."""
CHARACTERS_PER_TOKEN = 64
"""Characters of an answer's content; tokens of code have 3 to 4."""
OTHER_CHARACTERS = 200_000
"""Characters of signatures and the like, which are no tokens."""
CHARACTERS_OF_A_PIECE = 10
"""Counted for each piece, however short."""
MOST_BLOCKS = 200
"""Texts and tool calls of one answer. Each call of a writing tool makes a cell."""
NOTHING_SAID = "(nothing said)"
"""Text of a message without one: the APIs refuse empty messages, and assistant messages that end
with thinking."""


class Unbounded(Exception):
    """A server sends more, or takes longer, than any model server would."""


class _Block:
    """A block in progress. ``add`` takes a piece; it and ``finish`` return the events to show."""

    def add(self, piece: str) -> list[ModelEvent]:
        return []

    def finish(self) -> list[ModelEvent]:
        return []

    def value(self) -> AnyBlock:
        raise NotImplementedError


_Blocks = list[Union[_Block, RedactedThinking]]


class AnswerBuilder:
    """One answer. ``taken`` are the tool call ids of the conversation so far. The APIs refuse
    requests with a repeated id, so a repeated one gets a suffix (``toolu_1-2``). ``done`` tells
    whether the message is complete; otherwise the stream broke off.

    Raises Unbounded if an answer of ``max_tokens`` cannot be that long.
    """

    def __init__(self, max_tokens: int, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._open: dict[int, _Block] = {}
        self._blocks: _Blocks = []
        self._usage: dict[str, int] = {}
        self._characters_left = OTHER_CHARACTERS + CHARACTERS_PER_TOKEN * max_tokens
        self._blocks_left = MOST_BLOCKS
        self._progressed = False
        self.calls = 0
        self.done = False

    def progressed(self) -> bool:
        """Whether content has come since the last call."""
        progressed, self._progressed = self._progressed, False
        return progressed

    # --- blocks --------------------------------------------------------------------------

    def start_text(self, key: int) -> list[ModelEvent]:
        return self._start(key, lambda: _TextBlock(self._blocks))

    def start_thinking(self, key: int) -> list[ModelEvent]:
        return self._start(key, lambda: _ThinkingBlock(self._blocks))

    def start_call(
        self, key: int, call_id: str, name: str, whole: Mapping[str, Any] = {}
    ) -> list[ModelEvent]:
        """``whole``: the input, of servers that send it at once."""
        self.calls += 1
        ended = self.start_other(key)
        call = self._open[key] = _ToolBlock(self._blocks, self._unique(call_id), name, whole)
        return [*ended, call.event({})]

    def start_other(self, key: int) -> list[ModelEvent]:
        """Begin a block that is not shown. Ends an open one with the same key: some servers call
        every block number 0."""
        ended = self.stop(key)
        self._blocks_left -= 1
        self._receive("")
        return ended

    def redacted(self, data: str) -> None:
        """Add data that goes back to the model unchanged and is never shown."""
        self._blocks.append(RedactedThinking(data))
        self._progressed = True

    def more(self, key: int, piece: str) -> list[ModelEvent]:
        """The next piece of a text, of thinking, or of the JSON of a call's input."""
        self._receive(piece)
        block = self._open.get(key)
        return block.add(piece) if block else []

    def sign(self, key: int, signature: str) -> None:
        self._receive(signature)
        block = self._open.get(key)
        if isinstance(block, _ThinkingBlock):
            block.signature += signature

    def stop(self, key: int) -> list[ModelEvent]:
        block = self._open.pop(key, None)
        return block.finish() if block else []

    def _start(self, key: int, make: Any) -> list[ModelEvent]:
        ended = self.start_other(key)
        self._open[key] = make()
        return ended

    def _receive(self, piece: str) -> None:
        self._progressed = True
        self._characters_left -= CHARACTERS_OF_A_PIECE + len(piece)
        if min(self._characters_left, self._blocks_left) < 0:
            raise Unbounded("the answer is too large")

    def _unique(self, call_id: str) -> str:
        call_id = call_id or "call"
        unique, n = call_id, 1
        while unique in self._taken:
            n += 1
            unique = f"{call_id}-{n}"
        self._taken.add(unique)
        return unique

    # --- the end -------------------------------------------------------------------------

    def count(self, usage: Any) -> list[ModelEvent]:
        """Take tokens, named as in Usage: totals so far, so later ones replace earlier ones."""
        if isinstance(usage, Mapping):
            names = Usage.__struct_fields__
            self._usage.update(
                (name, value) for name in names if is_count(value := usage.get(name))
            )
        read = Usage(**self._usage)
        return [ModelRead(read)] if read.total_input else []

    def finish(self, stop_reason: str, detail: str = "") -> list[ModelEvent]:
        """Complete the message. The last event is ModelDone."""
        if self.done or not stop_reason:  # the APIs always give a reason
            return []
        rest = [event for key in sorted(self._open) for event in self.stop(key)]
        self.done = True
        calls = [block for block in self._blocks if isinstance(block, _ToolBlock)]
        done = ModelDone(
            message=Message("assistant", tuple(map(_value, self._blocks))),
            stop_reason=stop_reason,
            usage=Usage(**self._usage),
            invalid={call.id: call.wrong for call in calls if call.wrong},
            detail=detail,
        )
        return [*rest, done]


class _TextBlock(_Block):
    def __init__(self, blocks: _Blocks) -> None:
        self._blocks = blocks
        self._number: int | None = None
        self._parts: list[str] = []

    def add(self, piece: str) -> list[ModelEvent]:
        piece = _whole(piece)
        self._parts.append(piece)
        if self._number is None:
            if not piece.strip():
                return []
            self._number = _append(self._blocks, self)
            piece = "".join(self._parts)
        return [ModelText(self._number, piece)] if piece else []

    def value(self) -> Text:
        return Text("".join(self._parts))


class _ThinkingBlock(_Block):
    def __init__(self, blocks: _Blocks) -> None:
        self._number = _append(blocks, self)
        self._parts: list[str] = []
        self.signature = ""

    def add(self, piece: str) -> list[ModelEvent]:
        text = _whole(piece)
        self._parts.append(text)
        return [ModelThinking(self._number, text)] if text else []

    def value(self) -> Thinking:
        return Thinking("".join(self._parts), self.signature)


class _ToolBlock(_Block):
    """A call whose input arrives as pieces of JSON. An SDK's own snapshot shows a string of it
    only when that is complete, and silently accepts broken JSON.

    Each piece triggers a new parse of the whole; beyond ``OFTEN`` characters, only growth by a
    64th does. That keeps the work proportional. Measured: 20 kB of code in pieces of 8 bytes
    cost 20 ms in all, 200 kB 60 ms, 1 MB 0.2 s, spread over the minutes that a model needs.
    """

    def __init__(self, blocks: _Blocks, call_id: str, name: str, whole: Mapping[str, Any]) -> None:
        self._number = _append(blocks, self)
        self.id = call_id
        self.wrong = ""
        self._name = name
        self._input = dict(whole)
        self._parts: list[str] = []
        self._length = 0
        self._next = 0
        """The length at which to parse again."""
        self._shown: dict[str, Any] = {}

    def event(self, partial: dict[str, Any]) -> ModelEvent:
        self._shown = partial
        return ModelToolInput(self._number, self.id, self._name, partial)

    def add(self, piece: str) -> list[ModelEvent]:
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


def _append(blocks: _Blocks, block: _Block) -> int:
    blocks.append(block)
    return len(blocks) - 1


def _value(block: _Block | RedactedThinking) -> AnyBlock:
    return block if isinstance(block, RedactedThinking) else block.value()


def is_count(value: Any) -> TypeGuard[int]:
    """Whether this is a number of tokens. ``True`` is none."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


# -------------------------------------------------------------------------------------------------
# Reads values of events of any shape.


def mapping(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def string(value: Any, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def objects(value: Any, name: str) -> list[dict[str, Any]]:
    """The list's items that are objects."""
    found = value.get(name) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
