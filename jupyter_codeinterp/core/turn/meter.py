"""What a session has used: tokens, dollars, and the share of the model's context."""

from __future__ import annotations

from ..events import UsageChanged
from ..messages import Usage
from ..ports import ModelInfo


class Meter:
    """Goes on from the journal's last ``UsageChanged``. ``begin_turn`` names the model."""

    def __init__(self, last: UsageChanged | None = None) -> None:
        self.turn_cost: float | None = 0.0
        self._info = ModelInfo("", "", 1)
        self.total = last.usage if last is not None else Usage()
        self.cost: float | None = last.cost if last is not None else 0.0
        self.share = last.context_share if last is not None else 0.0

    def begin_turn(self, info: ModelInfo) -> None:
        self._info = info
        self.turn_cost = 0.0

    def add(self, usage: Usage) -> UsageChanged:
        """After a model call. The sum is unknown once one call's price was."""
        price = self._price(usage)
        self.total = self.total + usage
        self.cost = _sum(self.cost, price)
        self.turn_cost = _sum(self.turn_cost, price)
        self.share = (usage.total_input + usage.output_tokens) / self._info.context_window
        return UsageChanged(self.total, self.share, self.cost)

    def new_conversation(self) -> None:
        self.share = 0.0

    def _price(self, usage: Usage) -> float | None:
        if self._info.prices is None:
            return None
        counts = (
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_creation_input_tokens,
            usage.cache_read_input_tokens,
        )
        return sum(n * price for n, price in zip(counts, self._info.prices, strict=True)) / 1e6


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
