"""Redo brings back what an undo took back, where no one has touched it since."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.wire import events as e
from tests.core.test_undo import large, tidied
from tests.scripted import Bench, call, fix, run, say

Benches = Callable[..., Bench]


def cells(b: Bench) -> list[dict[str, Any]]:
    return copy.deepcopy(b.document.notebook["cells"])


async def test_everything_is_as_the_turn_left_it(bench: Benches) -> None:
    """Order, source, type, outputs, count and metadata; also on a server that has started since,
    and again and again."""
    b, added = await tidied(bench)
    before = cells(b)
    for _ in range(2):
        await b.session.reviews.undo(1)
        undone = cells(b)
        assert undone != before
        b.restart_server()
        await b.session.reviews.redo(1, window=7)
        assert cells(b) == before
        b.restart_server()
        await b.session.reviews.undo(1)
        assert cells(b) == undone, "an undo after a redo works"
        await b.session.reviews.redo(1)
        assert cells(b) == before
    redone = b.of(e.TurnRedone)[0]
    assert (set(redone.restored), redone.kept, redone.window) == ({added, "c1", "c3"}, (), 7)


async def test_added_cells_return_in_their_order(bench: Benches) -> None:
    b = bench(run("a = 1"), run("b = 2"), call("add_markdown", source="# Hi"), say("Done."))
    first, second, third = (await b.turn()).added
    before = cells(b)
    await b.session.reviews.undo(1, (second,))
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 20"]
    await b.session.reviews.redo(1, (third, second))
    assert b.document.sources() == ["x = 20", "b = 2", "# Hi"]
    await b.session.reviews.redo(1)
    assert cells(b) == before
    assert [r.restored for r in b.of(e.TurnRedone)] == [(second, third), (first,)]


async def test_there_is_nothing_to_redo_without_an_undo(bench: Benches) -> None:
    b, added = await tidied(bench)
    for turn_cells in ((), (added,)):
        with pytest.raises(CommandError, match="Nothing to redo"):
            await b.session.reviews.redo(1, turn_cells)
    await b.session.reviews.undo(1, ("c3",))
    with pytest.raises(CommandError, match="Nothing to redo"):
        await b.session.reviews.redo(1, (added, "c3"))
    with pytest.raises(CommandError, match="did not change this cell"):
        await b.session.reviews.redo(1, ("c2", "c3"))
    with pytest.raises(CommandError, match="turn does not exist"):
        await b.session.reviews.redo(2)
    await b.session.reviews.redo(1)
    with pytest.raises(CommandError, match="Nothing to redo"):
        await b.session.reviews.redo(1)
    assert [r.restored for r in b.of(e.TurnRedone)] == [("c3",)]


def edit(b: Bench) -> None:
    b.document.edit("c1", "mine = True")


def retype(b: Bench) -> None:
    b.document.cell("c1").update(cell_type="markdown")  # type: ignore[union-attr]


def delete(b: Bench) -> None:
    b.document.delete("c1")


def lock(b: Bench) -> None:
    b.document.cell("c1")["metadata"]["editable"] = False  # type: ignore[index]


def edit_removed(b: Bench) -> None:
    b.document.edit("c3", "three = 33")


def tag_removed(b: Bench) -> None:
    b.document.cell("c3")["metadata"]["tags"] = ["mine"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("act", "cell_id", "why"),
    [
        (edit, "c1", "changed"),
        (retype, "c1", "changed"),
        (delete, "c1", "deleted"),
        (lock, "c1", "locked"),
        (edit_removed, "c3", "changed"),
        (tag_removed, "c3", "changed"),
    ],
)
async def test_what_the_person_did_since_is_kept_and_named(
    bench: Benches, act: Callable[[Bench], None], cell_id: str, why: Any
) -> None:
    b, added = await tidied(bench)
    await b.session.reviews.undo(1)
    act(b)
    mine = copy.deepcopy(b.document.cell(cell_id))
    await b.session.reviews.redo(1)
    (redone,) = b.of(e.TurnRedone)
    assert redone.kept == (e.Kept(cell_id, why),)
    assert set(redone.restored) == {added, "c1", "c3"} - {cell_id}
    assert b.document.cell(cell_id) == mine
    assert list(b.session.log.replay.redoable[1]) == [cell_id]


async def test_a_cell_that_a_later_turn_changed_is_no_longer_redoable(bench: Benches) -> None:
    b, added = await tidied(bench)
    await b.session.reviews.undo(1)
    b.model.script += [call("edit_cell", cell_id="c1", source="print('later')"), say("Done.")]
    b.send()
    b.decide(await b.draft(4))
    await b.ended(2)
    await b.session.reviews.redo(1)
    (redone,) = b.of(e.TurnRedone)
    assert set(redone.restored) == {added, "c3"}
    assert "print('later')" in b.document.sources()


async def test_two_turns_are_redone_in_their_order(bench: Benches) -> None:
    b = bench(run("a = 1"), say("One."), fix("a = 2"), say("Two."))
    (cell_id,) = (await b.turn()).added
    await b.turn()
    before = cells(b)
    await b.session.reviews.undo_since(1)
    assert b.document.sources() == ["x = 20"]
    await b.session.reviews.redo(2)
    assert b.of(e.TurnRedone)[-1].kept == (e.Kept(cell_id, "deleted"),)
    await b.session.reviews.redo(1)
    assert b.document.sources() == ["x = 20", "a = 1"]
    await b.session.reviews.redo(2)
    assert cells(b) == before


async def test_outputs_that_were_not_kept_are_named(bench: Benches) -> None:
    b = bench(call("delete_cell", cell_id="c1"), say("Done."))
    b.document.notebook["cells"][0]["outputs"] = []
    b.send()
    b.decide(await b.draft())
    await b.ended()
    await b.session.reviews.undo(1)
    b.document.notebook["cells"][0]["outputs"] = [large("ab")]
    await b.session.reviews.redo(1)
    assert b.document.sources() == []
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 20"]


async def test_a_cell_that_the_person_had_deleted_is_not_brought_back(bench: Benches) -> None:
    b = bench(run("a = 1"), run("b = 2"), say("Done."))
    first, second = (await b.turn()).added
    b.document.delete(first)
    await b.session.reviews.undo(1)
    assert b.of(e.TurnUndone)[0].redoable == (second,)
    await b.session.reviews.redo(1)
    assert b.document.sources() == ["x = 20", "b = 2"]


async def test_a_branch_offers_no_redo_for_an_undo_that_came_later(bench: Benches) -> None:
    b, _ = await tidied(bench)
    b.model.script += [say("Two.")]
    await b.turn()
    await b.session.reviews.undo(1)
    events = [event for _, event in b.session.reviews.beginning(2).events]
    undone = [event for event in events if isinstance(event, e.TurnUndone)]
    assert [(len(u.restored), u.redoable) for u in undone] == [(3, ())]
