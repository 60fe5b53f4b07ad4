"""The person's word: good once, for those bytes, that cell and that start of the kernel."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.run.approval.decisions import NOBODY, Decisions
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import ToolUse, assistant
from jupyter_codeinterp.wire.ops import BeginRun, SetSource
from tests.core.conftest import Room, open_room
from tests.reference_window import notebook
from tests.scripted import Bench, call, fix, run, say

Benches = Callable[..., Bench]


async def test_an_edit_before_the_run_is_what_runs_and_the_model_is_told(
    bench: Benches, room: Room
) -> None:
    b = bench(run("n = 5"), say("Done."))
    b.send()
    draft = await b.draft()
    b.document.edit(draft.cell_id, "n = 50")
    b.decide(draft, source="n = 50")
    await b.ended()
    assert await room.ran() == ["n = 50"] and b.document.sources() == ["x = 20", "n = 50"]
    assert "The person edited the code before it ran. What ran:\nn = 50" in b.results[0]
    assert b.of(e.DraftDecided)[0].edited


async def test_an_edit_in_the_card_alone_reaches_the_cell(bench: Benches, room: Room) -> None:
    b = bench(run("n = 5"), say("Done."))
    b.send()
    b.decide(await b.draft(), source="n = 50")
    await b.ended()
    assert await room.ran() == ["n = 50"] and b.document.sources() == ["x = 20", "n = 50"]


@pytest.mark.parametrize(
    "asked",
    [
        run("secret = 1"),
        call("edit_cell", cell_id="c1", source="secret = 1"),
        call("run_cells", cell_ids=["c1"]),
    ],
)
async def test_a_cell_that_becomes_private_after_its_card_does_not_run(
    bench: Benches, room: Room, asked: Any
) -> None:
    b = bench(asked, say("Done."))
    b.send()
    draft = await b.draft()
    cell = b.document.cell(draft.cell_id or "c1")
    assert cell is not None
    cell["metadata"]["tags"] = ["codeinterp-private"]
    before = copy.deepcopy(cell)
    b.decide(draft)
    await b.ended()
    assert await room.ran() == [] and b.document.cell(cell["id"]) in (before, None)
    assert "status=not_run" in b.results[0] and "private" in b.results[0]


async def test_a_rejected_draft_goes_and_the_model_is_told(bench: Benches, room: Room) -> None:
    b = bench(run("n = 5"), say("All right."))
    b.send()
    b.decide(await b.draft(), "reject")
    ended = await b.ended()
    assert await room.ran() == [] and b.document.sources() == ["x = 20"]
    assert b.results == ["status=rejected\nThe person rejected this cell."]
    assert (ended.added, ended.stop_reason) == ((), "end_turn")
    assert b.of(e.ToolDone)[0].status == "rejected"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (run("%pip install --no-index msgspec"), ("Installs packages: %pip", "needs no decision")),
        (call("edit_cell", cell_id="c1", source="x = 1"), ("add a new cell instead",)),
        (call("delete_cell", cell_id="c1"), ("leave it",)),
    ],
)
async def test_where_nobody_can_be_asked_no_person_is_said_to_have_rejected(
    bench: Benches, asked: Any, words: tuple[str, ...]
) -> None:
    b = bench(asked, say("All right."))
    b.send(mode="auto")
    draft = await b.draft()
    b.session.decisions.decide(
        draft.draft_id, draft.nonce, "reject", draft.source, False, nobody=True
    )
    await b.ended()
    assert b.of(e.DraftDecided)[-1].by == "nobody"
    assert NOBODY in b.results[0] and "The person" not in b.results[0]
    assert all(word in b.results[0] for word in words)


async def test_a_rejection_may_carry_another_version(bench: Benches) -> None:
    b = bench(run("n = 5"), say("All right."))
    b.send()
    draft = await b.draft()
    b.document.edit(draft.cell_id, "n = len(x)")
    b.decide(draft, "reject", source="n = len(x)")
    await b.ended()
    assert b.results[0].endswith("Their version was:\nn = len(x)")
    assert b.document.sources() == ["x = 20"]


async def test_a_rejected_edit_leaves_the_cell_as_it_is(bench: Benches) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="x = 1"), say("All right."))
    b.send()
    draft = await b.draft()
    assert (draft.kind, draft.old_source) == ("edit", "x = 20")
    b.decide(draft, "reject")
    await b.ended()
    assert b.document.sources() == ["x = 20"] and b.document.ops == []


async def test_a_deleted_draft_is_rejected(bench: Benches, room: Room) -> None:
    b = bench(run("n = 5"), say("All right."))
    b.send()
    draft = await b.draft()
    b.document.delete(draft.cell_id)
    b.session.decisions.gone(draft.cell_id)
    await b.ended()
    assert b.results == ["status=rejected\nThe person deleted this cell."]
    assert await room.ran() == []


async def test_a_draft_deleted_while_it_was_written_is_rejected(bench: Benches, room: Room) -> None:
    b = bench(run("n = 5"), say("All right."))
    b.model.pause = 0.06

    def delete(op: object) -> None:
        if isinstance(op, SetSource):
            b.document.delete(op.cell_id)

    b.document.before_op = delete
    await b.turn()
    assert "no longer in the notebook" in b.results[0] and await room.ran() == []


async def test_an_edit_whose_target_changed_before_the_decision_is_refused(
    bench: Benches, room: Room
) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="x = 1"), say("Oh."))
    b.send()
    draft = await b.draft()
    b.document.edit("c1", "x = 99")
    b.decide(draft)
    await b.ended()
    assert b.document.sources() == ["x = 99"] and await room.ran() == []
    known = "status=not_run cell_id=c1 place=1/1\nThe person changed this cell"
    assert b.results[0].startswith(known)
    assert b.results[0].endswith("x = 99")


async def test_a_target_that_was_deleted_is_not_brought_back(bench: Benches, room: Room) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="x = 1"), say("Oh."))
    b.send()
    draft = await b.draft()
    b.document.delete("c1")
    b.decide(draft)
    await b.ended()
    assert b.document.sources() == [] and await room.ran() == []
    assert "no longer in the notebook" in b.results[0]


async def test_a_deletion_whose_target_changed_is_refused(bench: Benches) -> None:
    b = bench(call("delete_cell", cell_id="c1"), say("Oh."))
    b.send()
    draft = await b.draft()
    b.document.edit("c1", "x = 99")
    b.decide(draft)
    await b.ended()
    assert b.document.sources() == ["x = 99"] and b.results[0].startswith("status=not_run")


async def test_a_locked_cell_is_not_edited(bench: Benches) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="x = 1"), say("Oh."))
    b.document.notebook["cells"][0]["metadata"]["editable"] = False
    b.send()
    b.decide(await b.draft())
    await b.ended()
    assert b.document.sources() == ["x = 20"] and "editable: false" in b.results[0]


async def test_a_draft_that_changes_after_the_decision_asks_again(
    bench: Benches, room: Room
) -> None:
    b = bench(run("n = 5"), say("Done."))
    b.send()
    first = await b.draft()

    def edit(op: object) -> None:
        if isinstance(op, BeginRun):
            b.document.before_op = None
            b.document.edit(op.cell_id, "n = 6")

    b.document.before_op = edit
    b.decide(first)
    second = await b.draft(2)
    assert second.source == "n = 6" and second.draft_id == first.draft_id
    assert second.nonce != first.nonce
    assert second.notices[0] == "The cell changed after you decided."
    assert await room.ran() == []
    with pytest.raises(CommandError) as error:
        b.decide(first)
    assert error.value.code == "stale_decision"
    b.decide(second)
    await b.ended()
    assert await room.ran() == ["n = 6"]
    assert "The person edited the code" in b.results[0]


async def test_a_restarted_kernel_asks_again(bench: Benches) -> None:
    async with open_room() as room:
        b = bench(run("n = 5"), say("Done."), kernel=room.kernel)
        b.send()
        first = await b.draft()
        await room.restart()
        b.decide(first)
        second = await b.draft(2)
        assert second.source == "n = 5" and second.nonce != first.nonce
        assert second.notices[0].startswith("The kernel was restarted or changed")
        assert not [x for x in b.document.ops if isinstance(x, BeginRun)]
        assert "n = 5" not in room.person.sources()
        with pytest.raises(CommandError):
            b.decide(first)
        b.decide(second)
        await b.ended()
        assert b.results[0].count("All earlier variables are gone") == 1
        await b.session.close()


async def test_a_decision_of_an_earlier_draft_is_good_for_nothing(
    bench: Benches, room: Room
) -> None:
    b = bench(run("n = 5"), fix("n = 6"), say("Done."))
    b.send()
    first = await b.draft()
    b.decide(first)
    second = await b.draft(2)
    with pytest.raises(CommandError):
        b.session.decisions.decide(second.draft_id, first.nonce, "run", "n = 7", False)
    b.decide(second)
    await b.ended()
    assert await room.ran() == ["n = 5", "n = 6"]


async def test_invisible_characters_are_said(bench: Benches, room: Room) -> None:
    b = bench(run("x = 'a\u202eb'"), say("Done."))
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.notices
    b.decide(draft, "reject")
    await b.ended()
    assert await room.ran() == []


async def test_what_else_runs_is_said(bench: Benches) -> None:
    b = bench(run("import helper\n!ls"), say("Done."))
    b.send()
    draft = await b.draft()
    assert any("helper" in notice for notice in draft.notices)
    assert any("!ls" in notice for notice in draft.notices)
    b.decide(draft, "reject")
    await b.ended()


async def test_answers_to_questions_that_nobody_asked_are_refused() -> None:
    with pytest.raises(CommandError) as error:
        Decisions().answer("c", "yes")
    assert error.value.code == "unknown_question"


async def test_no_call_has_the_id_of_a_cell_of_another_call(bench: Benches, room: Room) -> None:
    """Whatever ids the endpoint gives its calls."""
    several = ToolUse("t", "run_cells", {"cell_ids": ["c1", "c2"]})
    more = [ToolUse(f"t-cell{n}", "scratch", {"source": f"print('own {n}')"}) for n in (1, 2)]
    b = bench(assistant(several, *more), say("Done."), book=notebook("1", "2"))
    await b.turn()
    ended = [done.call_id for done in b.of(e.ToolDone)]
    assert len(ended) == len(set(ended)) == 5
    assert all(f"own {n}" in text for n, text in enumerate(b.results) if n)
    assert await room.ran() == ["1", "2", "print('own 1')", "print('own 2')"]
