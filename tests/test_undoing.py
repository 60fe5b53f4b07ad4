"""A turn is reviewed and undone over the wire: REST tells what it changed, the window's socket
puts it back, in the notebook that the window has."""

from __future__ import annotations

import copy
from typing import Any

from jupyter_codeinterp.server.socket.send_queue import MAX_SNAPSHOT
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, call, edit_cell, in_order, run_cell, text
from tests.reference_window import ReferenceWindow, body, notebook
from tests.site import Site


async def tidied(site: Site, api: FakeAnthropic) -> ReferenceWindow:
    """A window after a turn that has added a cell, edited one and deleted one."""
    steps = [
        answer(run_cell("print('added')")),
        answer(edit_cell("c1", "print('edited')")),
        answer(call("delete_cell", {"cell_id": "c2"})),
        answer(text("Done.")),
    ]
    api.play(in_order(steps))
    book = notebook("one = 1", "two = 2", "three = 3")
    book["cells"][1] |= {"execution_count": 7, "metadata": {"tags": ["kept"], "other": {"a": 1}}}
    book["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "2"}]
    window = await site.window(book=book, kernel_id=await site.kernel_of("a.ipynb"))
    assert (await window.ask("Tidy up")).error is None
    for number in (1, 2, 3):
        await window.decide(await window.draft(number))
    ended = await window.ended()
    assert (len(ended.added), ended.edited, ended.removed) == (1, ("c1",), ("c2",))
    return window


BEFORE = copy.deepcopy(notebook("one = 1", "two = 2", "three = 3")["cells"])
BEFORE[1] |= {
    "execution_count": 7,
    "metadata": {"tags": ["kept"], "other": {"a": 1}},
    "outputs": [{"output_type": "stream", "name": "stdout", "text": "2"}],
}


async def changes(site: Site, window: ReferenceWindow, turn: int = 1) -> list[dict[str, Any]]:
    response = await site.request(
        "GET", "sessions", window.session_id, "turns", str(turn), "changes"
    )
    assert response.code == 200
    review = body(response)
    assert (review["turn"], review["left_out"]) == (turn, 0)
    return list(review["changes"])


async def test_a_turn_is_undone_and_redone(site: Site, api: FakeAnthropic) -> None:
    w = await tidied(site, api)
    after = copy.deepcopy(w.cells)
    reply = await w.send(c.RedoTurn(w.session_id, 1))
    assert (reply.error, reply.message) == ("nothing_to_redo", "Nothing to redo.")
    assert (await w.send(c.UndoTurn(w.session_id, 1))).error is None
    undone = await w.event(e.TurnUndone)
    assert (w.cells, len(undone.restored), undone.kept) == (BEFORE, 3, ())
    reply = await w.send(c.UndoTurn(w.session_id, 1))
    assert (reply.error, "already undone" in reply.message) == ("already_undone", True)
    assert (await w.send(c.RedoTurn(w.session_id, 1, ("c2",)))).error is None
    assert [t["state"] for t in await changes(site, w)] == ["undone", "undone", "open"]
    assert (await w.send(c.RedoTurn(w.session_id, 1))).error is None
    assert w.cells == after
    assert [t["state"] for t in await changes(site, w)] == ["open", "open", "open"]
    redone = w.of(e.TurnRedone)
    assert [len(r.restored) for r in redone] == [1, 2]
    assert all(r.window for r in redone)
    assert (await w.send(c.RedoTurn(w.session_id, 1, ("c3",)))).error == "unknown_cell"
    assert (await w.send(c.UndoTurn(w.session_id, 1))).error is None
    assert w.cells == BEFORE


async def test_a_cell_with_more_outputs_than_a_message_may_have(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([answer(edit_cell("c1", "print('edited')")), answer(text("Done."))]))
    book = notebook("one = 1")
    book["cells"][0]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "x" * (MAX_SNAPSHOT + 1)}
    ]
    w = await site.window(book=book, kernel_id=await site.kernel_of("a.ipynb"))
    assert (await w.ask("Tidy up")).error is None
    await w.decide(await w.draft())
    assert (await w.ended()).edited == ("c1",)
    assert (await w.send(c.UndoTurn(w.session_id, 1))).error is None
    assert (await w.event(e.TurnUndone)).without_outputs == ("c1",)
    assert w.cells[0]["source"] == "one = 1" and not w.closed.is_set()


async def test_one_is_kept_and_one_undone_and_then_the_rest(site: Site, api: FakeAnthropic) -> None:
    w = await tidied(site, api)
    for turn in (0, 2, 10**14):
        response = await site.request(
            "GET", "sessions", w.session_id, "turns", str(turn), "changes"
        )
        assert (response.code, body(response)["code"]) == (404, "unknown_turn")
    response = await site.request("GET", "sessions", "0" * 32, "turns", "1", "changes")
    assert (response.code, body(response)["code"]) == (404, "unknown_session")
    for command, error in (
        (c.UndoTurn(w.session_id, 1, ("c3",)), "unknown_cell"),
        (c.KeepChanges(w.session_id, 1, ("nowhere",)), "unknown_cell"),
        (c.KeepChanges(w.session_id, 5, ("c1",)), "unknown_turn"),
    ):
        assert (await w.send(command)).error == error
    assert w.of(e.TurnUndone) == w.of(e.ChangesKept) == []
    told = await changes(site, w)
    added = told[0]["cell_id"]
    assert [(t["kind"], t["before"], t["after"], t["state"]) for t in told] == [
        ("added", None, "print('added')", "open"),
        ("edited", "one = 1", "print('edited')", "open"),
        ("removed", "two = 2", None, "open"),
    ]
    assert [t["outputs"] for t in told] == [False, False, True]
    assert (await w.send(c.KeepChanges(w.session_id, 1, (added,)))).error is None
    assert (await w.send(c.UndoTurn(w.session_id, 1, ("c2",)))).error is None
    reply = await w.send(c.UndoTurn(w.session_id, 1, ("c2",)))
    assert reply.error == "already_undone"
    assert [t["state"] for t in await changes(site, w)] == ["kept", "open", "undone"]
    assert (await w.send(c.UndoTurn(w.session_id, 1))).error is None
    assert [cell for cell in w.cells if cell["id"] != added] == BEFORE
    assert [t["state"] for t in await changes(site, w)] == ["kept", "undone", "undone"]
    assert [u.restored for u in w.of(e.TurnUndone)] == [("c2",), ("c1",)]


async def test_it_works_in_another_window_that_has_read_the_file_anew(
    site: Site, api: FakeAnthropic
) -> None:
    w = await tidied(site, api)
    other = await site.bare_window(book=copy.deepcopy(w.notebook))
    other.applied = dict(w.applied)
    other.session_id = w.session_id
    await w.close()
    await other.open()
    await other.send(c.Subscribe(w.session_id))
    assert (await other.send(c.UndoTurn(w.session_id, 1))).error is None
    await other.event(e.TurnUndone)
    assert other.cells == BEFORE


async def test_the_end_says_whether_variables_may_have_changed(
    site: Site, api: FakeAnthropic
) -> None:
    kernel_id = await site.kernel_of("a.ipynb")
    window = await site.window(book=notebook("x = 1"), kernel_id=kernel_id)
    api.play(in_order([answer(text("Yes.")), answer(run_cell("x = 2")), answer(text("Done."))]))
    assert (await window.ask("Is it?")).error is None
    assert (await window.ended()).variables is False
    assert (await window.ask("Do it")).error is None
    await window.decide(await window.draft(1))
    assert (await window.ended(2)).variables is True
