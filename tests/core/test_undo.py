"""Taking a turn back: what it added, edited and removed, where nobody has touched it since."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.journal.changes import CellChange, review
from jupyter_codeinterp.journal.ledger import Ledger
from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.session import reviews
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import (
    MOST_OUTPUTS,
    BeginRun,
    Delete,
    Insert,
    Move,
    Op,
    Receipt,
    SetSource,
    digest,
)
from tests.core.conftest import Room
from tests.core.test_taking_up import killed
from tests.kernels import until
from tests.reference_window import notebook
from tests.scripted import Bench, call, fix, last_cell, run, say

Benches = Callable[..., Bench]


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
    await b.session.reviews.undo(1)
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
    assert (await b.ended()).run_again == ("c1",)
    assert b.document.notebook["cells"][0]["outputs"] == []
    await b.session.reviews.undo(1)
    assert b.document.notebook["cells"][0]["outputs"][0]["text"] == "old\n"


def large(text: str) -> dict[str, Any]:
    """An output that does not fit into a receipt."""
    return {"output_type": "stream", "name": "stdout", "text": text * MOST_OUTPUTS}


async def test_outputs_that_a_receipt_left_out_are_missing_after_an_undo(bench: Benches) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="x = 21"), say("Done."))
    b.document.notebook["cells"][0]["outputs"] = [large("ab")]
    b.send()
    b.decide(await b.draft())
    await b.ended()
    (change,) = b.session.reviews.review(1).changes
    assert change.outputs
    await b.session.reviews.undo(1)
    cell = b.document.notebook["cells"][0]
    assert (cell["source"], cell["outputs"]) == ("x = 20", [])
    (undone,) = b.of(e.TurnUndone)
    assert undone.restored == undone.without_outputs == ("c1",)


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
    await b.session.reviews.undo(1)
    assert b.document.notebook["cells"] == before["cells"]


async def test_what_the_person_touched_since_is_kept(bench: Benches) -> None:
    b = bench(run("a = 1"), run("b = 2"), say("Done."))
    first, second = (await b.turn()).added
    b.document.edit(first, "a = 1  # mine now")
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 20", "a = 1  # mine now"]
    kept = (e.Kept(first, "changed"),)
    assert b.of(e.TurnUndone) == [e.TurnUndone(1, (second,), kept, redoable=(second,))]


def rerun(b: Bench, cell_id: str) -> None:
    b.document.begin_by_hand(cell_id)
    b.document.end_by_hand(cell_id, SEEN)


def rerun_elsewhere(b: Bench, cell_id: str) -> None:
    """By a tool that knows nothing of our metadata, such as nbclient."""
    cell = b.document.cell(cell_id)
    assert cell is not None
    cell |= {"outputs": SEEN, "execution_count": 99}


def edit_back_and_run(b: Bench, cell_id: str) -> None:
    b.document.edit(cell_id, "x = 20")
    rerun(b, cell_id)


def clear_outputs(b: Bench, cell_id: str) -> None:
    cell = b.document.cell(cell_id)
    assert cell is not None
    cell |= {"outputs": [], "execution_count": None}


def move_to_the_top(b: Bench, cell_id: str) -> None:
    cells = b.document.notebook["cells"]
    cells.sort(key=lambda cell: cell["id"] != cell_id)


SEEN = [{"output_type": "stream", "name": "stdout", "text": "what they saw\n"}]
ADDS = run("print('by the agent')")
EDITS = call("edit_cell", cell_id="c1", source="print('by the agent')")
RUNS = call("edit_cell", cell_id="c1", source="x = 20")


@pytest.mark.parametrize(
    ("work", "act"),
    [
        (ADDS, rerun),
        (ADDS, rerun_elsewhere),
        (ADDS, clear_outputs),
        (ADDS, move_to_the_top),
        (EDITS, rerun),
        (EDITS, rerun_elsewhere),
        (EDITS, edit_back_and_run),
        (EDITS, clear_outputs),
        (RUNS, rerun),
        (RUNS, rerun_elsewhere),
        (RUNS, clear_outputs),
    ],
)
async def test_a_result_that_the_person_saw_comes_back_with_a_redo(
    bench: Benches, work: Any, act: Callable[[Bench, str], None]
) -> None:
    b = bench(work, say("Done."))
    b.send()
    b.decide(await b.draft())
    ended = await b.ended()
    (cell_id,) = ended.changed
    act(b, cell_id)
    mine = copy.deepcopy(b.document.cell(cell_id))
    b.restart_server()
    await b.session.reviews.undo(1)
    undone = b.of(e.TurnUndone)[-1]
    assert (undone.restored, undone.kept) == ((cell_id,), ())
    assert "by the agent" not in str(b.document.sources())
    await b.session.reviews.redo(1, (cell_id,))
    assert b.document.cell(cell_id) == mine, "nothing is lost"


async def test_only_that_turn_is_taken_back_after_a_restart_of_the_server(bench: Benches) -> None:
    b = bench(run("a = 1"), fix("a = 2"), say("One."), run("b = 2"), say("Two."))
    await b.turn()
    await b.turn()
    b.restart_server()
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 20", "b = 2"]
    with pytest.raises(CommandError, match="turn does not exist"):
        await b.session.reviews.undo(3)


async def test_a_closed_notebook_is_said_and_can_be_undone_later(bench: Benches) -> None:
    b = bench(run("a = 1"), say("Done."))
    await b.turn()
    b.document.is_open = False
    with pytest.raises(Exception, match="not open"):
        await b.session.reviews.undo(1)
    b.document.is_open = True
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 20"]


@pytest.mark.parametrize("how", ["undo", "redo", "undo_since"])
async def test_a_session_ends_after_its_undo(bench: Benches, how: str) -> None:
    b = bench(run("a = 1"), say("Done."))
    await b.turn()
    if how == "redo":
        await b.session.reviews.undo(1)
    b.document.answers = False
    ops = len(b.document.ops)
    work = asyncio.ensure_future(getattr(b.session.reviews, how)(1))
    await until(lambda: len(b.document.ops) > ops)
    work.cancel()  # The window is gone.
    closing = asyncio.ensure_future(b.session.close())
    await asyncio.sleep(0.05)
    assert not closing.done() and b.session.log.undoing and b.session.log.lease.held
    b.document.answer()
    await closing
    assert not (b.session.log.undoing or b.session.log.lease.held)
    assert len(b.of(e.TurnRedone if how == "redo" else e.TurnUndone)) == 1


async def test_a_window_that_hangs_holds_up_no_end(
    bench: Benches, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reviews, "FINISH_TIME", 0.1)
    b = bench(run("a = 1"), say("Done."))
    await b.turn()
    b.document.answers = False
    ops = len(b.document.ops)
    work = asyncio.ensure_future(b.session.reviews.undo(1))
    await until(lambda: len(b.document.ops) > ops)
    await asyncio.wait_for(b.session.close(), 5)
    await asyncio.wait({work})
    assert work.cancelled() and not (b.session.log.undoing or b.session.log.lease.held)
    assert "Gave up an undo" in caplog.text


async def test_the_model_is_told_that_its_cells_are_gone(bench: Benches) -> None:
    b = bench(run("a = 1"), say("Done."), say("I see."))
    (cell_id,) = (await b.turn()).added
    await b.session.reviews.undo(1)
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
    await b.session.reviews.undo(1)
    b.send(mode="auto")
    b.decide(await b.draft(2), "reject")
    await b.ended(2)
    assert b.document.sources() == ["x = 20"]


async def test_an_undo_of_a_mended_cell_leaves_nothing_to_mend(bench: Benches) -> None:
    b = bench(run("1 / 0"), say("No."), lambda r: run("print(1)"), say("Done."))
    await b.turn()
    with pytest.raises(Exception, match="changed no cell"):
        await b.session.reviews.undo(1)
    await b.turn()
    assert b.document.sources() == ["x = 20", "print(1)"]
    assert last_cell(b.model.requests[-1]) == b.of(e.TurnEnded)[1].added[0]


# --- cell by cell --------------------------------------------------------------------


def tidy() -> list[Any]:
    """A turn that adds, edits and removes, in a notebook of three cells."""
    return [
        run("print('added')"),
        call("edit_cell", cell_id="c1", source="print('edited')"),
        call("delete_cell", cell_id="c3"),
        say("Done."),
    ]


async def tidied(bench: Benches) -> tuple[Bench, str]:
    """The bench after such a turn, and the cell that it added."""
    b = bench(*tidy(), book=notebook("one = 1", "two = 2", "three = 3"))
    b.document.gone_to = "c2"
    b.document.notebook["cells"][0]["metadata"] = {"tags": ["mine"]}
    b.document.notebook["cells"][2]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "3"}
    ]
    b.send()
    for number in (1, 2, 3):
        b.decide(await b.draft(number))
    ended = await b.ended()
    (added,) = ended.added
    assert (ended.edited, ended.removed) == (("c1",), ("c3",))
    return b, added


async def test_cells_are_put_back_one_by_one_and_then_the_rest(bench: Benches) -> None:
    b, added = await tidied(bench)
    await b.session.reviews.undo(1, ("c3",))
    assert b.document.sources() == ["print('edited')", "two = 2", "print('added')", "three = 3"]
    with pytest.raises(CommandError, match="already restored"):
        await b.session.reviews.undo(1, ("c3",))
    b.restart_server()
    with pytest.raises(CommandError, match="already restored"):
        await b.session.reviews.undo(1, (added, "c3"))
    await b.session.reviews.undo(1)
    assert b.document.notebook["cells"] == [
        {**cell, "metadata": {"tags": ["mine"]} if cell["id"] == "c1" else {}}
        for cell in with_outputs(notebook("one = 1", "two = 2", "three = 3"))["cells"]
    ]
    assert [undone.restored for undone in b.of(e.TurnUndone)] == [("c3",), (added, "c1")]
    with pytest.raises(CommandError, match="already undone or kept"):
        await b.session.reviews.undo(1)


def with_outputs(book: dict[str, Any]) -> dict[str, Any]:
    book["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "3"}]
    return book


async def test_what_the_person_keeps_is_left_out_of_the_undo(bench: Benches) -> None:
    b, added = await tidied(bench)
    b.session.reviews.keep(1, (added,))
    b.restart_server()
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["one = 1", "two = 2", "print('added')", "three = 3"]
    await b.session.reviews.undo(1, (added,))
    assert b.document.sources() == ["one = 1", "two = 2", "three = 3"], "they may think again"
    with pytest.raises(CommandError, match="already restored"):
        b.session.reviews.keep(1, (added,))


async def test_a_cell_of_another_turn_is_refused(bench: Benches) -> None:
    b, added = await tidied(bench)
    for cells in (("c2",), (added, "nowhere")):
        with pytest.raises(CommandError, match="did not change this cell"):
            await b.session.reviews.undo(1, cells)
        with pytest.raises(CommandError, match="did not change this cell"):
            b.session.reviews.keep(1, cells)
    assert not b.of(e.TurnUndone) and not b.of(e.ChangesKept)


async def test_the_review_tells_each_cell_before_and_after(bench: Benches) -> None:
    b, added = await tidied(bench)
    b.session.reviews.keep(1, (added,))
    await b.session.reviews.undo(1, ("c1",))
    b.restart_server()
    review = b.session.reviews.review(1)
    told = [(c.cell_id, c.kind, c.before, c.after, c.outputs, c.state) for c in review.changes]
    assert told == [
        (added, "added", None, "print('added')", False, "kept"),
        ("c1", "edited", "one = 1", "print('edited')", False, "undone"),
        ("c3", "removed", "three = 3", None, True, "open"),
    ]
    with pytest.raises(CommandError, match="turn does not exist"):
        b.session.reviews.review(2)


def test_a_review_is_bounded() -> None:
    many = [CellChange(f"c{n}", "added", source="x" * 50_000) for n in range(300)]
    bounded = review(1, many, {})
    assert (len(bounded.changes), bounded.left_out) == (200, 100)
    assert len(msgspec.json.encode(bounded)) < 200 * 21_000 and bounded.changes[0].cut


async def test_why_a_cell_was_left_is_said(bench: Benches) -> None:
    b, added = await tidied(bench)
    cells = b.document.notebook["cells"]
    cells[0]["metadata"]["editable"] = False
    b.document.cell(added)["metadata"]["tags"] = ["to keep"]  # type: ignore[index]
    before = copy.deepcopy(cells)
    await b.session.reviews.undo(1)
    (undone,) = b.of(e.TurnUndone)
    assert undone.restored == ("c3",)
    assert undone.kept == (e.Kept(added, "changed"), e.Kept("c1", "locked"))
    assert b.document.notebook["cells"][:3] == before
    b.document.delete("c1")
    await b.session.reviews.undo(1, ("c1",))
    assert b.of(e.TurnUndone)[1].kept == (e.Kept("c1", "deleted"),)


async def test_what_a_later_turn_changed_is_undone_after_that(bench: Benches) -> None:
    b = bench(run("a = 1"), say("One."), fix("a = 2"), say("Two."))
    (cell_id,) = (await b.turn()).added
    await b.turn()
    await b.session.reviews.undo(1)
    assert b.of(e.TurnUndone) == [e.TurnUndone(1, (), (e.Kept(cell_id, "changed_later"),))]
    await b.session.reviews.undo(2)
    assert b.document.sources() == ["x = 20", "a = 1"]
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 20"]


async def test_a_draft_that_was_cut_off_goes(bench: Benches) -> None:
    b = bench(run("a = 1"))
    b.model.pause = 0.06
    b.send()
    opened = await b.event(e.DraftOpened)
    b.model.hold = asyncio.Event()
    killed(b)
    b.document.edit(opened.cell_id, "a =")
    assert b.of(e.TurnEnded)[0].added == (opened.cell_id,)
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 20"]


async def test_a_cell_that_held_a_key_is_not_put_back_without_it(bench: Benches) -> None:
    b = bench(call("delete_cell", cell_id="c1"), say("Done."), book=notebook("k = '[key removed]'"))
    b.send()
    b.decide(await b.draft())
    await b.ended()
    await b.session.reviews.undo(1)
    assert b.of(e.TurnUndone) == [e.TurnUndone(1, (), (e.Kept("c1", "unknown"),))]


async def test_how_a_cell_was_may_not_be_known(bench: Benches) -> None:
    """The page was reloaded before it could tell: its receipt is of the cell as it is."""
    ledger = Ledger()
    ledger.record(1, SetSource("c1", "new", "old"), Receipt("done"))
    ledger.record(1, BeginRun("c1", digest("new"), "r"), Receipt("done", before={"id": "c1"}))
    (change,) = ledger.changes(1)
    assert (change.kind, change.undoable) == ("edited", False)
    assert ledger.undo_cell(1, "c1", lambda change: ()) is None
    ledger.record(2, Move("c1", ("c2",)), Receipt("done"))
    assert ledger.changes(2) == (), "a place that nobody knows is not the top"


# --- the ledger by itself ------------------------------------------------------------


def keep(ops: list[tuple[int, Op]], cells: list[str]) -> tuple[Ledger, dict[str, object]]:
    ledger = Ledger()
    book = notebook(*cells)
    for turn, op in ops:
        book, receipt = apply(book, op)
        ledger.record(turn, op, receipt)
    return ledger, book


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
