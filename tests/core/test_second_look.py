"""Another model looks once at an answer with figures, if somebody has turned that on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.adapters.plain_markdown import markdown_risks
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.errors import ModelError
from jupyter_codeinterp.core.loop.second_look import read
from jupyter_codeinterp.core.messages import Text
from jupyter_codeinterp.core.turn.limits import Limits, Rules
from tests.core.conftest import Room
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]
SALES = "north = 7412; print('North', north)"
ANSWER = "North sold 7,412."
AGREES = '{"verdict": "agrees"}'
DOUBTS = 'Well: {"verdict": "doubts", "check": "Count the rows without a region."}'


def rules(**limits: Any) -> Rules:
    return Rules(Limits(**limits), markdown_risks=markdown_risks, second_look="looker")


def models(b: Bench) -> list[str]:
    return [request.model for request in b.model.requests]


def words(b: Bench, number: int) -> str:
    parts = b.model.requests[number].messages[-1].content
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def notes(b: Bench) -> list[str]:
    return [note.text for note in b.of(e.Note)]


async def test_it_is_off_unless_turned_on(bench: Benches) -> None:
    b = bench(run(SALES), say(ANSWER))
    await b.turn("Sales?")
    assert models(b) == ["scripted", "scripted"] and notes(b) == []


async def test_a_person_names_the_model(bench: Benches) -> None:
    b = bench(run(SALES), say(ANSWER), say(AGREES))
    b.session.send("Sales?", "auto", "", second_look="another")
    await b.ended()
    assert models(b) == ["scripted", "scripted", "another"]


async def test_it_agrees_and_its_cost_counts(bench: Benches, room: Room) -> None:
    await room.run("df = 5")
    b = bench(run("df = 6\nsorted([2])\n" + SALES), say(ANSWER), say(AGREES), rules=rules())
    assert (await b.turn("Sales of North?")).stop_reason == "end_turn"
    assert models(b) == ["scripted", "scripted", "looker"]
    request = b.model.requests[2]
    assert (request.tools, request.brief) == ((), True)
    told = words(b, 2)
    assert all(part in told for part in ("Sales of North?", ANSWER, SALES, "df rebound: int 6"))
    assert "The result of `sorted([2])` is not kept" in told
    assert len(request.system) + len(told) < 1_800
    assert notes(b) == ["Second look: looker agrees."]
    used = b.of(e.UsageChanged)[-1]
    assert {use.model: use.usage.output_tokens for use in used.models} == {
        "scripted": 20,
        "looker": 10,
    }
    before = b.of(e.UsageChanged)[-2]
    assert used.turn is not None and before.turn is not None
    assert (used.turn.dollars or 0) > (before.turn.dollars or 0)
    assert used.context_share == before.context_share


async def test_a_doubt_is_one_more_step_once_a_turn(bench: Benches) -> None:
    b = bench(
        run(SALES), say(ANSWER), say(DOUBTS), run(SALES), say(ANSWER),
        run(SALES), say(ANSWER), say(AGREES), rules=rules(),
    )  # fmt: skip
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert models(b) == ["scripted", "scripted", "looker", "scripted", "scripted"]
    assert "Count the rows without a region." in words(b, 3)
    assert notes(b) == [
        "Second look: looker doubts the answer. Check: Count the rows without a region."
    ]
    await b.turn("And again?")
    assert models(b)[-1] == "looker"


async def test_a_figure_in_no_output_is_told_first(bench: Benches) -> None:
    b = bench(run(SALES), say("North sold 9,999."), say(ANSWER), say(AGREES), rules=rules())
    await b.turn("Sales?")
    assert models(b) == ["scripted", "scripted", "scripted", "looker"]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I agree.",
        "{}",
        '{"verdict": "maybe"}',
        '{"verdict": "doubts"}',
        '{"verdict": "doubts", "check": " \\n"}',
        '{"verdict": "doubts", "check": ["run"]}',
        '{"verdict": "agrees"} {"verdict": "doubts", "check": "x"}',
        "{" * 5_000 + "}",
    ],
)
async def test_an_unreadable_reply_changes_nothing(bench: Benches, reply: str) -> None:
    assert read(reply) is None
    b = bench(run(SALES), say(ANSWER), say(reply), rules=rules())
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert notes(b) == ["No second look: its reply was not readable."]


@pytest.mark.parametrize("code", ["wrong_key", "context_full", "rate_limit"])
async def test_a_failed_look_changes_nothing(bench: Benches, code: str) -> None:
    b = bench(run(SALES), say(ANSWER), ModelError(code, "It is not there."), rules=rules())
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert notes(b) == ["No second look: It is not there."]


async def test_a_model_that_is_not_there(bench: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    b = bench(run(SALES), say(ANSWER), rules=rules())

    def found(name: str) -> Any:
        if name == "looker":
            raise ModelError("unknown_model", "There is no model looker.")
        return b.model

    monkeypatch.setattr(b.session, "_model", found)
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert notes(b) == ["No second look: There is no model looker."]


@pytest.mark.parametrize("answer", ["Done.", "See “East”.", "It is Tuesday."])
async def test_an_answer_without_a_figure_gets_none(bench: Benches, answer: str) -> None:
    b = bench(run(SALES), say(answer), rules=rules())
    await b.turn("Sales?")
    assert models(b) == ["scripted", "scripted"]


async def test_an_answer_without_a_cell_gets_none(bench: Benches) -> None:
    b = bench(say("A byte has 256 values."), rules=rules())
    await b.turn("Bytes?")
    assert models(b) == ["scripted"]


async def test_the_last_step_of_a_turn_gets_none(bench: Benches) -> None:
    b = bench(run(SALES), say(ANSWER), rules=rules(steps=2))
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert models(b) == ["scripted", "scripted"]


async def test_the_cost_limit_of_a_turn_holds(bench: Benches) -> None:
    two_calls = 2 * (100 * 3.0 + 10 * 15.0) / 1e6
    b = bench(run(SALES), say(ANSWER), rules=rules(cost=two_calls * 0.9))
    await b.turn("Sales?")
    assert notes(b) == ["No second look: the turn is at its cost limit."]
    b = bench(run(SALES), say(ANSWER), say(DOUBTS), rules=rules(cost=two_calls * 1.1))
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert len(b.model.requests) == 3
    assert notes(b)[1].startswith("The model couldn't be asked again: Stopped at the cost limit")


async def test_a_check_that_fails_leaves_the_answer(bench: Benches) -> None:
    failed = ModelError("wrong_key", "The key is wrong.")
    b = bench(run(SALES), say(ANSWER), say(DOUBTS), failed, rules=rules())
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert notes(b)[1:] == ["The model couldn't be asked again: The key is wrong."]


async def test_its_words_are_inert(bench: Benches) -> None:
    check = "x</output-1>\\n<b>\\u001b[31m\\u202e" + "long " * 200
    reply = f'{{"verdict": "doubts", "check": "{check}"}}'
    b = bench(run(SALES), say(ANSWER), say(reply), say(ANSWER), rules=rules())
    await b.turn("Sales?")
    (note,) = notes(b)
    assert "\n" not in note and "\x1b" not in note and "\u202e" not in note and len(note) < 400
    told = words(b, 3)
    assert told.count("</output-") == 1 and told.rstrip().endswith(">")
