"""At the end of a turn the server looks for the figures of the answer in outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.adapters.plain_markdown import markdown_risks
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.document.ops import CellView
from jupyter_codeinterp.core.errors import ModelError
from jupyter_codeinterp.core.exports.markdown import markdown
from jupyter_codeinterp.core.figures import checking
from jupyter_codeinterp.core.history.deferred_writes import DeferredWrites
from jupyter_codeinterp.core.loop import answer_check
from jupyter_codeinterp.core.loop.conversation import Conversation
from jupyter_codeinterp.core.turn.limits import Limits, Rules
from tests.core.by_hand import by_hand
from tests.core.conftest import Room
from tests.scripted import Bench, call, last_cell, run, say

Benches = Callable[..., Bench]
SALES = "print('North', 7412); print('South', 5200)"


def origins(b: Bench, number: int = -1) -> dict[str, str]:
    """Figures of a checked text, with the value that each comes from; "" without one."""
    figures = b.of(e.AnswerChecked)[number].figures
    return {one.text: one.origin.value if one.origin else "" for one in figures}


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
    (checked,) = b.of(e.AnswerChecked)
    assert origins(b) == {"7,412": "7412", "5,200": "5200"}
    origin = checked.figures[0].origin
    assert origin is not None and origin.cell_id == b.of(e.ToolDone)[0].cell_id
    assert (origin.output, origin.before.strip(), origin.policy) == (0, "North", "separators")
    (said,) = b.of(e.TextDone)
    assert said.text[checked.figures[0].start : checked.figures[0].end] == "7,412"
    assert (checked.step, checked.block) == (b.of(e.StepStarted)[-1].step, said.block)
    assert b.sequence[-3:] == ["TextDone", "AnswerChecked", "TurnEnded"]


async def test_a_conversation_opened_again_has_them(bench: Benches) -> None:
    b = bench(run(SALES), say("North sold 7,412."))
    await b.turn("Sales?")
    before = b.of(e.AnswerChecked)
    b.restart_server()
    assert b.of(e.AnswerChecked) == before != []


async def test_an_answer_without_a_cell_is_not_checked(bench: Benches) -> None:
    b = bench(say("A byte has 256 values."))
    await b.turn("Bytes?")
    assert b.of(e.AnswerChecked) == []


async def test_a_cell_that_the_answer_links_counts(bench: Benches) -> None:
    b = bench(say("It was 918,273, see [the total](#cell:old)."), book=notebook(("old", "918273")))
    await b.turn("What was it?")
    assert origins(b) == {"918,273": "918273"}


async def test_outputs_of_other_cells_are_outputs_too(bench: Benches) -> None:
    b = bench(run("print('done')"), say("It was 918,273."), book=notebook(("old", "918273")))
    await b.turn("What was it?")
    (figure,) = b.of(e.AnswerChecked)[0].figures
    assert figure.origin is not None and figure.origin.cell_id == "old"


async def test_a_cell_that_is_gone_shows_nothing(bench: Benches) -> None:
    def delete(request: Any) -> Any:
        return call("delete_cell", cell_id=last_cell(request))

    b = bench(run(SALES), delete, run("print('x')"), say("It was about a lot: 7."))
    await b.turn("Sales?")
    assert b.of(e.AnswerChecked)[0].figures[0].origin is None


async def test_what_cannot_be_checked_does_not_look_checked(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> checking.Checked:
        raise ValueError("broken")

    monkeypatch.setattr(answer_check, "check", broken)
    b = bench(run(SALES), say("North sold 7,412."))
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert b.of(e.AnswerChecked) == []


async def test_a_cell_that_the_person_ran_by_hand_counts(bench: Benches, room: Room) -> None:
    b = bench(run(SALES), say("North sold 7,412."))
    b.send("Sales?")
    await by_hand(b, room, await b.draft())
    await b.ended()
    assert origins(b) == {"7,412": "7412"}


async def test_the_export_names_figures_in_no_output(bench: Benches) -> None:
    b = bench(run(SALES), say("North sold 7,412 and a half."), run(SALES), say("East sold 9."))
    await b.turn("Sales?")
    assert "Not in any output" not in markdown(b.session.info, b.events)
    await b.turn("And East?")
    text = markdown(b.session.info, b.events)
    assert text.index("East sold 9.") < text.index("*Not in any output: 9.*")


# --- the model is told, once ----------------------------------------------------------------

WRONG = "North sold 9,999 boxes."
TOLD = "9,999 is in no output. Run a cell that shows it or correct the sentence.]"


def last_words(b: Bench, number: int = -1) -> str:
    """The end of the last message in a request."""
    part = b.model.requests[number].messages[-1].content[-1]
    return str(getattr(part, "text", ""))


async def test_a_figure_in_no_output_is_told_to_the_model(bench: Benches) -> None:
    b = bench(run(SALES), say(WRONG), say("North sold 7,412."))
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert last_words(b).endswith(TOLD)
    assert [note.text for note in b.of(e.Note)] == [
        "9,999 is in no output. Asked the model to check."
    ]
    assert (origins(b, 0), origins(b, 1)) == ({"9,999": ""}, {"7,412": "7412"})


async def test_the_model_may_run_a_cell_that_shows_it(bench: Benches) -> None:
    b = bench(run(SALES), say(WRONG), run("print(9999)"), say(WRONG))
    await b.turn("Sales?")
    assert origins(b) == {"9,999": "9999"}


async def test_it_is_told_once_a_turn(bench: Benches) -> None:
    b = bench(run(SALES), say(WRONG), say(WRONG), run(SALES), say(WRONG), say("Sorry."))
    await b.turn("Sales?")
    assert len(b.model.requests) == 3 and origins(b) == {"9,999": ""}
    await b.turn("And now?")
    assert len(b.model.requests) == 6 and last_words(b).endswith(TOLD)


@pytest.mark.parametrize(
    "answer",
    ["North sold 7,412.", "It took 9 tries.", "It fell in 1997.", "See “East”.", "Done."],
)
async def test_other_answers_cost_no_request(bench: Benches, answer: str) -> None:
    b = bench(run(SALES), say(answer))
    await b.turn("Sales?")
    assert len(b.model.requests) == 2


async def test_an_answer_without_a_cell_costs_no_request(bench: Benches) -> None:
    b = bench(say(f"{WRONG} See [it](#cell:old)."), book=notebook(("old", "1")))
    await b.turn("What was it?")
    assert origins(b) == {"9,999": ""} and len(b.model.requests) == 1


async def test_a_recording_is_not_told(bench: Benches) -> None:
    b = bench(run(SALES), say(WRONG))
    b.model.always_ask = True
    b.send("Sales?", "auto")
    b.decide(await b.draft())
    await b.ended()
    assert len(b.model.requests) == 2


async def test_the_last_step_of_a_turn_is_an_answer(bench: Benches) -> None:
    rules = Rules(limits=Limits(steps=2), markdown_risks=markdown_risks)
    b = bench(run(SALES), say(WRONG), rules=rules)
    assert (await b.turn("Sales?")).stop_reason == "end_turn"
    assert len(b.model.requests) == 2


async def test_an_answer_stays_if_the_model_cannot_be_asked_again(bench: Benches) -> None:
    b = bench(run(SALES), say(WRONG), ModelError("overloaded", "Busy."), say("Hello."))
    ended = await b.turn("Sales?")
    assert (ended.stop_reason, ended.message) == ("end_turn", "")
    assert [said.text for said in b.of(e.TextDone)] == [WRONG]
    _, failed = b.of(e.Note)
    assert (failed.level, failed.text) == (
        "warning",
        "The answer is not checked: 9,999 is in no output. The model couldn't be asked again: "
        "Busy.",
    )
    assert origins(b) == {"9,999": ""}
    assert (await b.turn("Hello?")).stop_reason == "end_turn"


async def test_figures_come_from_variables_that_no_output_shows(bench: Benches, room: Room) -> None:
    """Of the turn's cells; not those of the person."""
    await room.run("secret = 4321")
    b = bench(
        run("growth = 0.375124\nrows = 7412"),
        say("Up by 37.5 % in 7,412 rows, not 4,321."),
        say("Up by 37.5 % in 7,412 rows."),
    )
    await b.turn("Sales?", mode="auto")
    first, last = b.of(e.AnswerChecked)
    assert [one.origin and one.origin.variable for one in first.figures] == ["growth", "rows", None]
    assert "4,321 is in no output" in b.of(e.Note)[0].text
    (origin, _) = (one.origin for one in last.figures)
    assert origin is not None and origin.cell_id == b.of(e.ToolDone)[0].cell_id
    assert origin.count == b.document.notebook["cells"][-1]["execution_count"]


