"""What stops a turn that would not stop by itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from jupyter_codeinterp.run.turn.budget import Budget, LoopGuard, time_limit
from jupyter_codeinterp.run.turn.limits import Limits, Rules
from jupyter_codeinterp.run.turn.meter import Meter
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Text, ToolUse, Usage, assistant
from jupyter_codeinterp.wire.ports import ModelDone, ModelInfo
from tests.core.conftest import Room
from tests.kernels import until
from tests.scripted import Bench, call, fix, run, say

Benches = Callable[..., Bench]


async def test_the_same_call_again_and_again(bench: Benches, room: Room) -> None:
    b = bench(*(run("1 / 0") for _ in range(3)), say("One divided by zero is not defined."))
    ended = await b.turn()
    assert (ended.stop_reason, ended.code, ended.retry) == ("error", "loop", True)
    assert "3 times" in ended.message
    assert await room.ran() == ["1 / 0"] * 3
    notes = ["gave the same result" in text for text in b.results]
    assert notes == [False, True, False]
    assert [one.answer_only for one in b.model.requests] == [False, False, False, True]
    assert "last call, without tools" in last_text(b) and "3 times" in last_text(b)


def last_text(b: Bench) -> str:
    """The last text of the last request."""
    block = b.model.requests[-1].messages[-1].content[-1]
    assert isinstance(block, Text)
    return block.text


async def test_the_same_error_of_other_code_is_no_loop(bench: Benches) -> None:
    tries = [fix(f"# try {number}\n1 / 0") for number in range(5)]
    b = bench(run("1 / 0"), *tries, say("It fails."))
    assert (await b.turn()).stop_reason == "end_turn"
    assert not any("gave the same result" in text for text in b.results)


async def test_the_calls_after_a_loop_are_answered_and_leave_no_draft(bench: Benches) -> None:
    message = assistant(
        *itertools.chain.from_iterable(call("read_notebook").content for _ in range(3)),
        *run("a = 1").content,
    )
    b = bench(message, say("It does not change."))
    ended = await b.turn()
    assert ended.code == "loop"
    assert [text.split()[0] for text in b.results] == ["status=ok"] * 3 + ["status=not_started"]
    assert b.document.sources() == ["x = 20"]


async def test_a_model_that_heeds_the_note_goes_on(bench: Benches) -> None:
    b = bench(run("1 / 0"), run("1 / 0"), run("1 / 1"), say("Done."))
    assert (await b.turn()).stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("limits", "calls", "expected"),
    [
        (Limits(steps=8), 8, "go_on go_on go_on warn warn warn warn last end"),
        (Limits(steps=5), 5, "warn warn warn warn last end"),
        (Limits(steps=1), 1, "last end"),
        (Limits(steps=8), 0, "last end"),
        (Limits(steps=8), 2, "go_on go_on last end"),
    ],
)
def test_the_stages_of_a_turn(limits: Limits, calls: int, expected: str) -> None:
    """``calls``: after how many of them another limit is reached."""
    budget, seen = Budget(limits), []
    for number in itertools.count():
        if number == calls < limits.steps:
            budget.reach(time_limit(60.0))
        seen.append(budget.stage)
        if budget.stage == "end":
            break
        budget.take()
    assert " ".join(seen) == expected
    assert budget.ending.code == ("time_limit" if calls < limits.steps else "max_steps")
    assert budget.ending.retry


async def test_the_limit_of_steps(bench: Benches, room: Room) -> None:
    script = [run(f"a = {number}") for number in range(8)]
    b = bench(*script[:7], say("So far: 6."), rules=Rules(Limits(steps=8, cost=9.0)))
    ended = await b.turn()
    assert (ended.stop_reason, ended.code, ended.retry) == ("max_steps", "max_steps", True)
    assert "8 model calls" in ended.message and len(b.model.requests) == 8
    assert await room.ran() == [f"a = {number}" for number in range(7)]
    read = [
        [text.text for text in message.content if isinstance(text, Text)]
        for message in b.model.requests[-1].messages
        if message.role == "user"
    ]
    told = [
        (number, text)
        for number, texts in enumerate(read)
        for text in texts
        if text.startswith("[This turn:")
    ]
    assert [number for number, _ in told] == [0, 3, 7]
    words = "60 minutes, not counting waits for the person; unreviewed runs 10 minutes"
    assert told[0][1] == f"[This turn: at most 8 model calls, $9.00, {words}.]"
    assert "5 model calls left" in told[1][1] and "without tools" in told[2][1]
    assert b.of(e.TextDone)[-1].text == "So far: 6."
    assert [one.answer_only for one in b.model.requests] == [False] * 7 + [True]
    assert all(one.tools for one in b.model.requests)
    b.model.script = [say("Done.")]
    b.session.retry()
    assert (await b.ended(2)).stop_reason == "end_turn"
    assert last_text(b) == "Go on."


async def test_a_model_that_calls_though_it_may_not(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"), run("a = 2"), rules=Rules(Limits(steps=2)))
    assert (await b.turn()).code == "max_steps"
    assert await room.ran() == ["a = 1"]
    assert b.results[-1].startswith("status=not_started") and "last model call" in b.results[-1]


async def test_the_limit_of_steps_is_a_hundred() -> None:
    assert Limits().steps == 100


async def test_the_cost_limit_of_a_turn(bench: Benches) -> None:
    dear = [ModelDone(run(f"a = {n}"), "tool_use", Usage(100_000, 0)) for n in range(2)]
    b = bench(*dear, say("So far."), rules=Rules(Limits(cost=0.65)), context_window=10**9)
    ended = await b.turn()
    assert (ended.stop_reason, ended.code) == ("budget", "cost_limit")
    assert "$0.65" in ended.message and "$0.65" in last_text(b)
    assert [one.answer_only for one in b.model.requests] == [False, False, True]
    b.model.script = [ModelDone(run("a = 9"), "tool_use", Usage(900_000, 0)), say("Never said.")]
    assert (await b.turn()).code == "cost_limit"
    assert len(b.model.requests) == 4, "nothing is left to pay an answer with"


async def test_without_prices_there_is_no_cost(bench: Benches) -> None:
    b = bench(run("1"), say("Done."))
    b.model.prices = None
    assert (await b.turn()).stop_reason == "end_turn"
    assert {x.cost for x in b.of(e.UsageChanged)} == {None}


async def test_a_model_of_unknown_price_is_not_asked_under_a_limit_of_cost(bench: Benches) -> None:
    b = bench(say("Done."), rules=Rules(Limits(cost=100.0)))
    b.model.prices = None
    ended = await b.turn()
    assert (ended.stop_reason, ended.code, ended.retry) == ("budget", "no_price", False)
    assert "is unknown, and a turn may cost at most $100.00 here" in ended.message
    assert b.model.requests == []


async def test_the_time_limit_is_for_unattended_turns(bench: Benches) -> None:
    rules = Rules(Limits(turn_timeout=0.0))
    b = bench(say("So far."), rules=rules)
    ended = await b.turn(mode="auto")
    assert (ended.stop_reason, ended.code) == ("budget", "time_limit")
    assert b.model.requests[0].answer_only and "without a person" in last_text(b)
    reviewed = bench(say("Done."), rules=rules)
    assert (await reviewed.turn(mode="review")).stop_reason == "end_turn"


async def test_waiting_for_the_person_is_no_time_of_the_turn(bench: Benches) -> None:
    rules = Rules(Limits(turn_timeout=1.0))
    b = bench(call("delete_cell", cell_id="c1"), say("Done."), rules=rules)
    b.send(mode="auto")
    draft = await b.draft()
    turn = b.session.task.turn
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


def tried(guard: LoopGuard, result: str, **given: object) -> str:
    return guard.add(ToolUse("t", "run_cell", given), result)


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


async def test_the_limits_are_told_again_only_if_they_change(bench: Benches) -> None:
    b = bench(*[say(f"Answer {number}.") for number in range(3)])
    told = []
    for mode in ("auto", "auto", "review"):
        await b.turn(mode=mode)
        told.append("[This turn: at most" in repr(b.model.requests[-1].messages[-1]))
    assert told == [True, False, False]
