"""The admin's limits: allowed providers and models, and sources of keys."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from datetime import date, datetime, timedelta, timezone
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Union

import msgspec

from ...base.errors import ModelError, StoreError
from ...base.sentences import Sentence
from ...journal.sqlite.store import SqliteStore
from ...run.turn.meter import CallUsage, price_of
from ...wire.messages import Usage
from ...wire.ports import Model, ModelDone, ModelEvent, ModelInfo, ModelRequest, ModelRetry
from ...wire.providers import Provider, failed


class AllowedModels(msgspec.Struct, frozen=True):
    """Allowed providers and models; None: all.

    models            ``provider/model`` with ``*`` as wildcard; the default provider's name is
                      optional
    environment_only  only the server's environment and configuration set keys and addresses
    day_cost          US dollars for all requests of a day (``Spending``)
    """

    providers: Union[tuple[str, ...], None] = None
    models: Union[tuple[str, ...], None] = None
    environment_only: bool = False
    day_cost: Union[float, None] = None

    def provider(self, name: str) -> bool:
        return self.providers is None or name in self.providers

    def model(self, provider: Provider, model: str, is_default: bool) -> bool:
        """Whether a model is allowed; ``model`` may include the provider's name."""
        if not self.provider(provider.name):
            return False
        if self.models is None:
            return True
        bare = model.removeprefix(f"{provider.name}/")
        names = [f"{provider.name}/{bare}"]
        if is_default or bare == provider.name:
            names.append(bare)
        return any(fnmatchcase(name, allowed) for name in names for allowed in self.models)

    def check(self, provider: Provider, model: str, is_default: bool) -> None:
        """Raises ModelError ``not_allowed``."""
        if not self.provider(provider.name):
            words = "The admin of this server does not allow {label}."
            raise ModelError("not_allowed", words, label=provider.label)
        if not self.model(provider, model, is_default):
            words = "The admin of this server does not allow the model “{model}”."
            raise ModelError("not_allowed", words, model=model)


# -------------------------------------------------------------------------------------------------
# The cost limit of a day (UTC) for all model calls, from windows, clients and kernels.
#
# The journal's file holds the costs. All servers of a person share it, and it survives restarts.

log = logging.getLogger(__name__)


def today() -> date:
    return datetime.now(timezone.utc).date()


class Spending:
    def __init__(self, store: SqliteStore, most: float, day: Callable[[], date] = today) -> None:
        """``most``: US dollars a day."""
        self._store = store
        self._most = most
        self._day = day
        self._unwritten: dict[date, float] = {}
        """Costs that could not be journaled yet."""

    def check(self, info: ModelInfo) -> None:
        """Raises ModelError ``day_limit`` or ``not_allowed`` if no request may begin."""
        if info.local or (info.prices is not None and not any(info.prices)):
            return
        limit = f"${self._most:.2f} a day"
        if info.prices is None:
            words = Sentence(
                "The price of {id} is unknown, and this server has a limit of {limit}. "
                "An admin can set its price (prices).",
                id=info.id,
                limit=limit,
            )
            raise ModelError("not_allowed", words)
        day = self._day()
        if self._spent(day) >= self._most:
            words = Sentence(
                "This server reached its limit of {limit} for models. It resets on "
                "{what} at 00:00 UTC.",
                limit=limit,
                what=day + timedelta(days=1),
            )
            raise ModelError("day_limit", words)

    def _spent(self, day: date) -> float:
        try:
            kept = self._store.spent(day.isoformat())
        except StoreError as error:
            words = Sentence("Could not read today's model costs. {message}", message=error.message)
            raise ModelError("server_error", words) from None
        return kept + self._unwritten.get(day, 0.0)

    def charge(self) -> Callable[[float], None]:
        """A function that charges dollars to today, even after midnight."""
        return partial(self._spend, self._day())

    def _spend(self, day: date, dollars: float) -> None:
        dollars += self._unwritten.pop(day, 0.0)
        try:
            self._store.spend(day.isoformat(), dollars)
        except StoreError as error:
            log.warning("Could not save the cost of a model call: %s", error.message)
            self._unwritten[day] = dollars


class OfferedModel:
    """A provider's model under its full id. Its requests count towards the day's limit, if there is
    one. Any exception of the provider becomes a CodeInterpError, so that the turn ends with a
    message."""

    def __init__(
        self, provider: Provider, model: Model, name: str, spending: Spending | None
    ) -> None:
        """``name``: the provider's name for the model."""
        self.always_ask = provider.always_ask or bool(model.always_ask)
        self._provider = provider
        self._model = model
        self._name = name
        self._spending = spending

    async def info(self, model: str) -> ModelInfo:
        try:
            known = await self._model.info(self._name)
            return msgspec.structs.replace(known, id=model)
        except Exception as error:
            raise failed(self._provider, error) from error

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        cost = None
        if self._spending is not None:
            info = await self.info(request.model)
            self._spending.check(info)
            cost = _Cost(request, info, self._spending.charge())
        events: Any = None
        broke_off = False
        try:
            events = self._model.stream(msgspec.structs.replace(request, model=self._name))
            async for event in events:
                if cost is not None:
                    cost.receive(event)
                yield event
        except Exception as error:
            broke_off = True
            raise failed(self._provider, error) from error
        finally:
            if cost is not None:
                cost.settle(broke_off)
            if hasattr(events, "aclose"):
                await events.aclose()


class _Cost:
    """Charges the cost of a request: an estimate first and the difference at the end, so an
    interrupted request counts too. One that fails before the first event costs nothing."""

    def __init__(
        self, request: ModelRequest, info: ModelInfo, charge: Callable[[float], None]
    ) -> None:
        self._request = request
        self._info = info
        self._charge = charge
        self._begin()

    def _begin(self) -> None:
        self._used = CallUsage(self._request)
        self._usage: Usage | None = None
        self._received = False
        self._charged = 0.0
        self.settle(failed=False)

    def receive(self, event: ModelEvent) -> None:
        if isinstance(event, ModelRetry):
            self.settle(failed=True)
            self._begin()
            return
        self._received = True
        self._used.observe(event)
        self._usage = event.usage if isinstance(event, ModelDone) else None

    def settle(self, failed: bool) -> None:
        refused = failed and not self._received
        price = price_of(self._info, self._used.total(self._usage))
        dollars = 0.0 if refused or price is None else price
        if dollars != self._charged:
            self._charge(dollars - self._charged)
        self._charged = dollars