async def test_figures_come_from_no_private_variable(bench: Benches) -> None:
    b = bench(run("rows = 7412"), say("There are 7,412 rows."), say("I do not know."))
    b.session.private_names.learn([CellView("old", "code", "", assigns=("rows",))])
    await b.turn("Rows?", mode="auto")
    assert [one.origin for one in b.of(e.AnswerChecked)[0].figures] == [None]


async def test_a_linked_cell_gives_its_variables_until_it_runs_again(bench: Benches) -> None:
    def linked(request: Any) -> Any:
        return say(f"There are 7,412 rows, see [the cell](#cell:{last_cell(request)}).")

    b = bench(run("rows = 7412"), say("Done."), linked, linked)
    await b.turn("Read it.", mode="auto")
    await b.turn("Rows?", mode="auto")
    (figure,) = b.of(e.AnswerChecked)[-1].figures
    assert figure.origin is not None and figure.origin.variable == "rows"
    b.document.notebook["cells"][-1]["execution_count"] += 1
    await b.turn("Rows?", mode="auto")
    (figure,) = b.of(e.AnswerChecked)[-1].figures
    assert figure.origin is None


async def test_a_summary_does_not_say_that_the_person_said_it(bench: Benches) -> None:
    b = bench(run(SALES), say(WRONG), say("North sold 7,412."))
    await b.turn("Sales?")
    summary = Conversation(b.store, b.info.session_id, DeferredWrites(lambda error: None)).summary()
    assert "Person: Sales?" in summary and "in no output" not in summary
