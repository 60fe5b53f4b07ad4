"""The properties of a call's input may come in any order: the draft that shows early must be the
one that is decided on."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from jupyter_codeinterp.agent.tools.shared import step
from jupyter_codeinterp.wire import events as e
from tests.reference_window import notebook
from tests.scripted import Bench, call, run, say

Benches = Callable[..., Bench]
LONG = "z = 1\n" * 30


def slow(b: Bench) -> Bench:
    """The model sends letter by letter, so that drafts show before their input is complete."""
    b.model.letters, b.model.pause = 1, 0.001
    return b


async def test_an_edit_whose_cell_comes_after_the_source(bench: Benches) -> None:
    """In Auto: the first letter of the cell's id is the number of another one of the agent's."""
    b = bench()
    ids = itertools.chain(["aaaaaaaa", "2bbbbbbb"], map("c{:07}".format, itertools.count()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step, "new_cell_id", lambda: next(ids))
        edit = call("edit_cell", source=LONG, cell_id="2bbbbbbb")
        b.model.script += [run("first = 1"), run("second = 2"), edit, say("Done.")]
        await slow(b).turn()
    assert b.document.sources() == ["x = 20", "first = 1", LONG]


async def test_the_card_of_an_edit_names_its_cell(bench: Benches) -> None:
    book = notebook("x = 20", "y = 1", "z = 3")
    for cell, cell_id in zip(book["cells"], ("aaa", "bbb", "2cc"), strict=True):
        cell["id"] = cell_id
    b = slow(bench(call("edit_cell", source=LONG, cell_id="2cc"), say("Done."), book=book))
    b.send(mode="review")
    draft = await b.draft()
    assert (draft.cell_id, draft.old_source) == ("2cc", "z = 3")
    b.decide(draft)
    await b.ended()
    assert b.document.sources() == ["x = 20", "y = 1", LONG]


async def test_an_edit_shows_early_where_its_cell_came_first(bench: Benches) -> None:
    book = notebook("x = 20")
    book["cells"][0]["id"] = "aaa"
    b = slow(bench(call("edit_cell", cell_id="aaa", source=LONG), say("Done."), book=book))
    b.send(mode="review")
    await b.draft()
    assert b.document.streamed


async def test_a_position_that_comes_after_the_source(bench: Benches) -> None:
    b = slow(bench(call("run_cell", source=LONG, position="start"), say("Done.")))
    await b.turn()
    assert b.document.sources() == [LONG, "x = 20"]
    assert len({opened.draft_id for opened in b.of(e.DraftOpened)}) == 2
