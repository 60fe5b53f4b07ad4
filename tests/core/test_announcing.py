"""A reply that only announces a step is asked once to take it or to finish."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.run.turn.budget import ASK, only_announces
from jupyter_codeinterp.run.turn.limits import Limits, Rules
from jupyter_codeinterp.wire.messages import Text
from tests.core.conftest import Room
from tests.scripted import Bench, run, say

CASES = {
    "Let me check the columns first.": True,
    "I'll load the file and look at its columns.": True,
    "I\u2019ll fix the join.": True,
    "The file has missing values. Let me clean them first.": True,
    "Now let me plot the result:": True,
    "Okay, I will run the cells above.": True,
    "The import failed.\n\nLet me try another way.": True,
    "I'm going to group the sales by region…": True,
    # Answers, with or without a last word on what follows.
    "The revenue is 460 in all.": False,
    "North grew fastest. I'll leave it at that.": False,
    "Revenue rose by 12 %. Let me check the rest.": False,
    "The mean is `3.2`. Let me verify it.": False,
    "Let me know if anything is missing.": False,
    "Everything is done. I will wait.": False,
    "- Clean the names\n- I'll plot them": False,
    "| a |\n| - |\nLet me plot it.": False,
    # Questions and offers to the person.
    "Which column is the price? I'll group by it.": False,
    "I'll add a chart if you like.": False,
    "I will start once you confirm.": False,
    "Let me check with you first.": False,
    # Plans, other languages, and what is long.
    "My plan is simple. First, I'll load the data.": False,
    "I would load the data first.": False,
    "Ich sehe mir zuerst die Spalten an.": False,
    "The data is fine. " * 30 + "Let me check it.": False,
    "": False,
}


@pytest.mark.parametrize("text", CASES)
def test_what_only_announces(text: str) -> None:
    assert only_announces(text) is CASES[text]


async def test_it_is_asked_once_in_a_turn(bench: Callable[..., Bench], room: Room) -> None:
    announces = say("Let me check the columns first.")
    b = bench(announces, run("1 + 1"), say("Let me check the rest."), say("It is 2."))
    assert (await b.turn()).stop_reason == "end_turn"
    asked = [request.messages[-1].content[-1] for request in b.model.requests]
    assert [text == Text(ASK) for text in asked] == [False, True, False]
    assert await room.ran() == ["1 + 1"]


@pytest.mark.parametrize(("mode", "steps"), [("plan", 9), ("auto", 1)])
async def test_it_is_not_asked_where_it_may_not_act(
    bench: Callable[..., Bench], mode: str, steps: int
) -> None:
    b = bench(say("Let me check the columns first."), rules=Rules(Limits(steps=steps)))
    await b.turn(mode=mode)  # type: ignore[arg-type]
    assert len(b.model.requests) == 1
