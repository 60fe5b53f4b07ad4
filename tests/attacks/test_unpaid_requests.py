"""Whoever stops a turn, or whose server ends, before the first word has used what was sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_codeinterp.models.offered.limits import today
from jupyter_codeinterp.wire.commands import Cancel
from tests.fake_anthropic import FakeAnthropic, answer, text
from tests.fake_anthropic.turns import wrong_key
from tests.site import Site

SONNET = "claude-sonnet-5-5"
DEAR = (1e6, 1e6, 1e6, 1e6)
"""A dollar a token."""
LONG = "word " * 300
"""Some 500 tokens."""
SLOW = answer(text("Never heard.")).at(first=600.0)


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"day_cost": 900.0, "prices": {SONNET: DEAR}}


def _spent(site: Site) -> float:
    return site.extension.workbench.store.spent(today().isoformat())


async def test_a_turn_is_stopped_before_the_first_word(site: Site, api: FakeAnthropic) -> None:
    api.play(lambda request: SLOW)
    w = await site.window(kernel_id=await site.kernel())
    await w.ask(LONG, model=SONNET)
    await api.seen(1)
    spent = _spent(site)
    assert spent > 450, "it is paid for as soon as it is sent"
    await w.send(Cancel(w.session_id))
    await asyncio.wait_for(api.requests[0].gone.wait(), 30)
    await w.ended(1)
    assert _spent(site) >= spent


async def test_the_server_ends_while_a_request_is_under_way(site: Site, api: FakeAnthropic) -> None:
    """What the journal's file says then is what the next server finds."""
    api.play(lambda request: SLOW)
    w = await site.window(kernel_id=await site.kernel())
    await w.ask(LONG, model=SONNET)
    await api.seen(1)
    assert _spent(site) > 450


async def test_a_refused_request_costs_nothing(site: Site, api: FakeAnthropic) -> None:
    """Nor does it shut out those that come after it."""
    api.play(lambda request: wrong_key())
    w = await site.window(kernel_id=await site.kernel())
    await w.ask(LONG, model=SONNET)
    assert (await w.ended(1)).stop_reason == "error"
    assert len(api.requests) == 1
    assert _spent(site) == 0
