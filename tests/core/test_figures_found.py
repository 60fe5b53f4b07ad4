"""At the end of a turn the server looks for the figures of the answer in outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.features.figures import hook
from jupyter_codeinterp.journal.exports import markdown
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Message
from jupyter_codeinterp.wire.ports import ModelRequest
from tests.scripted import Bench, last_cell, run, say

Benches = Callable[..., Bench]
SALES = "print('North', 7412); print('South', 5200)"


def linking(text: str) -> Callable[[ModelRequest], Message]:
    """An answer with “[7,412]” as a link to the cell that ran last."""
    return lambda request: say(text.replace("]", f"](#cell:{last_cell(request)})"))


def origins(b: Bench, number: int = -1) -> dict[str, str]:
    """Figures of a text, with the value that each comes from; "" for none."""
    found = b.of(e.FiguresFound)[number].figures
    return {one.text: one.origin.value if one.origin is not None else "" for one in found}


def plain(output: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": output}


def notebook(*cells: tuple[str, str]) -> dict[str, Any]:
    """Cells by id, each with what it printed."""
    return {
        "cells": [
            {
                "cell_type": "code",
                "id": cell_id,
                "source": "pass",
                "metadata": {},
                "execution_count": 1,
                "outputs": [plain(output)],
            }
            for cell_id, output in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


async def test_figures_come_from_the_cell_that_ran(bench: Benches) -> None:
    b = bench(run(SALES), linking("North sold **[7,412]** and South [5,200]."))
    await b.turn("Sales?")
    (checked,) = b.of(e.FiguresFound)
    assert origins(b) == {"7,412": "7412", "5,200": "5200"}
    origin = checked.figures[0].origin
    assert origin is not None and origin.cell_id == b.of(e.ToolDone)[0].cell_id
    assert (origin.output, origin.before.strip()) == (0, "North")
    (said,) = b.of(e.TextDone)
    assert said.text[checked.figures[0].start : checked.figures[0].end] == "7,412"
    assert (checked.step, checked.block) == (b.of(e.StepStarted)[-1].step, said.block)
    assert b.sequence[-3:] == ["TextDone", "FiguresFound", "TurnEnded"]


async def test_a_conversation_opened_again_has_them(bench: Benches) -> None:
    b = bench(run(SALES), linking("North sold [7,412]."))
    await b.turn("Sales?")
    before = b.of(e.FiguresFound)
    b.restart_server()
    assert b.of(e.FiguresFound) == before != []


async def test_an_answer_without_a_cell_is_looked_at_too(bench: Benches) -> None:
    b = bench(say("Hosting costs 1,250 a month."))
    await b.turn("Plan a budget of 86,400", mode="plan")
    assert origins(b) == {"1,250": ""}


async def test_only_cells_that_this_conversation_ran_are_linked(bench: Benches) -> None:
    b = bench(
        run("print(64)"),
        say("It was [918,273](#cell:old)."),
        linking("There were [64]."),
        book=notebook(("old", "918273")),
    )
    await b.turn("What was it?")
    assert b.of(e.FiguresFound) == []
    await b.turn("And now?")
    assert origins(b) == {"64": "64"}


async def test_the_model_learns_once_what_was_not_found(bench: Benches) -> None:
    """Also after a restart; it neither spends a step nor counts as a message that has the
    number."""
    words = "[No output, cell or message has these figures of your last answer: 9,999. "
    words += "Fine if derived; else correct it.]"
    b = bench(run(SALES), say("East 9,999."), say("Yes, 9,999."), say("Fine."), say("Done."))
    await b.turn("Sales?")
    assert len(b.model.requests) == 2
    b.restart_server()
    await b.turn("Sure?")
    assert [one.text for one in b.model.requests[-1].messages[-1].content].count(words) == 1
    assert origins(b) == {"9,999": ""}
    await b.turn("Well?")
    await b.turn("Next?")
    assert words in repr(b.model.requests[-2].messages[-1])
    assert words not in repr(b.model.requests[-1].messages[-1])


async def test_a_failed_look_up_changes_nothing(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> tuple[e.Figure, ...]:
        raise ValueError("broken")

    monkeypatch.setattr(hook, "look_up", broken)
    b = bench(run(SALES), linking("North sold [7,412]."))
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert b.of(e.FiguresFound) == []


async def test_the_agent_ends_when_the_model_ends(bench: Benches) -> None:
    """A figure in no output is no reason for another step or a note."""
    b = bench(run(SALES), linking("North sold [7,412] and East 9,999."))
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert origins(b) == {"7,412": "7412", "9,999": ""} and len(b.model.requests) == 2
    assert b.of(e.Note) == [] and "9,999." in markdown(b.session.info, b.events)
