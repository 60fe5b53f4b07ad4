"""A session's usage: tokens, dollars, and the share of the model's context."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...wire.events import Cost, ModelUse, UsageChanged
from ...wire.messages import AnyBlock, Document, Image, Text, Thinking, ToolResult, ToolUse, Usage
from ...wire.ports import (
    ASSUMED_WINDOW,
    ModelEvent,
    ModelInfo,
    ModelRead,
    ModelRequest,
    ModelText,
    ModelThinking,
    ModelToolInput,
)

CHARACTERS = 3
"""Characters a token, for estimates; errs on the expensive side."""
AN_IMAGE = 4_800
"""Characters that an image counts as: 1,600 tokens, the most that the Messages API counts for one
(platform.claude.com/docs, vision)."""

OF_A_PDF = 0.3
"""Characters that a byte of a PDF counts as: 100 kB are about ten pages of 1,500 to 3,000 tokens
(the same docs, PDF support)."""


class Meter:
    """Continues from the journal's last ``UsageChanged``. ``begin_turn`` names the model."""

    def __init__(
        self,
        last: UsageChanged | None = None,
        spent: Callable[[float | None], None] = lambda dollars: None,
    ) -> None:
        """Calls ``spent`` with the cost of each model call, None if unknown."""
        last = last or UsageChanged(Usage(), 0.0, 0.0, local=True)
        self.turn_cost: float | None = 0.0
        self.latest: float | None = 0.0
        """The cost of the turn's latest model call."""
        self._info = ModelInfo("", "")
        self._spent = spent
        self.total = last.usage
        self.cost = last.cost
        self.share = last.context_share
        self._local = last.local
        self._models = {use.model: use for use in last.models}

    def begin_turn(self, info: ModelInfo) -> None:
        self._info = info
        self.turn_cost = self.latest = 0.0

    def add(self, usage: Usage) -> UsageChanged:
        """Add a call of the turn's model. One unknown price makes the sum unknown."""
        info = self._info
        window = info.context_window or ASSUMED_WINDOW
        self.share = (usage.total_input + usage.output_tokens) / window
        self.latest = price = price_of(info, usage)
        self._spent(price)
        self.total = self.total + usage
        self.cost = _sum(self.cost, price)
        self.turn_cost = _sum(self.turn_cost, price)
        self._local = self._local and info.local
        before = self._models.get(info.id, ModelUse(info.id, Usage(), 0.0))
        self._models[info.id] = ModelUse(
            info.id, before.usage + usage, _sum(before.cost, price), info.local, info.prices_seen
        )
        return UsageChanged(
            self.total,
            self.share,
            self.cost,
            context_known=info.context_window is not None,
            local=self._local,
            turn=Cost(self.turn_cost, info.local),
            models=tuple(self._models.values()),
        )

    @property
    def priced(self) -> bool:
        return self._info.local or self._info.prices is not None

    @property
    def estimates(self) -> bool:
        """Whether to estimate uncounted calls: not if all calls are free (a recording)."""
        return self._info.prices is None or any(self._info.prices)

    def new_conversation(self) -> None:
        self.share = 0.0


def price_of(info: ModelInfo, usage: Usage) -> float | None:
    """US dollars; None if unknown."""
    if info.local:
        return 0.0
    prices = info.prices
    if prices is None:
        return None
    if info.long_prompts is not None and usage.total_input > info.long_prompts.over:
        prices = info.long_prompts.prices
    counts = (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    )
    return sum(n * price for n, price in zip(counts, prices, strict=True)) / 1e6


class CallUsage:
    """Estimates the usage of a call that broke off, or whose server reports none. Feed it every
    event in order (``observe``)."""

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._read: Usage | None = None
        self._written: dict[int, int] = {}
        """Characters of the reply so far, by block."""

    def observe(self, event: ModelEvent) -> None:
        if isinstance(event, ModelRead):
            self._read = event.usage
        elif isinstance(event, (ModelText, ModelThinking)):
            self._written[event.block] = self._written.get(event.block, 0) + len(event.text)
        elif isinstance(event, ModelToolInput):
            texts = (part for part in event.partial.values() if isinstance(part, str))
            self._written[event.block] = sum(map(len, texts))

    def total(self, usage: Usage | None) -> Usage:
        """``usage`` if the server reported it; else the report at the stream's start, if any, plus
        an estimate."""
        if usage is not None and usage.total_input + usage.output_tokens:
            return usage
        written = sum(self._written.values()) // CHARACTERS
        if self._read is not None:
            most = max(self._read.output_tokens, written)
            return msgspec.structs.replace(self._read, output_tokens=most)
        request = self._request
        said = sum(_length(block) for message in request.messages for block in message.content)
        tools = sum(len(str(tool)) for tool in request.tools)
        return Usage((len(request.system) + tools + said) // CHARACTERS, written)


def _length(block: AnyBlock) -> int:
    if isinstance(block, Text):
        return len(block.text)
    if isinstance(block, Thinking):
        return len(block.thinking)
    if isinstance(block, Image):
        return AN_IMAGE
    if isinstance(block, Document):
        return int(len(block.source.data) * 3 / 4 * OF_A_PDF)
    if isinstance(block, ToolUse):
        return sum(len(str(value)) for value in block.input.values())
    if isinstance(block, ToolResult):
        return sum(_length(part) for part in block.content)
    return 0


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
