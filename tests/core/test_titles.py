"""How a conversation gets its name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.session.messages.title import TITLE_LENGTH, from_answer, from_question
from tests.scripted import Bench, Turn, run, say

Benches = Callable[..., Bench]
LONG = "Sales in the north grew by a lot more than sales in all other regions did"

CASES: list[tuple[str, str, list[str], str]] = [
    # what decides, the answer's last text, titles of the turn's cells, the title ("": question)
    ("a heading", "## Growth by region\n\nNorth grew fastest.", ["Plot"], "Growth by region"),
    ("the heading without marks", "# **Growth** of `df`\nText.", [], "Growth of df"),
    ("a heading further down", "North grew.\n\n### Missing dates found", [], "Missing dates found"),
    ("a general heading is none", "## Key findings\nNorth grew fastest.", [], "North grew fastest"),
    ("a short heading is none", "## Plot\nNorth grew fastest.", [], "North grew fastest"),
    ("the heading after a general one", "# Summary\n## Cars by age\nText.", [], "Cars by age"),
    ("a comment in code is none", "```\n# not this one\n```\nNorth grew.", [], ""),
    ("the only cell", "North grew fastest.", ["Growth by region"], "Growth by region"),
    ("code is no cell's title", "North grew fastest.", ["df = read(x)"], "North grew fastest"),
    ("nor is arithmetic", "Two.", ["1 + 1"], ""),
    ("one word is no cell's title", "North grew fastest.", ["Add"], "North grew fastest"),
    ("of several cells the sentence", "North grew fastest.", ["Load it", "Plot it"],
     "North grew fastest"),
    ("the first sentence only", "North grew by 41 %. South did not.", [], "North grew by 41 %"),
    ("a decimal ends no sentence", "North grew by 4.1 percent.", [], "North grew by 4.1 percent"),
    ("without Markdown", "**North** grew, see [the plot](#cell:a).", [],
     "North grew, see the plot"),
    ("a list", "- North grew fastest\n- South fell", [], "North grew fastest"),
    ("a question stays one", "Which column holds the date?", [], "Which column holds the date?"),
    ("a table is no sentence", "| a | b c |\n|---|---|\nNorth grew fastest.", [],
     "North grew fastest"),
    ("a sentence about the work", "Here is the plot of the growth.", [], ""),
    ("a sentence without a topic", "It is tidy now.", [], ""),
    ("a courtesy", "Sure, north grew fastest.", [], ""),
    ("then the last cell", "I\u2019ve plotted it.", ["Load the data", "Plot the growth"],
     "Plot the growth"),
    ("a long sentence is none", f"{LONG}.", [], ""),
    ("a long heading is none", f"# {LONG}\nNorth grew fastest.", [], "North grew fastest"),
    ("two words are no sentence", "North grew.", [], ""),
    ("nothing was said", "", [], ""),
    ("another language", "Der Norden wuchs am stärksten.", [], "Der Norden wuchs am stärksten"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "cells", "title"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_the_name_after_the_first_answer(text: str, cells: list[str], title: str) -> None:
    found = from_answer(text, cells)
    assert found == title
    assert len(found) <= TITLE_LENGTH


def test_the_name_before_it_is_the_question() -> None:
    assert from_question("Which region\n grew?") == "Which region grew?"
    cut = from_question(LONG)
    assert len(cut) == TITLE_LENGTH and cut.endswith("…")


ANSWER = "North grew fastest. South fell."


def titles(b: Bench) -> list[tuple[str, str]]:
    return [(event.title, event.by) for event in b.of(e.TitleChanged)]


async def test_the_first_answer_gives_the_name_and_no_later_one(bench: Benches) -> None:
    b = bench(say(ANSWER), say("West is the largest."))
    await b.turn("Which?")
    assert b.session.info.title == "North grew fastest"
    assert titles(b) == [("Which?", "question"), ("North grew fastest", "answer")]
    b.restart_server()
    await b.turn("And?")
    assert len(titles(b)) == 2
    assert len(b.model.requests) == 2, "a name costs no request"


async def test_the_text_after_the_last_result_counts(bench: Benches) -> None:
    b = bench(run("1 + 1", title="Add"), say("Two is the sum."))
    b.model.script.insert(0, lambda _: message_with_call())
    b.model.script.pop(1)
    await b.turn("Sum?")
    assert b.session.info.title == "Two is the sum"


def message_with_call() -> Turn:
    made = run("1 + 1", title="Add")
    return type(made)("assistant", (*say("Numbers are added now.").content, *made.content))


@pytest.mark.parametrize("before", [True, False], ids=["before", "while it runs"])
async def test_a_name_that_the_person_gave_stays(bench: Benches, before: bool) -> None:
    b = bench(run("1 + 1"), say(ANSWER))
    if before:
        b.session.rename("Mine")
        await b.turn("Which?")
    else:
        b.send("Which?")
        draft = await b.draft()
        b.session.rename("Mine")
        b.decide(draft)
        await b.ended()
    assert b.session.info.title == "Mine"
    assert titles(b)[-1] == ("Mine", "person")


async def test_a_turn_without_an_answer_gives_no_name(bench: Benches) -> None:
    b = bench(run("1 + 1"), say(ANSWER))
    b.send("Which?")
    await b.draft()
    b.session.cancel()
    await b.ended()
    assert titles(b) == [("Which?", "question")]
    await b.turn("Go on")
    assert titles(b)[-1] == ("North grew fastest", "answer")


async def test_a_name_hides_nothing(bench: Benches) -> None:
    b = bench(say("North \u202egrew\u202c fastest."))
    await b.turn("Which?")
    assert b.session.info.title == "North \\u202egrew\\u202c fastest"
