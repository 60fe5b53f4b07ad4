"""A turn in a sandboxed kernel is undone with its variables: over the wire, with a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jupyter_codeinterp.adapters.kernels.zmq.copies import RESTARTED, WENT_BACK
from jupyter_codeinterp.core import commands as c
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.model_view.context import WENT_BACK as TOLD
from jupyter_codeinterp.kernel_side.copies.keeping import RAN
from tests.fake_anthropic import FakeAnthropic, answer, edit_cell, in_order, run_cell, text
from tests.reference_window import ReferenceWindow, body, notebook
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import NAMED, install
from tests.site import Site

FIRST = "x = 1\nnames = ['kept']"


async def opened(site: Site, tmp_path: Path, **config: Any) -> tuple[ReferenceWindow, str, Any]:
    """A window on a notebook with a sandboxed kernel, in which the person has run the first
    cell."""
    specs: Any = site.app.kernel_spec_manager
    specs.kernel_dirs.append(install(tmp_path, *NAMED, **config))
    kernel_id = await site.kernel_of("a.ipynb", "sandboxed")
    book = notebook(FIRST)
    window = await site.window(book=book, kernel_id=kernel_id)
    person = await site.watch(kernel_id)
    await person.run(FIRST)
    return window, kernel_id, person


async def changed(window: ReferenceWindow, number: int = 1) -> e.TurnEnded:
    """After a turn whose cell the person let run."""
    assert (await window.ask(f"Change it, {number}")).error is None
    await window.decide(await window.draft(number))
    return await window.ended(number)


async def offered(site: Site, window: ReferenceWindow, turn: int = 1) -> tuple[Any, Any]:
    """Why an undo and a redo cannot bring back variables."""
    path = ("sessions", window.session_id, "turns", str(turn), "changes")
    found = body(await site.request("GET", *path))
    return found["variables"], found["variables_redo"]


@runs_here
async def test_the_variables_are_as_before_the_turn(
    site: Site, api: FakeAnthropic, tmp_path: Path
) -> None:
    api.play(
        in_order(
            [
                *(answer(run_cell("x = 2; new = 5; names.append('more')\nx")), answer(text("A."))),
                answer(text("B.")),
            ]
        )
    )
    window, _, person = await opened(site, tmp_path)
    ended = await changed(window)
    assert (ended.variables, await offered(site, window)) == (True, ("", None))
    (added,) = ended.added
    assert await person.run("print(x, names)") == "2 ['kept', 'more']\n"

    reply = await window.send(c.UndoTurn(window.session_id, 1, variables=True))
    assert reply.error is None
    undone = await window.event(e.TurnUndone)
    assert (undone.restored, undone.variables, undone.variables_kept) == ((added,), True, "")
    assert [cell["source"] for cell in window.cells] == [FIRST]
    assert await offered(site, window) == (WENT_BACK, "")
    assert await person.run("print(x, names, 'new' in globals())") == "1 ['kept'] False\n"
    assert await offered(site, window) == (WENT_BACK, RAN)

    # The model learns of it. No note says that a variable which its next run reads is gone.
    assert (await window.ask("And now?")).error is None
    await window.ended(2)
    said = json.dumps(api.requests[-1].body["messages"][-1])
    assert TOLD in said and "restarted" not in said
    # A redo now brings back cells alone, and says why.
    assert (await window.send(c.RedoTurn(window.session_id, 1, variables=True))).error is None
    redone = await window.event(e.TurnRedone)
    assert (redone.restored, redone.variables, redone.variables_kept) == ((added,), False, RAN)
    assert await person.run("print(x)") == "1\n"


@runs_here
async def test_a_redo_brings_back_the_variables(
    site: Site, api: FakeAnthropic, tmp_path: Path
) -> None:
    api.play(in_order([answer(run_cell("x = 2; names.append('more')\nx")), answer(text("A."))]))
    window, kernel_id, person = await opened(site, tmp_path)
    (added,) = (await changed(window)).added
    watch = site.extension.manager.stale_cells.watch
    page = await site.of_a_page()
    for what, event, offers in (
        ("undo", e.TurnUndone, (WENT_BACK, "")),
        ("redo", e.TurnRedone, ("", None)),
    ):
        path = ("sessions", window.session_id, "turns", "1", what)
        response = await site.request("POST", *path, json_body={"variables": True}, headers=page)
        assert response.code == 200
        done = await window.event(event)
        assert (done.restored, done.variables, done.variables_kept) == ((added,), True, "")
        assert await offered(site, window) == offers
        assert (added in watch._kernels[kernel_id].last) is (what == "redo")
        assert len(window.cells) == (2 if what == "redo" else 1)
    assert await person.run("print(x, names)") == "2 ['kept', 'more']\n"


@runs_here
async def test_a_run_after_it_counts_on_from_there(
    site: Site, api: FakeAnthropic, tmp_path: Path
) -> None:
    """Counts, approvals, results and stale cells are those of the kernel as it is now."""
    steps = [answer(run_cell("x = 2\nx")), answer(text("A."))]
    steps += [answer(run_cell("x = 3\nx")), answer(text("B."))]
    api.play(in_order(steps))
    window, kernel_id, _ = await opened(site, tmp_path)
    watch = site.extension.manager.stale_cells.watch
    watch.ran(kernel_id, "c1", 1, FIRST)
    ended = await changed(window)
    assert window.cells[-1]["execution_count"] == 2
    assert ended.added[0] in watch._kernels[kernel_id].last
    await window.send(c.UndoTurn(window.session_id, 1, variables=True))
    ran = watch._kernels[kernel_id].last
    assert "c1" in ran and ended.added[0] not in ran
    ended = await changed(window, 2)
    cell = window.cells[-1]
    assert cell["execution_count"] == 2
    assert cell["outputs"][0]["data"]["text/plain"] == "3"
    assert "c1" in watch._kernels[kernel_id].last, "the count was free again: no restart"
    result = json.dumps(api.requests[-1].body["messages"][-1])
    assert "restarted" not in result


@runs_here
async def test_why_variables_stay_is_said(site: Site, api: FakeAnthropic, tmp_path: Path) -> None:
    api.play(in_order([answer(edit_cell("c1", "x = 7")), answer(text("A."))]))
    window, kernel_id, _ = await opened(site, tmp_path)
    assert (await changed(window)).edited == ("c1",)
    await site.restart(kernel_id)
    assert await offered(site, window) == (RESTARTED, None)
    path = ("sessions", window.session_id, "turns", "1", "undo")
    page = await site.of_a_page()
    response = await site.request("POST", *path, json_body={"variables": True}, headers=page)
    assert response.code == 200
    undone = await window.event(e.TurnUndone)
    assert (undone.restored, undone.variables) == (("c1",), False)
    assert undone.variables_kept == RESTARTED


@runs_here
async def test_a_kernel_that_keeps_none_offers_none(
    site: Site, api: FakeAnthropic, tmp_path: Path
) -> None:
    api.play(in_order([answer(run_cell("x = 2")), answer(text("A."))]))
    window, _, _ = await opened(site, tmp_path, copies=0)
    assert not (await changed(window)).variables
    assert await offered(site, window) == (None, None)


async def test_an_ordinary_kernel_offers_none(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(run_cell("x = 2")), answer(text("A."))]))
    kernel_id = await site.kernel_of("a.ipynb")
    window = await site.window(book=notebook(FIRST), kernel_id=kernel_id)
    watch = await site.watch(kernel_id)
    assert not (await changed(window)).variables
    assert await offered(site, window) == (None, None)
    await window.send(c.UndoTurn(window.session_id, 1, variables=True))
    undone = await window.event(e.TurnUndone)
    assert not undone.variables and undone.variables_kept
    assert await watch.run("print('codeinterp_copies' in vars(get_ipython()))") == "False\n"
