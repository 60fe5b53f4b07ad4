"""Models that do not do as they were told: every call is answered, and the turn ends well."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Text, ToolUse, Usage, assistant
from jupyter_codeinterp.wire.ports import ModelDone
from tests.core.conftest import Room
from tests.reference_window import notebook
from tests.scripted import Bench, Stream, call, fix, last_cell, run, say

Benches = Callable[..., Bench]


def both(*messages: object) -> object:
    """Several calls in one reply."""
    return assistant(*(block for message in messages for block in message.content))  # type: ignore[attr-defined]


async def test_without_a_title_the_first_comment_stands_in(bench: Benches) -> None:
    b = bench(run("# Load the data\nx = 1"), say("Done."))
    await b.turn()
    assert b.of(e.ToolDone)[0].title == "Load the data"
    assert all("Load the data".startswith(x.title) for x in b.of(e.DraftOpened))


async def test_code_under_another_name_has_a_title_too(bench: Benches) -> None:
    b = bench(call("run_cell", code="import math"), say("Done."))
    await b.turn()
    assert b.of(e.ToolDone)[0].title == "import math"


async def test_without_a_comment_the_first_line_stands_in_whole(bench: Benches) -> None:
    b = bench(run("import math"), say("Done."))
    b.send()
    draft = await b.draft()
    assert draft.title == "import math"
    assert b.of(e.DraftOpened)[0].title == ""
    b.decide(draft)
    await b.ended()


async def test_a_place_that_is_not_there_is_an_error(bench: Benches, room: Room) -> None:
    b = bench(run("1", position="after:nowhere"), say("Done."))
    await b.turn()
    assert b.results[0].startswith("status=not_started\nThere is no position 'after:nowhere'.")
    assert b.document.sources() == ["x = 20"] and await room.ran() == []


@pytest.mark.parametrize("name", ["edit_cell", "delete_cell"])
async def test_a_cell_that_is_not_there_is_an_error(bench: Benches, name: str) -> None:
    more = {"source": "1"} if name == "edit_cell" else {}
    b = bench(call(name, cell_id="nowhere", **more), say("Done."))
    await b.turn()
    assert b.results == ["status=not_started\nThere is no cell 'nowhere'. Cells: c1."]
    assert b.of(e.ToolDone)[0].status == "not_started"


async def test_two_calls_run_in_order_and_are_both_answered(bench: Benches, room: Room) -> None:
    b = bench(both(run("a = 1"), run("b = a + 1\nb")), say("2"))
    await b.turn()
    assert await room.ran() == ["a = 1", "b = a + 1\nb"]
    assert b.document.sources() == ["x = 20", "a = 1", "b = a + 1\nb"]
    assert [text.split()[0] for text in b.results] == ["status=ok", "status=ok"]


async def test_two_cells_keep_their_order_before_the_notebook_answers(bench: Benches) -> None:
    b = bench(both(run("a = 1"), run("b = 2")), say("Done."), book=notebook("one", "two"))
    b.model.pause = 0.06
    b.document.gone_to = "c1"
    b.document.answers = False
    b.send(mode="auto")
    await b.event(e.DraftOpened, 2)
    b.document.answer()
    await b.ended()
    assert b.document.sources() == ["one", "a = 1", "b = 2", "two"]


async def test_after_a_failure_the_second_call_is_not_started(bench: Benches, room: Room) -> None:
    b = bench(both(run("1 / 0"), run("print(2)")), fix("1"), say("Done."))
    await b.turn()
    assert await room.ran() == ["1 / 0", "1"]
    assert b.results[1].startswith("status=not_started\nAn earlier call of the same reply")
    assert b.of(e.ToolDone)[1].summary == "Not started: an earlier call did not succeed."
    assert b.document.sources() == ["x = 20", "1"]


async def test_after_a_rejection_too_but_looking_goes_on(bench: Benches, room: Room) -> None:
    b = bench(both(run("1"), call("read_notebook"), run("2")), say("Done."))
    b.send()
    b.decide(await b.draft(), "reject")
    await b.ended()
    assert [text.split()[0] for text in b.results] == [
        "status=rejected",
        "status=ok",
        "status=not_started",
    ]
    assert await room.ran() == []


async def test_prose_instead_of_a_call_is_an_answer(bench: Benches) -> None:
    b = bench(say("```python\nprint(1)\n```"))
    ended = await b.turn()
    assert ended.stop_reason == "end_turn"
    assert b.document.sources() == ["x = 20"]


async def test_an_empty_end_is_not_silence(bench: Benches) -> None:
    b = bench(assistant(), say("Here."))
    await b.turn()
    assert "without an answer" in b.of(e.Note)[0].text
    await b.turn("Well?")
    assert b.of(e.TextDone)[-1].text == "Here."


async def test_an_unknown_tool_is_answered_with_the_tools_there_are(bench: Benches) -> None:
    b = bench(call("python", code="1"), say("Sorry."))
    await b.turn()
    assert b.results[0].startswith("status=not_started\nThere is no tool 'python'")
    assert "run_cell" in b.results[0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (call("run_cell", source=5), "Expected `str`, got `int` - at `$.source`"),
        (call("run_cell", title="t"), "missing required field `source`"),
        (call("edit_cell", source="1"), "missing required field `cell_id`"),
        (call("read_output", cell_id="c1", start_char="a"), "Expected `int`, got `str`"),
        (run("1", langage="python"), "run_cell has no property 'langage'"),
        (call("run_cell", source="a\0b"), "NUL character"),
    ],
)
async def test_wrong_input_is_named(bench: Benches, wrong: object, words: str) -> None:
    b = bench(lambda request: wrong, say("Sorry."))
    await b.turn()
    assert words in b.results[0]
    assert b.document.sources() == ["x = 20"]


async def test_what_is_optional_may_be_null(bench: Benches, room: Room) -> None:
    b = bench(run("1", title=None, position=None, expects=None), say("Done."))
    await b.turn()
    assert await room.ran() == ["1"]


async def test_line_ends_are_made_even(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1\r\nb = 2\r"), say("Done."))
    await b.turn()
    assert await room.ran() == ["a = 1\nb = 2\n"]


async def test_broken_json_runs_nothing_and_is_explained(bench: Benches, room: Room) -> None:
    block = ToolUse("toolu_broken", "run_cell", {"source": "print(1)"})
    reply = ModelDone(
        assistant(ToolUse(block.id, block.name, {})),
        "tool_use",
        Usage(1, 1),
        {block.id: "Unterminated string starting at line 1 column 12"},
    )
    b = bench(reply, say("Sorry."))
    await b.turn()
    assert "is not valid JSON: Unterminated string" in b.results[0]
    assert await room.ran() == []


async def test_a_cell_must_have_been_seen_before_it_is_edited(bench: Benches) -> None:
    long = "x = 20\n" * 5_000
    b = bench(call("edit_cell", cell_id="c1", source="y"), say("No."), book=notebook(long))
    await b.turn()
    assert "You have not read this cell, and it is too long" in b.results[0]
    assert b.document.sources() == [long]


async def test_calls_that_were_not_asked_for_do_not_run(bench: Benches, room: Room) -> None:
    message = run("print(1)")
    b = bench(ModelDone(message, "end_turn", Usage(1, 1)), say("Done."))
    await b.turn()
    assert await room.ran() == [] and "was not started" in b.results[0]


async def test_a_person_who_edits_the_target_meanwhile_wins(bench: Benches, room: Room) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="x = 1"), say("Oh."))
    b.model.hold = asyncio.Event()
    b.send()
    await b.event(e.ToolStarted)
    b.document.edit("c1", "x = 99")
    b.model.hold.set()
    await b.ended()
    assert b.results[0].startswith("status=not_started\nThe person changed this cell.")
    assert b.results[0].endswith("x = 99")
    assert b.document.sources() == ["x = 99"] and await room.ran() == []


async def test_a_private_cell_is_neither_read_nor_changed(bench: Benches) -> None:
    book = notebook("key = 'k'")
    book["cells"][0]["metadata"]["tags"] = ["codeinterp-private"]
    b = bench(
        call("edit_cell", cell_id="c1", source="key = ''"),
        call("read_output", cell_id="c1"),
        call("read_notebook", cell_ids=["c1"], outputs=True),
        call("delete_cell", cell_id="c1"),
        say("No."),
        book=book,
    )
    await b.turn()
    assert b.document.sources() == ["key = 'k'"]
    assert not any("'k'" in text for text in b.results)


async def test_a_text_and_a_call_come_in_the_order_they_were_said(bench: Benches) -> None:
    b = bench(assistant(Text("First I look."), *run("1").content), say("Done."))
    await b.turn()
    assert b.sequence[:5] == [
        "TurnStarted",
        "StepStarted",
        "TextDone",
        "ToolStarted",
        "DraftOpened",
    ]


async def test_an_answer_of_a_deleted_cell_is_placed_all_the_same(bench: Benches) -> None:
    b = bench(run("a = 1"), lambda r: run("b = 2", position=f"after:{last_cell(r)}"), say("Done."))
    b.send()
    first = await b.draft()
    b.decide(first)
    second = await b.draft(2)
    b.document.delete(first.cell_id)
    b.decide(second)
    await b.ended()
    assert b.document.sources() == ["x = 20", "b = 2"]


async def test_a_call_that_comes_all_at_once_is_shown_too(bench: Benches, room: Room) -> None:
    b = bench(Stream(run("1 / 0", title="Halve"), pieces=0), Stream(run("1"), pieces=0), say("."))
    b.send()
    first = await b.draft()
    assert b.document.sources() == ["x = 20", "1 / 0"] and first.title == "Halve"
    b.document.before_op = lambda op: (
        b.document.delete(first.cell_id) if type(op).__name__ == "FinishRun" else None
    )
    b.decide(first)
    second = await b.draft(2)
    assert second.kind == "insert" and "deleted the cell while it ran" in b.results[0]
    b.decide(second)
    await b.ended()
    assert b.document.sources() == ["x = 20", "1"]
