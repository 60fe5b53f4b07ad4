"""What a person sees of a turn, from the first letter to the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.events import Mode
from jupyter_codeinterp.wire.messages import Image, Text, Thinking, ToolResult, assistant
from jupyter_codeinterp.wire.ops import BeginRun, FinishRun, Insert
from tests.core.conftest import Room
from tests.reference_window import notebook
from tests.scripted import Bench, call, fix, last_cell, run, say

Benches = Callable[..., Bench]


async def test_a_reviewed_cell_runs_and_its_result_goes_back(bench: Benches, room: Room) -> None:
    b = bench(run("21 * 2", title="Double"), say("Done."), book=notebook("x = 20", "y = 1"))
    b.document.gone_to = "c1"
    b.send("What is twice 21?")
    draft = await b.draft()
    cell = b.document.cell(draft.cell_id)
    assert cell is not None and cell["cell_type"] == "raw"
    assert b.document.sources() == ["x = 20", "21 * 2", "y = 1"]
    assert (draft.title, draft.source, draft.kind) == ("Double", "21 * 2", "insert")
    assert await room.ran() == []
    b.decide(draft)
    ended = await b.ended()

    assert ended.stop_reason == "end_turn"
    assert (ended.added, ended.edited, ended.failed) == ((draft.cell_id,), (), ())
    cell = b.document.cell(draft.cell_id)
    assert cell is not None and cell["cell_type"] == "code"
    assert cell["outputs"][0]["data"]["text/plain"] == "42"
    assert cell["metadata"]["codeinterp"]["session"] == b.info.session_id
    known = f"status=ok cell_id={draft.cell_id} place=2/3 execution_count="
    assert b.results[0].startswith(known)
    assert "42" in b.results[0]
    assert b.document.saves == 1
    assert await room.ran() == ["21 * 2"]
    assert b.sequence == [
        "TurnStarted", "StepStarted", "ToolStarted", "DraftOpened", "DraftWaiting",
        "DraftDecided", "RunStarted", "ToolDone",
        "StepStarted", "TextDone", "TurnEnded",
    ]  # fmt: skip


async def test_code_streams_into_the_draft(bench: Benches) -> None:
    b = bench(run("a = '🙂' * 2\nprint(a)"), say("Done."))
    b.model.pause = 0.06
    await b.turn()
    (opened,) = b.of(e.DraftOpened)
    assert b.document.streamed[opened.cell_id] == "a = '🙂' * 2\nprint(a)"


@pytest.mark.parametrize("mode", ["auto", "review"])
async def test_code_that_comes_at_once_is_one_change(bench: Benches, mode: Mode) -> None:
    b = bench(run("a = 1"), say("Done."))
    b.send(mode=mode)
    if mode == "review":
        draft = await b.draft()
        assert [type(op) for op in b.document.ops] == [Insert]
        b.decide(draft)
    await b.ended()
    insert, *others = b.document.ops
    assert isinstance(insert, Insert) and (insert.cell_type, insert.source) == ("raw", "a = 1")
    assert [type(op) for op in others] == [BeginRun, FinishRun]
    assert b.document.streamed == {}


async def test_variables_are_shared_with_the_person(bench: Benches, room: Room) -> None:
    await room.run("theirs = 5")
    b = bench(run("ours = theirs + 1"), say("Done."))
    await b.turn()
    assert (await room.run("print(ours)")).strip() == "6"


async def test_the_model_is_told_the_notebook_first_and_then_what_changed(bench: Benches) -> None:
    b = bench(say("Hello."), say("Again."))
    await b.turn("First")
    b.document.edit("c1", "x = 21")
    await b.turn("Second")
    first, second = (request.messages[-1].content for request in b.model.requests)
    assert isinstance(first[1], Text) and isinstance(second[0], Text)
    assert "x = 20" in first[1].text and "data.csv" in first[1].text
    assert first[3] == Text("First")
    assert 'change="edited"' in second[0].text and "x = 21" in second[0].text
    assert "data.csv" not in second[0].text


async def test_a_failing_cell_is_mended_in_place(bench: Benches) -> None:
    b = bench(run("1 / 0", title="Divide"), fix("1 / 2", title="Divide"), say("0.5"))
    ended = await b.turn()
    assert b.document.sources() == ["x = 20", "1 / 2"]
    assert b.results[0].startswith("status=error") and "ZeroDivisionError" in b.results[0]
    first, second = b.of(e.ToolDone)
    assert (first.status, second.status, second.fixed) == ("error", "ok", True)
    assert first.summary == "ZeroDivisionError: division by zero"
    assert ended.added == (first.cell_id,) and ended.edited == () and ended.failed == ()


async def test_a_mended_cell_asks_again_and_shows_old_against_new(bench: Benches) -> None:
    b = bench(run("1 / 0"), fix("1 / 2"), say("0.5"))
    b.send()
    first = await b.draft()
    b.decide(first)
    second = await b.draft(2)
    assert (second.kind, second.cell_id) == ("edit", first.cell_id)
    assert (second.old_source, second.source) == ("1 / 0", "1 / 2")
    cell = b.document.cell(first.cell_id)
    assert cell is not None and cell["source"] == "1 / 0"
    b.decide(second)
    await b.ended()
    assert b.document.sources() == ["x = 20", "1 / 2"]


async def test_a_new_cell_replaces_none(bench: Benches) -> None:
    b = bench(run("1 / 0"), run("1 / 2"), say("0.5"))
    b.send()
    failed = await b.draft()
    b.decide(failed)
    second = await b.draft(2)
    assert (second.kind, b.document.sources()) == ("insert", ["x = 20", "1 / 0", "1 / 2"])
    b.decide(second)
    ended = await b.ended()
    assert b.document.sources() == ["x = 20", "1 / 2"]
    assert ended.cleared == (e.Cleared(failed.cell_id, "removed"),)


async def test_a_failed_cell_that_the_person_deleted_is_not_looked_for(bench: Benches) -> None:
    b = bench(run("1 / 0"), run("1 / 2"), say("0.5"))
    b.send()
    first = await b.draft()
    b.model.hold = hold = asyncio.Event()
    b.decide(first)
    await b.event(e.ToolStarted, 2)
    b.document.delete(first.cell_id)
    hold.set()
    second = await b.draft(2)
    b.decide(second)
    await b.ended()
    assert b.document.sources() == ["x = 20", "1 / 2"]


async def test_no_failed_leftover_stands_at_the_end(bench: Benches) -> None:
    b = bench(run("1 / 0"), run("1 / 2", position="after:c1"), say("0.5"))
    ended = await b.turn()
    assert b.document.sources() == ["x = 20", "1 / 2"]
    assert ended.stop_reason == "end_turn" and ended.failed == () and len(ended.added) == 1


async def test_a_failure_that_the_model_gave_up_on_goes_too(bench: Benches) -> None:
    b = bench(run("1 / 0"), say("I cannot."))
    ended = await b.turn()
    assert b.document.sources() == ["x = 20"]
    assert (ended.added, ended.failed) == ((), ())
    (done,) = b.of(e.ToolDone)
    assert ended.cleared == (e.Cleared(done.cell_id, "removed"),)


async def test_an_own_cell_that_was_good_before_is_put_back(bench: Benches) -> None:
    b = bench(run("7"), say("Seven."), fix("1 / 0"), say("I cannot."))
    await b.turn()
    await b.turn()
    cell = b.document.notebook["cells"][1]
    assert b.of(e.TurnEnded)[-1].cleared == (e.Cleared(cell["id"], "put_back"),)
    assert cell["source"] == "7"
    assert cell["outputs"][0]["data"]["text/plain"] == "7"


async def test_a_failed_cell_that_the_person_made_work_stays(bench: Benches) -> None:
    b = bench(run("1 / 0"), say("I cannot."))
    b.model.hold = hold = asyncio.Event()
    hold.set()
    b.send(mode="auto")
    await b.event(e.RunStarted)
    hold.clear()
    done = await b.event(e.ToolDone)
    b.document.begin_by_hand(done.cell_id)
    b.document.end_by_hand(done.cell_id, [])
    hold.set()
    assert (await b.ended()).cleared == ()
    assert b.document.sources() == ["x = 20", "1 / 0"]


async def test_a_failed_cell_of_the_persons_is_never_removed(bench: Benches) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="1 / 0"), say("I cannot."))
    b.send()
    b.decide(await b.draft())
    await b.ended()
    assert b.document.sources() == ["1 / 0"]


async def test_cells_go_after_the_last_one_in_order(bench: Benches) -> None:
    b = bench(run("a = 1"), run("b = 2"), say("Done."), book=notebook("one", "two"))
    b.document.gone_to = "c1"
    await b.turn()
    assert b.document.sources() == ["one", "a = 1", "b = 2", "two"]


async def test_a_place_that_is_named_is_taken(bench: Benches) -> None:
    b = bench(run("a = 1", position="after:c1"), say("Done."), book=notebook("one", "two"))
    b.document.gone_to = "c2"
    await b.turn()
    assert b.document.sources() == ["one", "a = 1", "two"]


async def test_markdown_is_written_without_asking(bench: Benches) -> None:
    b = bench(call("add_markdown", source="## Growth"), say("Done."))
    await b.turn(mode="review")
    cell = b.document.notebook["cells"][1]
    assert (cell["cell_type"], cell["source"]) == ("markdown", "## Growth")
    assert b.of(e.DraftWaiting) == []


async def test_markdown_with_remote_images_asks_in_every_mode(bench: Benches) -> None:
    b = bench(call("add_markdown", source="![x](https://example.org/x.png)"), say("Done."))
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.kind == "markdown"
    b.decide(draft, "reject")
    await b.ended()
    assert b.document.sources() == ["x = 20"]


async def test_a_markdown_cell_is_edited_and_not_run(bench: Benches, room: Room) -> None:
    b = bench(call("add_markdown", source="Tpyo"), fix("Typo"), say("Done."))
    await b.turn()
    cell = b.document.notebook["cells"][1]
    assert (cell["cell_type"], cell["source"]) == ("markdown", "Typo")
    assert await room.ran() == []


async def test_an_own_cell_is_deleted(bench: Benches) -> None:
    b = bench(run("1"), lambda r: call("delete_cell", cell_id=last_cell(r)), say("Gone."))
    ended = await b.turn()
    assert b.document.sources() == ["x = 20"]
    assert (ended.added, ended.removed) == ((), ())
    assert b.results[1].startswith("status=ok")


async def test_looking_needs_no_decision(bench: Benches, room: Room) -> None:
    await room.run("answer = 42")
    book = notebook("x = 20", "secret = 1")
    book["cells"][1]["metadata"]["tags"] = ["codeinterp-private"]
    b = bench(
        call("read_notebook"),
        call("inspect_variables", names=["answer"]),
        run("print('long ' * 5000)"),
        lambda r: call("read_output", cell_id=last_cell(r), start=24_000, length=500),
        say("Done."),
        book=book,
    )
    await b.turn()
    cells, variables, _, output = b.results
    assert '<cell id="c1" type="code">x = 20</cell>' in cells
    assert "secret" not in cells and "private" in cells
    assert '"answer"' in variables and "42" in variables
    assert "[characters 24,000 to 24,500 of 24,999]" in output or "24,500" in output
    assert [x.status for x in b.of(e.ToolDone)] == ["ok"] * 4


async def test_the_person_answers_a_question(bench: Benches) -> None:
    b = bench(call("ask_user", question="Which?", options=["a", "b"]), say("b it is."))
    b.send()
    asked = await b.event(e.QuestionAsked)
    assert (asked.question, asked.options) == ("Which?", ("a", "b"))
    assert b.session.waiting
    b.session.decisions.answer(asked.call_id, "b")
    await b.ended()
    assert b.results == ["status=ok\nThe person answered: b"]


async def test_plots_go_to_the_model_as_images(bench: Benches) -> None:
    source = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    b = bench(run(source), say("A line."))
    await b.turn()
    result = b.model.requests[1].messages[-1].content[0]
    assert isinstance(result, ToolResult)
    assert [type(part) for part in result.content] == [Text, Text, Image]
    assert "image/png" in b.document.notebook["cells"][1]["outputs"][0]["data"]


async def test_the_persons_own_long_cell_is_waited_for(bench: Benches, room: Room) -> None:
    b = bench(run("mine = 1"), say("Done."))
    await room.kernel.info()
    theirs = room.person.run("import time; time.sleep(3); slept = 1")
    await room.person.begun(theirs)
    b.send(mode="auto")
    await b.event(e.KernelWaiting)
    await b.ended()
    assert await room.ran() == ["import time; time.sleep(3); slept = 1", "mine = 1"]


async def test_text_between_calls_and_thinking_are_told(bench: Benches) -> None:
    step = assistant(Thinking("Hm. ", "s"), Text("Looking."), *run("1").content)
    b = bench(step, say("Done."))
    await b.turn()
    assert [x.text for x in b.of(e.TextDone)] == ["Looking.", "Done."]
    assert "".join(x.text for x in b.of(e.ThinkingDelta)) == "Hm. "


async def test_a_run_is_on_the_disk_before_the_kernel_has_it(
    bench: Benches, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = bench(run("a = 1"), say("Done."))
    asked, written = asyncio.Event(), asyncio.Event()

    async def settle(*_: str) -> None:
        asked.set()
        await written.wait()

    monkeypatch.setattr(b.store, "settle", settle)
    b.send(mode="auto")
    await asyncio.wait_for(asked.wait(), 30)
    assert b.of(e.RunStarted) and await room.ran() == []
    written.set()
    await b.ended()
    assert await room.ran() == ["a = 1"]


async def test_an_edit_reads_its_cell_and_not_the_notebook(bench: Benches) -> None:
    b: Bench = bench(
        run("a = 1"),
        lambda request: call("edit_cell", cell_id=b.of(e.ToolDone)[0].cell_id, source="a = 2"),
        call("edit_cell", cell_id="c1", source="x = 1"),
        call("delete_cell", cell_id="c1"),
        say("Done."),
    )
    b.send(mode="auto")
    for number in (1, 2):  # a cell of the person's
        b.decide(await b.draft(number))
    await b.ended()
    assert [done.status for done in b.of(e.ToolDone)] == ["ok"] * 4
    assert b.document.sources() == ["a = 2"]
    assert b.document.looks == 1, "when the turn began"
