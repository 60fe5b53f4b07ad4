"""What all models may cost in a day: counted in the journal's file, for whoever asks."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ModelError, StoreError
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.models.anthropic.services import ANTHROPIC
from jupyter_codeinterp.models.http.provider import provider_of
from jupyter_codeinterp.models.offered.limits import OfferedModel, Spending
from jupyter_codeinterp.wire.messages import Usage
from jupyter_codeinterp.wire.ports import (
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelRead,
    ModelRequest,
    ModelRetry,
    ModelText,
)
from tests.fake_anthropic import FakeAnthropic, answer, run_cell
from tests.scripted import say
from tests.site import Site

SONNET, OPUS, HAIKU = "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"
DEAR = (1e6, 1e6, 1e6, 1e6)
"""A dollar a token."""


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    prices = {SONNET: DEAR, HAIKU: (0.1, 0.1, 0.1, 0.1)}
    return {"day_cost": 5.0, "prices": prices}


async def test_a_turn_over_the_limit_asks_no_model(site: Site, api: FakeAnthropic) -> None:
    """In a window: one that is under way stops before its next request, the next one does not
    begin, and a model of unknown price is not asked."""
    api.play(lambda request: answer(run_cell("x = 1", title="Set")))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Hi", model=OPUS)
    unknown = await w.ended(1)
    assert (unknown.stop_reason, unknown.code) == ("error", "not_allowed")
    assert f"The price of {OPUS} is unknown" in unknown.message
    assert "a limit of $5.00 a day" in unknown.message
    assert api.requests == []

    await w.ask("Hi", model=SONNET, mode="auto")
    ended = await w.ended(2)
    assert (ended.stop_reason, ended.code, ended.retry) == ("budget", "day_limit", False)
    assert "This server reached its limit of $5.00 a day for models." in ended.message
    assert ended.message.endswith(" at 00:00 UTC.") and "It resets on 20" in ended.message
    assert len(api.requests) == 1, "its first answer was over the limit"
    assert ended.cost is not None and ended.cost.dollars and ended.cost.dollars > 5

    await w.ask("Again", model=HAIKU)
    again = await w.ended(3)
    assert (again.code, again.cost, len(api.requests)) == ("day_limit", None, 1)


# --- counting --------------------------------------------------------------------------------


class Scripted:
    always_ask = False

    def __init__(self, *events: ModelEvent, info: ModelInfo, error: ModelError | None = None):
        self._events = events
        self._info = info
        self._error = error
        self.asked = 0

    async def info(self, model: str) -> ModelInfo:
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked += 1
        for event in self._events:
            yield event
        if self._error is not None:
            raise self._error


PRICED = ModelInfo("m", "m", 1_000, DEAR)
READ = ModelRead(Usage(3, 1))
HELLO = ModelText(0, "Hello, you.")
DONE = ModelDone(say("Hello, you."), "end_turn", Usage(3, 4))
REQUEST = ModelRequest("m", "", (), ())


class Days:
    now = date(2026, 12, 31)

    def __call__(self) -> date:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


async def spent(path: Path, model: Scripted) -> float:
    """What comes of asking the model once."""
    store = SqliteStore(path)
    with suppress(ModelError):
        await ask(model, Spending(store, 1_000.0, Days()))
    total = store.spent("2026-12-31")
    store.close()
    return total


def offered(model: Any, spending: Spending) -> OfferedModel:
    return OfferedModel(provider_of(ANTHROPIC), model, REQUEST.model, spending)


async def ask(model: Any, spending: Spending) -> None:
    async for _ in offered(model, spending).stream(REQUEST):
        pass


async def test_a_request_costs_what_was_counted_or_reckoned(path: Path) -> None:
    broken = ModelError("broken_stream", "Broken.")
    retry = ModelRetry("overloaded", "Busy.", 0.0, 1)
    assert await spent(path, Scripted(READ, HELLO, DONE, info=PRICED)) == 7.0
    assert await spent(path, Scripted(READ, HELLO, info=PRICED, error=broken)) == 7 + 6
    assert await spent(path, Scripted(READ, retry, READ, DONE, info=PRICED)) == 13 + 4 + 7
    assert await spent(path, Scripted(info=PRICED, error=broken)) == 24
    local = ModelInfo("m", "m", local=True)
    assert await spent(path, Scripted(READ, HELLO, DONE, info=local)) == 24


async def test_an_answer_that_is_left_is_counted(path: Path) -> None:
    store = SqliteStore(path)
    spending = Spending(store, 10.0, Days())
    paid = offered(Scripted(READ, HELLO, DONE, info=PRICED), spending)
    async with aclosing(paid.stream(REQUEST)) as events:
        async for event in events:
            if event is HELLO:
                break
    assert store.spent("2026-12-31") == 6.0
    store.close()


async def test_a_restart_forgets_nothing_and_a_new_day_begins_anew(path: Path) -> None:
    model, day = Scripted(READ, DONE, info=PRICED), Days()
    for _ in range(2):  # servers, one after the other: 7 dollars, and 14
        store = SqliteStore(path)
        await ask(model, Spending(store, 10.0, day))
        store.close()
    store = SqliteStore(path)
    spending = Spending(store, 10.0, day)
    with pytest.raises(ModelError, match="resets on 2027-01-01 at 00:00 UTC") as caught:
        await ask(model, spending)
    assert (caught.value.code, model.asked) == ("day_limit", 2)
    free = Scripted(READ, DONE, info=ModelInfo("m", "m", local=True))
    await ask(free, spending)
    day.now = date(2027, 1, 1)
    await ask(model, spending)
    assert (free.asked, model.asked) == (1, 3)
    store.close()


async def test_two_servers_spend_from_one_purse(path: Path) -> None:
    one, two = SqliteStore(path), SqliteStore(path)
    model = Scripted(READ, DONE, info=PRICED)
    await ask(model, Spending(one, 7.0, Days()))
    with pytest.raises(ModelError, match="reached its limit"):
        await ask(model, Spending(two, 7.0, Days()))
    one.close()
    two.close()


async def test_what_the_journal_cannot_take_is_kept_in_mind(path: Path) -> None:
    class Full(SqliteStore):
        full = True

        def spend(self, day: str, dollars: float) -> None:
            if self.full:
                raise StoreError("disk_full", "The disk is full.")
            super().spend(day, dollars)

    store = Full(path)
    model, spending = Scripted(READ, DONE, info=PRICED), Spending(store, 14.0, Days())
    await ask(model, spending)
    store.full = False
    await ask(model, spending)
    assert store.spent("2026-12-31") == 14.0
    with pytest.raises(ModelError, match="reached its limit"):
        await ask(model, spending)
    store.close()


async def test_where_the_journal_cannot_be_read_nothing_is_asked(path: Path) -> None:
    class Unreadable(SqliteStore):
        def spent(self, day: str) -> float:
            raise StoreError("locked", "Another program has it.")

    model = Scripted(READ, DONE, info=PRICED)
    with pytest.raises(ModelError, match=r"Could not read today's model costs\."):
        await ask(model, Spending(Unreadable(path), 14.0))
    assert model.asked == 0
