"""How a conversation gets its name."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_codeinterp.session.messages import TITLE_LENGTH, from_question
from jupyter_codeinterp.wire import events as e
from tests.reference_window import notebook
from tests.scripted import Bench, call, last_cell, run, say

Benches = Callable[..., Bench]
LONG = "Sales in the north grew by a lot more than sales in all other regions did"


def test_the_name_before_it_is_the_question() -> None:
    assert from_question("Which region\n grew?") == "Which region grew?"
    cut = from_question(LONG)
    assert len(cut) == TITLE_LENGTH and cut.endswith("…")


def titles(b: Bench) -> list[tuple[str, str]]:
    return [(event.title, event.by) for event in b.of(e.TitleChanged)]


async def test_it_keeps_the_question_until_the_person_renames_it(bench: Benches) -> None:
    answer = say("## Growth by region\n\nNorth grew fastest.")
    b = bench(run("1 + 1", title="Add them up"), answer, answer)
    await b.turn("Which?")
    assert titles(b) == [("Which?", "question")]
    b.session.rename("Mine")
    await b.turn("And now?")
    assert b.session.info.title == "Mine" and titles(b)[1:] == [("Mine", "person")]


async def test_a_deletion_shows_the_title_of_the_cell(bench: Benches) -> None:
    """Also after a restart: the journal keeps it with the cell."""
    b = bench(run("1 + 1", title="Add them up"), say("2"))
    await b.turn()
    cell_id = b.of(e.ToolDone)[0].cell_id
    b.restart_server()
    b.model.script = [call("delete_cell", cell_id=cell_id), say("Gone.")]
    await b.turn("Delete it")
    assert b.of(e.ToolDone)[-1].title == "Delete: Add them up"


async def test_a_deletion_of_several_shows_their_titles(bench: Benches) -> None:
    b = bench(
        run("1 + 1", title="Add them up"),
        lambda request: call("delete_cell", cell_ids=["c1", last_cell(request)]),
        say("Gone."),
    )
    b.send()
    b.decide(await b.draft())
    b.decide(await b.draft(2))
    await b.ended()
    titles = [done.title for done in b.of(e.ToolDone)]
    assert titles == ["Add them up", "x = 20", "Add them up", "Delete 2 cells"]


async def test_cells_that_run_again_or_move_keep_their_names(bench: Benches) -> None:
    """The person's cells have no title: their place and first line, without an old run's count."""
    book = notebook("x = 1")
    book["cells"][0]["execution_count"] = 7
    b = bench(
        run("1 + 1", title="Add them up"),
        lambda request: call("run_cells", cell_ids=["c1", last_cell(request)]),
        call("move_cell", cell_ids=["c1"], position="end"),
        say("Done."),
        book=book,
    )
    b.session.send("Go", "auto", "m")
    b.decide(await b.draft())
    await b.ended()
    _, mine, again, _, moved, _ = [one.title for one in b.of(e.ToolDone)]
    assert (mine, again) == ("cell 1: x = 1", "Add them up")
    assert moved == "Move “cell 1: x = 1”"


async def test_a_moved_cell_keeps_its_title_in_the_next_turn(bench: Benches) -> None:
    b = bench(run("1 + 1", title="Add them up"), say("2"))
    await b.turn()
    cell_id = b.of(e.ToolDone)[0].cell_id
    b.model.script = [call("move_cell", cell_ids=[cell_id], position="start"), say("Moved.")]
    await b.turn("First, please")
    b.model.script = [call("delete_cell", cell_id=cell_id), say("Gone.")]
    await b.turn("Delete it")
    titles = [done.title for done in b.of(e.ToolDone)]
    assert "Move “Add them up”" in titles and titles[-1] == "Delete: Add them up"
