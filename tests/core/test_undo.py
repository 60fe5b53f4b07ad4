"""Taking a turn back: what it added, edited and removed, where nobody has touched it since."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.document import Delete, FinishRun, Insert, Op, SetSource, apply
from jupyter_codeinterp.core.ledger import Ledger
from tests.core.conftest import Room
from tests.reference_window import notebook
from tests.scripted import Bench, call, last_cell, mend, run, say

Benches = Callable[..., Bench]


async def test_added_cells_go(bench: Benches) -> None:
    b = bench(run("a = 1"), run("b = 2"), call("add_markdown", source="# Hi"), say("Done."))
    ended = await b.turn()
    assert len(ended.added) == 3
    await b.session.undo(1)
    assert b.document.sources() == ["x = 20"]
    (undone,) = b.of(e.TurnUndone)
    assert set(undone.restored) == set(ended.added) and undone.kept == ()


async def test_an_edited_cell_gets_source_and_outputs_back(bench: Benches) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="print('new')"), say("Done."))
    cell = b.document.notebook["cells"][0]
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "old\n"}]
    cell["execution_count"] = 7
    b.send()
    b.decide(await b.draft())
    ended = await b.ended()
    assert b.document.notebook["cells"][0]["outputs"][0]["text"] == "new\n"
    assert ended.edited == ("c1",)
    await b.session.undo(1)
    cell = b.document.notebook["cells"][0]
    assert (cell["source"], cell["execution_count"]) == ("x = 20", 7)
    assert cell["outputs"][0]["text"] == "old\n"


async def test_a_cell_that_was_only_run_again_gets_its_outputs_back(bench: Benches) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="x = 20"), say("Done."))
    b.document.notebook["cells"][0]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "old\n"}
    ]
    b.send()
    b.decide(await b.draft())
    assert (await b.ended()).edited == ("c1",)
    assert b.document.notebook["cells"][0]["outputs"] == []
    await b.session.undo(1)
    assert b.document.notebook["cells"][0]["outputs"][0]["text"] == "old\n"


async def test_removed_cells_come_back_in_their_order(bench: Benches) -> None:
    book = notebook("one", "two", "three")
    book["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "2"}]
    book["cells"][1]["metadata"]["tags"] = ["keep"]
    before = copy.deepcopy(book)
    b = bench(
        call("delete_cell", cell_id="c2"),
        call("delete_cell", cell_id="c3"),
        say("Done."),
        book=book,
    )
    b.send()
    b.decide(await b.draft())
    b.decide(await b.draft(2))
    assert (await b.ended()).removed == ("c2", "c3")
    assert b.document.sources() == ["one"]
    await b.session.undo(1)
    assert b.document.notebook["cells"] == before["cells"]


async def test_what_the_person_touched_since_is_kept(bench: Benches) -> None:
    b = bench(run("a = 1"), run("b = 2"), say("Done."))
    first, second = (await b.turn()).added
    b.document.edit(first, "a = 1  # mine now")
    await b.session.undo(1)
    assert b.document.sources() == ["x = 20", "a = 1  # mine now"]
    assert b.of(e.TurnUndone) == [e.TurnUndone(1, (second,), (e.Kept(first, "changed"),))]


async def test_a_turn_is_taken_back_once(bench: Benches) -> None:
    b = bench(run("a = 1"), say("Done."))
    await b.turn()
    await b.session.undo(1)
    with pytest.raises(Exception, match="put back or kept already"):
        await b.session.undo(1)
    b.restart_server()
    with pytest.raises(Exception, match="put back or kept already"):
        await b.session.undo(1)
    with pytest.raises(Exception, match="no such turn"):
        await b.session.undo(2)
    assert len(b.of(e.TurnUndone)) == 1


async def test_only_that_turn_is_taken_back(bench: Benches) -> None:
    b = bench(run("a = 1"), say("One."), run("b = 2"), say("Two."))
    await b.turn()
    await b.turn()
    await b.session.undo(1)
    assert b.document.sources() == ["x = 20", "b = 2"]


async def test_it_works_after_a_restart_of_the_server(bench: Benches) -> None:
    b = bench(run("a = 1"), mend("a = 2"), say("Done."))
    await b.turn()
    b.restart_server()
    await b.session.undo(1)
    assert b.document.sources() == ["x = 20"]


async def test_a_closed_notebook_is_said_and_can_be_undone_later(bench: Benches) -> None:
    b = bench(run("a = 1"), say("Done."))
    await b.turn()
    b.document.is_open = False
    with pytest.raises(Exception, match="not open"):
        await b.session.undo(1)
    b.document.is_open = True
    await b.session.undo(1)
    assert b.document.sources() == ["x = 20"]


async def test_the_model_is_told_that_its_cells_are_gone(bench: Benches) -> None:
    b = bench(run("a = 1"), say("Done."), say("I see."))
    (cell_id,) = (await b.turn()).added
    await b.session.undo(1)
    await b.turn()
    assert f"<removed>{cell_id}</removed>" in str(b.model.requests[-1].messages[-1])


async def test_what_was_put_back_is_not_the_agents(bench: Benches, room: Room) -> None:
    b = bench(
        call("delete_cell", cell_id="c1"),
        say("Gone."),
        call("delete_cell", cell_id="c1"),
        say("Kept."),
    )
    b.send()
    b.decide(await b.draft())
    await b.ended()
    await b.session.undo(1)
    b.send(mode="auto")
    b.decide(await b.draft(2), "reject")
    await b.ended(2)
    assert b.document.sources() == ["x = 20"]


async def test_an_undo_of_a_mended_cell_leaves_nothing_to_mend(bench: Benches) -> None:
    b = bench(run("1 / 0"), say("No."), lambda r: run("print(1)"), say("Done."))
    await b.turn()
    with pytest.raises(Exception, match="changed no cell"):
        await b.session.undo(1)
    await b.turn()
    assert b.document.sources() == ["x = 20", "print(1)"]
    assert last_cell(b.model.requests[-1]) == b.of(e.TurnEnded)[1].added[0]


# --- the ledger by itself ------------------------------------------------------------


def keep(ops: list[tuple[int, Op]], cells: list[str]) -> tuple[Ledger, dict[str, object]]:
    ledger = Ledger()
    book = notebook(*cells)
    for turn, op in ops:
        book, receipt = apply(book, op)
        ledger.record(turn, op, receipt)
    return ledger, book


def test_an_insert_makes_a_cell_the_agents_until_its_source_is_another() -> None:
    ledger, _ = keep([(1, Insert("a", "code", "one", ()))], [])
    assert ledger.owns("a", "one")
    assert not ledger.owns("a", "two") and not ledger.owns("c1", "one")


def test_an_edit_makes_no_cell_the_agents() -> None:
    ledger, _ = keep([(1, SetSource("c1", "new", "old"))], ["old"])
    assert not ledger.owns("c1", "new")


def test_a_refused_op_counts_for_nothing() -> None:
    ledger, _ = keep([(1, SetSource("c1", "new", "other")), (1, Delete("c1", "other"))], ["old"])
    assert ledger.changes(1) == ()


def test_an_insert_and_its_deletion_are_no_change() -> None:
    ledger, _ = keep([(1, Insert("a", "raw", "", ())), (1, Delete("a", ""))], [])
    assert ledger.changes(1) == ()
    assert ledger.drafts == {} and ledger.touched == []


def test_a_draft_is_one_until_it_is_decided() -> None:
    ops: list[tuple[int, Op]] = [(1, Insert("a", "raw", "", ())), (1, SetSource("a", "b", ""))]
    assert list(keep(ops, [])[0].drafts) == ["a"]
    decided: tuple[int, Op] = (1, SetSource("a", "b", "b", cell_type="markdown"))
    assert list(keep([*ops, decided], [])[0].drafts) == []


def test_an_error_output_marks_a_failed_run() -> None:
    failed = FinishRun("a", "r", ({"output_type": "error"},), 1)
    ledger = Ledger()
    book = notebook()
    for op in (Insert("a", "code", "one", ()), failed):
        book, receipt = apply(book, op)
        ledger.record(3, op, receipt)
    assert ledger.failed_since(3) == ["a"] and ledger.failed_since(4) == []
