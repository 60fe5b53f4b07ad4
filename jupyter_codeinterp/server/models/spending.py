"""What this server's models may cost in a day, whoever asks: windows, clients, kernels.

A day is one of UTC. What has been spent stands in the journal's file, which all servers of a
person share and a restart keeps.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import date, datetime, timedelta, timezone
from typing import Any

from ...core.errors import ModelError, StoreError
from ...core.ports import Model, ModelDone, ModelEvent, ModelInfo, ModelRequest, ModelRetry
from ...core.stores import SpendingStore
from ...core.turn.meter import Unpaid, price_of

log = logging.getLogger(__name__)


def today() -> date:
    return datetime.now(timezone.utc).date()


class Spending:
    def __init__(self, store: SpendingStore, most: float, day: Callable[[], date] = today) -> None:
        """``most``: US dollars a day."""
        self._store = store
        self._most = most
        self._day = day
        self._unwritten: dict[date, float] = {}
        """What the journal could not take."""

    def check(self, info: ModelInfo) -> None:
        """Whether one more request may begin. Raises ModelError ``day_limit`` or
        ``not_allowed``."""
        if info.local or (info.prices is not None and not any(info.prices)):
            return
        limit = f"${self._most:.2f} a day"
        if info.prices is None:
            words = (
                f"What {info.id} costs is not known, and this server has a limit of {limit}. "
                "An admin may set its price (prices)."
            )
            raise ModelError("not_allowed", words)
        day = self._day()
        if self._spent(day) >= self._most:
            words = (
                f"This server's limit of {limit} for models is reached. "
                f"It begins anew on {day + timedelta(days=1)} at 00:00 UTC."
            )
            raise ModelError("day_limit", words)

    def _spent(self, day: date) -> float:
        try:
            kept = self._store.spent(day.isoformat())
        except StoreError as error:
            words = f"What models have cost today cannot be read. {error.message}"
            raise ModelError("server_error", words) from None
        return kept + self._unwritten.get(day, 0.0)

    def count(self, dollars: float | None) -> None:
        """After a request."""
        if not dollars:
            return
        day = self._day()
        dollars += self._unwritten.pop(day, 0.0)
        try:
            self._store.spend(day.isoformat(), dollars)
        except StoreError as error:
            log.warning("What a model has cost is not in the journal: %s", error.message)
            self._unwritten[day] = dollars


class PaidModel:
    """A model whose requests are counted, and none begun over the limit."""

    def __init__(self, model: Model, spending: Spending) -> None:
        self.always_ask = model.always_ask
        self._model = model
        self._spending = spending

    async def info(self, model: str) -> ModelInfo:
        return await self._model.info(model)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        info = await self._model.info(request.model)
        self._spending.check(info)
        unpaid: Unpaid | None = None
        done: ModelDone | None = None
        stream: Any = self._model.stream(request)
        try:
            async with aclosing(stream) as events:
                async for event in events:
                    if isinstance(event, ModelRetry):
                        self._count(info, unpaid)
                        unpaid = None
                    else:
                        unpaid = unpaid or Unpaid(request)
                        unpaid.hear(event)
                        done = event if isinstance(event, ModelDone) else None
                    yield event
        finally:
            self._count(info, unpaid, done)

    def _count(self, info: ModelInfo, unpaid: Unpaid | None, done: ModelDone | None = None) -> None:
        if unpaid is not None:
            usage = unpaid.settled(done.usage if done is not None else None)
            self._spending.count(price_of(info, usage))
