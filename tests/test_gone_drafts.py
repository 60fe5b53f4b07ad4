"""The cell of a waiting draft goes away in its window: for a moment, for good, with the tab.

That a window waits before it tells is in ``src/notebook/review/watch.ts``; here is what comes
of it.
"""

from __future__ import annotations

from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.attacks.test_decisions import CODE, Waiting
from tests.attacks.test_decisions import waiting as waiting  # a fixture
from tests.reference_window import ReferenceWindow


def take(window: ReferenceWindow, cell_id: str) -> None:
    """The person deletes the cell; nobody is told yet."""
    cells = [cell for cell in window.cells if cell["id"] != cell_id]
    window.notebook = {**window.notebook, "cells": cells}


def put(window: ReferenceWindow, cell_id: str, source: str) -> None:
    cell = {"id": cell_id, "cell_type": "raw", "metadata": {}, "source": source}
    window.notebook = {**window.notebook, "cells": [*window.cells, cell]}


async def test_gone_and_back_it_waits_as_before(waiting: Waiting) -> None:
    case = await waiting()
    draft = await case.window.draft()
    take(case.window, draft.cell_id)
    put(case.window, draft.cell_id, CODE)
    await case.nothing_ran()
    assert case.window.of(e.DraftDecided) == []
    assert (await case.window.decide(draft)).error is None
    await case.ran_once()


async def test_gone_for_good_is_a_rejection(waiting: Waiting) -> None:
    case = await waiting()
    draft = await case.window.draft()
    take(case.window, draft.cell_id)
    assert (await case.window.send(c.DraftGone("a.ipynb", draft.cell_id))).error is None
    await case.window.ended()
    (decided,) = case.window.of(e.DraftDecided)
    assert (decided.action, decided.by) == ("reject", "person")
    assert "deleted" in decided.reason
    put(case.window, draft.cell_id, CODE)
    assert (await case.window.decide(draft)).error == "unknown_draft"
    await case.nothing_ran()


async def test_run_while_it_is_gone_runs_nothing(waiting: Waiting) -> None:
    case = await waiting()
    draft = await case.window.draft()
    take(case.window, draft.cell_id)
    assert (await case.window.decide(draft)).error is None
    await case.window.ended()
    await case.nothing_ran()
    done = case.window.of(e.ToolDone)[-1]
    assert "no longer in the notebook" in str(done)


async def test_merged_with_a_cell_all_that_stands_there_runs(waiting: Waiting) -> None:
    case = await waiting()
    draft = await case.window.draft()
    merged = f"x = 20\n\n{CODE}"
    take(case.window, draft.cell_id)
    take(case.window, "c1")
    put(case.window, draft.cell_id, merged)
    assert (await case.window.decide(draft, source=merged)).error is None
    await case.ran_once(merged)
    (decided,) = case.window.of(e.DraftDecided)
    assert decided.edited


async def test_the_half_that_a_split_left_is_what_runs(waiting: Waiting) -> None:
    case = await waiting()
    draft = await case.window.draft()
    take(case.window, draft.cell_id)
    put(case.window, draft.cell_id, "'last half'")
    # Decided on in a window that did not know of it: then it asks again.
    assert (await case.window.decide(draft)).error is None
    again = await case.window.draft(2)
    assert again.source == "'last half'" and again.nonce != draft.nonce
    await case.nothing_ran()
    assert (await case.window.decide(again)).error is None
    await case.ran_once("'last half'")


async def test_gone_and_the_tab_with_it(waiting: Waiting) -> None:
    case = await waiting()
    draft = await case.window.draft()
    take(case.window, draft.cell_id)
    book, applied = case.window.notebook, case.window.applied
    session_id = case.window.session_id
    await case.window.close()
    other = await case.site.bare_window(book=book)
    other.applied, other.session_id = applied, session_id
    await other.open(case.kernel_id)
    await other.until(lambda: other.leases and other.leases[-1].held)
    assert (await other.send(c.Subscribe(session_id))).error is None
    assert (await other.send(c.DraftGone("a.ipynb", draft.cell_id))).error is None
    await other.ended()
    await case.nothing_ran()


async def test_stopped_while_it_is_gone(waiting: Waiting) -> None:
    case = await waiting()
    draft = await case.window.draft()
    take(case.window, draft.cell_id)
    assert (await case.window.send(c.Cancel(case.window.session_id))).error is None
    await case.window.ended()
    put(case.window, draft.cell_id, CODE)
    assert (await case.window.send(c.DraftGone("a.ipynb", draft.cell_id))).error is None
    assert (await case.window.decide(draft)).error == "unknown_draft"
    await case.nothing_ran()
