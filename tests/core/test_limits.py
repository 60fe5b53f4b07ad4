"""What stops a turn that would not stop by itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.messages import ToolUse, Usage, assistant
from jupyter_codeinterp.core.ports import ModelDone, ModelInfo
from jupyter_codeinterp.core.turn.limits import Limits, Rules
from jupyter_codeinterp.core.turn.loop_guard import LoopGuard
from jupyter_codeinterp.core.turn.meter import Meter
from tests.core.conftest import Room
from tests.kernels import until
from tests.scripted import Bench, call, fix, run, say

Benches = Callable[..., Bench]


async def test_the_same_call_again_and_again(bench: Benches, room: Room) -> None:
    b = bench(*(run("1 / 0") for _ in range(9)))
    ended = await b.turn()
    assert (ended.stop_reason, ended.code) == ("error", "loop")
    assert "3 times" in ended.message
    assert await room.ran() == ["1 / 0"] * 3
    notes = ["gave the same result" in text for text in b.results]
    assert notes == [False, True, False]


async def test_the_same_error_at_the_same_line(bench: Benches) -> None:
    tries = [fix(f"# try {number}\n1 / 0") for number in range(9)]
    b = bench(run("1 / 0"), *tries)
    ended = await b.turn()
    assert ended.code == "loop" and "4 times" in ended.message
    notes = ["gave the same result" in text for text in b.results]
    assert notes == [False, False, True, False]
    assert len(ended.failed) == 1
    assert b.document.sources() == ["x = 20", "# try 2\n1 / 0"]


async def test_a_failed_cell_left_standing_can_be_removed(bench: Benches) -> None:
    b = bench(*(run("1 / 0") for _ in range(9)))
    for cell_id in (await b.turn()).failed:
        await b.session.reviews.remove(cell_id)
    assert b.document.sources() == ["x = 20"]
    with pytest.raises(Exception, match="not one of the agent's"):
        await b.session.reviews.remove("c1")


async def test_the_calls_after_a_loop_are_answered_and_leave_no_draft(bench: Benches) -> None:
    message = assistant(
        *itertools.chain.from_iterable(call("read_notebook").content for _ in range(3)),
        *run("a = 1").content,
    )
    b = bench(message)
    ended = await b.turn()
    assert ended.code == "loop"
    assert [text.split()[0] for text in b.results] == ["status=ok"] * 3 + ["status=not_started"]
    assert b.document.sources() == ["x = 20"]


async def test_a_model_that_heeds_the_note_goes_on(bench: Benches) -> None:
    b = bench(run("1 / 0"), run("1 / 0"), run("1 / 1"), say("Done."))
    assert (await b.turn()).stop_reason == "end_turn"


async def test_the_limit_of_steps(bench: Benches, room: Room) -> None:
    script = [run(f"a = {number}") for number in range(9)]
    b = bench(*script, rules=Rules(Limits(steps=3)))
    ended = await b.turn()
    assert (ended.stop_reason, ended.code) == ("max_steps", "max_steps")
    assert ended.message and len(b.model.requests) == 3
    assert await room.ran() == ["a = 0", "a = 1", "a = 2"]
    b.model.script = [say("Done.")]
    assert (await b.turn("Go on")).stop_reason == "end_turn"


async def test_the_limit_of_steps_is_twenty_five() -> None:
    assert Limits().steps == 25


async def test_the_cost_limit_of_a_turn(bench: Benches) -> None:
    dear = [ModelDone(run(f"a = {n}"), "tool_use", Usage(100_000, 0)) for n in range(9)]
    b = bench(*dear, rules=Rules(Limits(cost=0.5)), context_window=10**9)
    ended = await b.turn()
    assert (ended.stop_reason, ended.code) == ("budget", "cost_limit")
    assert "$0.50" in ended.message and len(b.model.requests) == 2
    await b.turn()
    assert len(b.model.requests) == 4, "the limit is a turn's, not the session's"


async def test_without_prices_there_is_no_cost(bench: Benches) -> None:
    b = bench(run("1"), say("Done."))
    b.model.prices = None
    assert (await b.turn()).stop_reason == "end_turn"
    assert {x.cost for x in b.of(e.UsageChanged)} == {None}


async def test_a_model_of_unknown_price_is_not_asked_under_a_limit_of_cost(bench: Benches) -> None:
    b = bench(say("Done."), rules=Rules(Limits(cost=100.0)))
    b.model.prices = None
    ended = await b.turn()
    assert (ended.stop_reason, ended.code) == ("budget", "cost_limit")
    assert "is unknown, and a turn may cost at most $100.00 here" in ended.message
    assert b.model.requests == []


async def test_the_time_limit_is_for_unattended_turns(bench: Benches) -> None:
    rules = Rules(Limits(turn_timeout=0.0))
    b = bench(run("1"), say("Done."), rules=rules)
    ended = await b.turn(mode="auto")
    assert (ended.stop_reason, ended.code) == ("budget", "time_limit")
    reviewed = bench(say("Done."), rules=rules)
    assert (await reviewed.turn(mode="review")).stop_reason == "end_turn"


async def test_waiting_for_the_person_is_no_time_of_the_turn(bench: Benches) -> None:
    rules = Rules(Limits(turn_timeout=1.0))
    b = bench(call("delete_cell", cell_id="c1"), say("Done."), rules=rules)
    b.send(mode="auto")
    draft = await b.draft()
    turn = b.session._turn
    assert turn is not None
    await until(lambda: turn.clock.unattended > 1.0)
    b.decide(draft, "reject")
    assert (await b.ended()).stop_reason == "end_turn"


async def test_sums_go_on_from_turn_to_turn_and_over_a_restart(bench: Benches) -> None:
    b = bench(say("One."), say("Two."), say("Three."))
    await b.turn()
    await b.turn()
    b.restart_server()
    await b.turn()
    totals = [x.usage.input_tokens for x in b.of(e.UsageChanged)]
    assert totals == [100, 200, 300]
    costs = [x.cost for x in b.of(e.UsageChanged)]
    assert costs == pytest.approx([0.00045, 0.0009, 0.00135])
    assert b.of(e.UsageChanged)[0].context_share == pytest.approx(110 / 200_000)


def test_each_call_costs_what_its_own_model_costs() -> None:
    meter = Meter()
    meter.begin_turn(ModelInfo("dear", "", 100, (10.0, 0.0, 0.0, 0.0)))
    meter.add(Usage(1_000_000))
    meter.begin_turn(ModelInfo("cheap", "", 100, (1.0, 2.0, 3.0, 4.0)))
    assert meter.add(Usage(1_000_000, 1_000_000, 1_000_000, 1_000_000)).cost == 20.0
    assert meter.turn_cost == 10.0
    meter.begin_turn(ModelInfo("unknown", "", 100))
    assert meter.add(Usage(1)).cost is None


# --- the guard by itself -------------------------------------------------------------


def tried(guard: LoopGuard, result: str, error: str | None = None, **given: object) -> str:
    return guard.add(ToolUse("t", "run_cell", given), result, error)


def test_ids_counts_and_times_do_not_make_a_result_another() -> None:
    guard = LoopGuard()
    words = "status=ok cell_id={} execution_count={} elapsed={}s\n42"
    said = [tried(guard, words.format(n, n, n), source="1") for n in range(3)]
    assert said == ["go", "note", "stop"]


def test_another_result_or_input_is_progress() -> None:
    guard = LoopGuard()
    assert [tried(guard, f"status=ok\n{n}", source="next()") for n in range(5)] == ["go"] * 5
    assert [tried(guard, "status=ok", source=str(n)) for n in range(5)] == ["go"] * 5


def test_a_title_makes_no_difference() -> None:
    guard = LoopGuard()
    said = [tried(guard, "status=ok", source="1", title=str(n)) for n in range(3)]
    assert said == ["go", "note", "stop"]


def test_errors_count_wherever_they_come_in_the_turn() -> None:
    guard = LoopGuard()
    said = []
    for number in range(4):
        said.append(tried(guard, f"status=error\n{number}", "E at 1", source=str(number)))
        tried(guard, f"status=ok\n{number}", source="look")
    assert said == ["go", "go", "note", "stop"]
