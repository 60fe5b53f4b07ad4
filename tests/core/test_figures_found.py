"""At the end of a turn the server looks for the figures of the answer in outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.document.ops import CellView
from jupyter_codeinterp.core.exports.markdown import markdown
from jupyter_codeinterp.core.loop import figure_origins
from tests.core.by_hand import by_hand
from tests.core.conftest import Room
from tests.scripted import Bench, last_cell, run, say

Benches = Callable[..., Bench]
SALES = "print('North', 7412); print('South', 5200)"


def origins(b: Bench, number: int = -1) -> dict[str, str]:
    """Figures of a text, with the value that each comes from."""
    return {one.text: one.origin.value for one in b.of(e.FiguresFound)[number].figures}


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
    b = bench(run(SALES), say("North sold **7,412** and South 5,200."))
    await b.turn("Sales?")
    (checked,) = b.of(e.FiguresFound)
    assert origins(b) == {"7,412": "7412", "5,200": "5200"}
    origin = checked.figures[0].origin
    assert origin.cell_id == b.of(e.ToolDone)[0].cell_id
    assert (origin.output, origin.before.strip(), origin.policy) == (0, "North", "equal")
    (said,) = b.of(e.TextDone)
    assert said.text[checked.figures[0].start : checked.figures[0].end] == "7,412"
    assert (checked.step, checked.block) == (b.of(e.StepStarted)[-1].step, said.block)
    assert b.sequence[-3:] == ["TextDone", "FiguresFound", "TurnEnded"]


async def test_a_conversation_opened_again_has_them(bench: Benches) -> None:
    b = bench(run(SALES), say("North sold 7,412."))
    await b.turn("Sales?")
    before = b.of(e.FiguresFound)
    b.restart_server()
    assert b.of(e.FiguresFound) == before != []


async def test_an_answer_without_a_cell_has_none(bench: Benches) -> None:
    b = bench(say("A byte has 256 values."))
    await b.turn("Bytes?")
    assert b.of(e.FiguresFound) == []


async def test_a_cell_that_the_answer_links_counts(bench: Benches) -> None:
    b = bench(say("It was 918,273, see [the total](#cell:old)."), book=notebook(("old", "918273")))
    await b.turn("What was it?")
    assert origins(b) == {"918,273": "918273"}


async def test_outputs_of_other_cells_are_outputs_too(bench: Benches) -> None:
    b = bench(run("print('done')"), say("It was 918,273."), book=notebook(("old", "918273")))
    await b.turn("What was it?")
    (figure,) = b.of(e.FiguresFound)[0].figures
    assert figure.origin.cell_id == "old"


async def test_a_failed_look_up_changes_nothing(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> tuple[e.Figure, ...]:
        raise ValueError("broken")

    monkeypatch.setattr(figure_origins, "origins", broken)
    b = bench(run(SALES), say("North sold 7,412."))
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert b.of(e.FiguresFound) == []


async def test_a_cell_that_the_person_ran_by_hand_counts(bench: Benches, room: Room) -> None:
    b = bench(run(SALES), say("North sold 7,412."))
    b.send("Sales?")
    await by_hand(b, room, await b.draft())
    await b.ended()
    assert origins(b) == {"7,412": "7412"}


async def test_the_agent_ends_when_the_model_ends(bench: Benches) -> None:
    """A figure in no output is no reason for another step, a note or a mark."""
    b = bench(run(SALES), say("North sold 7,412 and East 9,999."))
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert origins(b) == {"7,412": "7412"} and len(b.model.requests) == 2
    assert b.of(e.Note) == [] and "9,999." in markdown(b.session.info, b.events)


async def test_figures_come_from_variables_that_no_output_shows(bench: Benches, room: Room) -> None:
    """Of the turn's cells; not those of the person."""
    await room.run("secret = 4321")
    b = bench(run("growth = 0.375124\nrows = 7412"), say("Up by 37.5 % in 7,412 rows, not 4,321."))
    await b.turn("Sales?", mode="auto")
    growth, rows = (one.origin for one in b.of(e.FiguresFound)[0].figures)
    assert (growth.variable, rows.variable) == ("growth", "rows")
    assert growth.cell_id == b.of(e.ToolDone)[0].cell_id
    assert growth.count == b.document.notebook["cells"][-1]["execution_count"]


async def test_figures_come_from_no_private_variable(bench: Benches) -> None:
    b = bench(run("rows = 7412"), say("There are 7,412 rows."))
    b.session.private_names.learn([CellView("old", "code", "", assigns=("rows",))])
    await b.turn("Rows?", mode="auto")
    assert b.of(e.FiguresFound) == []


async def test_a_linked_cell_gives_its_variables_until_it_runs_again(bench: Benches) -> None:
    def linked(request: Any) -> Any:
        return say(f"There are 7,412 rows, see [the cell](#cell:{last_cell(request)}).")

    b = bench(run("rows = 7412"), say("Done."), linked, linked)
    await b.turn("Read it.", mode="auto")
    await b.turn("Rows?", mode="auto")
    (figure,) = b.of(e.FiguresFound)[-1].figures
    assert figure.origin.variable == "rows"
    b.document.notebook["cells"][-1]["execution_count"] += 1
    await b.turn("Rows?", mode="auto")
    assert len(b.of(e.FiguresFound)) == 1
