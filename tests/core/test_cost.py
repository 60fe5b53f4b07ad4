"""What a turn costs: also what was read and written for an answer that never came to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Usage
from jupyter_codeinterp.wire.ports import ModelDone, ModelRead, ModelRetry
from tests.scripted import Bench, Stream, run, say

Benches = Callable[..., Bench]

READ = Usage(200, 1, 30, 4)
"""What a server says at its beginning."""


def used(b: Bench) -> list[Usage]:
    """By each call."""
    total, found = Usage(), []
    for said in b.of(e.UsageChanged):
        before, total = total, said.usage
        names = Usage.__struct_fields__
        found.append(Usage(*(getattr(total, name) - getattr(before, name) for name in names)))
    return found


@pytest.fixture
def broken() -> Stream:
    """Broken off after 30 characters."""
    error = ModelError("broken_stream", "The connection broke.")
    return Stream(say("123 " * 100), (ModelRead(READ),), 10, error)


async def test_a_try_that_broke_off_is_paid_for(bench: Benches, broken: Stream) -> None:
    b = bench(broken, say("Done."))
    ended = await b.turn()
    assert used(b) == [Usage(200, 10, 30, 4), Usage(100, 10)]
    dollars = (200 * 3 + 10 * 15 + 30 * 3.75 + 4 * 0.3 + 100 * 3 + 10 * 15) / 1e6
    assert ended.cost is not None and ended.cost.dollars == pytest.approx(dollars)
    (model,) = b.of(e.UsageChanged)[-1].models
    assert model.usage == Usage(300, 20, 30, 4) and model.cost == pytest.approx(dollars)


async def test_each_try_of_a_turn_that_fails_is_paid_for(bench: Benches, broken: Stream) -> None:
    b = bench(broken, broken)
    ended = await b.turn()
    assert (ended.code, len(used(b))) == ("broken_stream", 2)
    assert ended.cost is not None and ended.cost.dollars


async def test_what_was_read_before_a_retry_is_paid_for(bench: Benches) -> None:
    retry = ModelRetry("overloaded", "Busy.", 0.0, 1)
    b = bench(Stream(say("Done."), (ModelRead(READ), retry, ModelRead(READ))))
    await b.turn()
    assert used(b) == [READ, Usage(100, 10)]


async def test_a_call_that_never_began_costs_nothing(bench: Benches) -> None:
    b = bench(ModelError("overloaded", "Busy."))
    ended = await b.turn()
    assert (ended.code, ended.cost, used(b)) == ("overloaded", None, [])


async def test_an_answer_that_stop_broke_off_is_paid_for(bench: Benches) -> None:
    b = bench(Stream(say("A long answer."), (ModelRead(READ),)))
    b.model.hold = asyncio.Event()
    b.send()
    await b.event(e.TextDelta)
    b.session.task.cancel()
    ended = await b.ended()
    assert ended.stop_reason == "cancelled"
    assert used(b) == [Usage(200, 1, 30, 4)]
    assert ended.cost is not None and ended.cost.dollars == pytest.approx(0.0007287)


async def test_what_a_server_does_not_count_is_reckoned(bench: Benches) -> None:
    """Not nothing: a limit would never be reached."""
    b = bench(ModelDone(run("x = 1"), "tool_use", Usage()), say("Done."))
    await b.turn("Why? " * 100)
    first, second = used(b)
    assert first.input_tokens > 500 // 3 and second == Usage(100, 10)


async def test_a_recording_counts_nothing(bench: Benches) -> None:
    b = bench(ModelDone(say("Done."), "end_turn", Usage()))
    b.model.prices = (0.0, 0.0, 0.0, 0.0)
    ended = await b.turn()
    assert ended.cost == e.Cost(0.0) and used(b) == [Usage()]
    assert b.of(e.UsageChanged)[-1].context_share == 0.0
