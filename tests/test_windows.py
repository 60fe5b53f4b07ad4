"""Turns whose windows come and go: two of them, a reload, a rename, none at all."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import pytest

from jupyter_codeinterp.notebook.live import outbox as outbox_module
from jupyter_codeinterp.notebook.live import reads as reads_module
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.busy import SOON
from tests.fake_anthropic import FakeAnthropic, Step, answer, edit_cell, in_order, run_cell, text
from tests.reference_window import ReferenceWindow, notebook
from tests.site import Site

DONE = answer(text("Done."))
Begin = Callable[..., Awaitable[ReferenceWindow]]


@pytest.fixture
def begin(site: Site, api: FakeAnthropic) -> Begin:
    """A turn that has been asked for in a window; its steps are what the model answers."""

    async def go(*steps: Step, path: str = "a.ipynb", kernel_id: str = "") -> ReferenceWindow:
        api.play(in_order([*steps, DONE]))
        kernel_id = kernel_id or await site.kernel_of(path)
        window = await site.window(path, kernel_id=kernel_id)
        assert (await window.ask("Go")).error is None
        return window

    return go


async def follow(window: ReferenceWindow, other: ReferenceWindow) -> None:
    """``other`` shows the conversation of ``window`` as well."""
    other.session_id = window.session_id
    assert (await other.send(c.Subscribe(window.session_id))).error is None


def twice(window: ReferenceWindow) -> list[int]:
    """Numbers of ops that a window was sent more than once."""
    seqs = [frame.seq for frame in window.frames if isinstance(frame, c.OpFrame)]
    return [seq for seq in set(seqs) if seqs.count(seq) > 1]


# --- two windows ---------------------------------------------------------------------


async def test_the_other_window_goes_on_where_the_holder_left(site: Site, begin: Begin) -> None:
    w = await begin(answer(run_cell("first = 1")), answer(run_cell("first + 1")))
    other = await site.window()
    await follow(w, other)
    assert w.leases[-1].held and not other.leases[-1].held
    await w.decide(await w.draft())
    await w.draft(2)
    assert len(other.cells) == 1, "only the holder applies ops"
    await w.close()

    await other.until(lambda: other.leases[-1].held and len(other.cells) == 3)
    assert other.cells[1]["source"] == "first = 1" and other.cells[1]["execution_count"]
    assert other.cells[2]["cell_type"] == "raw"
    await other.decide(await other.draft(2))
    assert (await other.ended()).stop_reason == "end_turn"
    assert other.cells[2]["outputs"][0]["data"]["text/plain"] == "2"
    assert twice(other) == []


async def test_a_window_that_follows_nothing_learns_what_runs_waits_and_ends(
    site: Site, begin: Begin
) -> None:
    other = await site.window("b.ipynb")
    w = await begin(answer(run_cell("first = 1")))
    draft = await w.draft()
    session_id = w.session_id

    def waits() -> list[bool]:
        frames = [frame for frame in other.frames if isinstance(frame, c.WaitingChanged)]
        return [frame.waiting for frame in frames if frame.session_id == session_id]

    await other.until(lambda: waits() == [True])
    assert other.sessions[session_id].session.running
    await w.decide(draft)
    await w.ended()
    await other.until(lambda: not other.sessions[session_id].session.running)
    assert other.sessions[session_id].stop_reason == "end_turn"
    assert waits() == [True, False]
    assert other.events == []


async def test_a_window_takes_the_lease_in_mid_turn(site: Site, begin: Begin) -> None:
    w = await begin(answer(run_cell("21 * 2")))
    other = await site.window()
    await follow(w, other)
    draft = await w.draft()
    assert (await other.send(c.TakeLease("a.ipynb"))).error is None
    await w.until(lambda: not w.leases[-1].held)
    assert other.leases[-1].held and other.leases[-1].epoch == w.leases[-1].epoch
    await other.decide(draft)
    await other.ended()
    assert other.cells[1]["outputs"] and w.cells[1]["cell_type"] == "raw"


# --- a reload ------------------------------------------------------------------------


async def test_a_reload_in_mid_turn(site: Site, begin: Begin) -> None:
    """The page comes back with what was saved before the turn: it gets the turn's ops again,
    in order and once, the conversation as it was, and what the running cell has printed."""
    w = await begin(
        answer(run_cell("import sys; kept = 7; print(kept)")),
        answer(run_cell("print('begun', flush=True)\nimport time\nwhile kept: time.sleep(0.01)")),
    )
    await w.decide(await w.draft())
    await w.decide(await w.draft(2))
    await w.until(lambda: any("begun" in str(f) for f in w.frames if type(f) is c.OutputsFrame))
    lived = list(w.events)
    before = w.cells
    await w.close()

    again = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    await follow(w, again)
    await again.until(lambda: len(again.events) >= len(lived))
    assert again.events[: len(lived)] == lived
    assert [cell["source"] for cell in again.cells] == [cell["source"] for cell in before]
    assert again.cells[1] == before[1]
    assert twice(again) == []
    shown = [f for f in again.frames if isinstance(f, c.OutputsFrame)]
    assert shown[0].start == 0 and shown[0].outputs[0]["text"].startswith("begun")
    assert len(again.of(e.RunStarted)) == 2, "nothing has been run again"

    assert (await again.send(c.Cancel(again.session_id))).error is None
    assert (await again.ended()).stop_reason == "cancelled"
    await again.until(lambda: again.cells[2]["outputs"])
    assert again.cells[2]["outputs"][0]["text"] == "begun\n"


# --- no window -----------------------------------------------------------------------


async def test_a_message_without_an_open_notebook(site: Site, api: FakeAnthropic) -> None:
    w = await site.bare_window()
    await w.ask("Go")
    ended = await w.ended()
    assert (ended.stop_reason, ended.code, ended.retry) == ("error", "not_open", True)
    assert "Open it and try again" in ended.message
    assert api.requests == []
    # Opened, it goes on with "Try again".
    api.play(in_order([DONE]))
    await w.open()
    assert (await w.send(c.Retry(w.session_id))).error is None
    assert (await w.ended(2)).stop_reason == "end_turn"
    assert "Go" in str(api.requests[0].body["messages"])


async def test_a_notebook_that_is_closed_in_mid_turn_is_waited_for(
    site: Site, begin: Begin
) -> None:
    """Closed with the page still there: nothing is written elsewhere, Stop works at once,
    and once it is open again the turn goes on."""
    kernel_id = await site.kernel_of("a.ipynb")
    watch = await site.watch(kernel_id)
    w = await begin(answer(run_cell("print('one')")), kernel_id=kernel_id)
    draft = await w.draft()
    reached = len(await watch.reached())
    await w.send(c.CloseNotebook("a.ipynb"))
    frames = len(w.frames)
    assert (await w.decide(draft)).error is None
    await w.event(e.DraftDecided)
    assert not [f for f in w.frames[frames:] if isinstance(f, c.OpFrame)]
    assert len(await watch.reached()) == reached, "nothing runs unseen"
    await w.open(kernel_id)
    assert (await w.ended()).stop_reason == "end_turn"
    assert w.cells[1]["outputs"][0]["text"] == "one\n"


async def test_stop_while_no_window_has_the_notebook_open(site: Site, begin: Begin) -> None:
    w = await begin(answer(run_cell("print('one')")))
    draft = await w.draft()
    await w.send(c.CloseNotebook("a.ipynb"))
    await w.decide(draft)
    await w.event(e.DraftDecided)
    began = time.monotonic()
    assert (await w.send(c.Cancel(w.session_id))).error is None
    assert (await w.ended()).stop_reason == "cancelled"
    assert time.monotonic() - began < SOON
    await w.open()
    await w.until(lambda: w.cell(draft.cell_id) is None)
    assert not w.of(e.RunStarted)


async def test_reading_a_notebook_that_is_closed_waits_and_can_be_stopped(
    site: Site, begin: Begin
) -> None:
    w = await begin(answer(run_cell("1")), answer(edit_cell("c1", "x = 21")))
    draft = await w.draft()
    await w.decide(draft)
    await w.event(e.RunStarted)
    await w.send(c.CloseNotebook("a.ipynb"))
    await w.open()
    await w.send(c.CloseNotebook("a.ipynb"))
    began = time.monotonic()
    assert (await w.send(c.Cancel(w.session_id))).error is None
    await w.ended()
    assert time.monotonic() - began < SOON
    assert site.extension.manager.running is False


async def test_a_frozen_window_lets_nothing_run(
    site: Site, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_module, "RESEND_AFTER", 0.05)
    monkeypatch.setattr(reads_module, "TIMEOUT", 0.2)
    w = await begin(answer(run_cell("print('one')")))
    draft = await w.draft()
    w.answering = False
    await w.decide(draft)
    done: e.ToolDone = await w.event(e.ToolDone)
    assert done.status == "not_confirmed"
    begun = [f for f in w.frames if isinstance(f, c.OpFrame) and f.op.cell_id == draft.cell_id]
    assert len({f.seq for f in begun}) < len(begun), "asked for again"
    assert not w.of(e.RunStarted)
    assert (await w.ended()).stop_reason == "end_turn"


async def test_a_window_that_is_not_connected_to_the_kernel_yet(
    site: Site, api: FakeAnthropic
) -> None:
    """The server's own list says which kernel the notebook has; without one nothing runs."""
    api.play(in_order([answer(run_cell("21 * 2")), DONE, answer(run_cell("21 * 2")), DONE]))
    w = await site.window()
    await w.ask("Go")
    await w.decide(await w.draft())
    await w.ended()
    assert [done.status for done in w.of(e.ToolDone)] == ["not_started"]
    await site.kernel_of("a.ipynb")
    await w.ask("And now?")
    await w.decide(await w.draft(2))
    await w.ended(2)
    assert [done.status for done in w.of(e.ToolDone)] == ["not_started", "ok"]


# --- a rename ------------------------------------------------------------------------


async def test_a_rename_in_mid_turn(site: Site, begin: Begin) -> None:
    w = await begin(answer(run_cell("print('one')")), answer(run_cell("print('two')")))
    stale = await site.window()
    await w.draft()
    await rename(w, "b.ipynb")
    await stale.until(lambda: stale.leases[-1].held)
    await w.decide(await w.draft())
    moved: e.NotebookMoved = await w.event(e.NotebookMoved)
    assert moved.notebook == "b.ipynb"
    await w.decide(await w.draft(2))
    assert (await w.ended()).stop_reason == "end_turn"
    assert [cell["outputs"][0]["text"] for cell in w.cells[1:]] == ["one\n", "two\n"]
    assert len(stale.cells) == 1, "the file of the old name is another one"
    listed = await site.get("sessions", params={"notebook": "b.ipynb"})
    assert [s["session_id"] for s in listed["sessions"]] == [w.session_id]
    assert (await site.get("sessions", params={"notebook": "a.ipynb"}))["sessions"] == []


async def test_a_rename_onto_a_notebook_that_is_open(
    site: Site, begin: Begin, api: FakeAnthropic
) -> None:
    """The file there has been replaced: its turn is stopped, and writes nothing into the
    notebook that has taken its name."""
    w = await begin(answer(run_cell("print('b')")), path="b.ipynb")
    await w.draft()
    mover = await site.window("a.ipynb", notebook("mine = 1"))
    await rename(mover, "b.ipynb")
    assert (await w.ended()).stop_reason == "cancelled"
    assert [cell["source"] for cell in mover.cells] == ["mine = 1"]
    assert mover.leases[-1].held and mover.leases[-1].notebook == "b.ipynb"
    # The next message there works.
    api.play(in_order([DONE]))
    assert (await mover.ask("Go on")).error is None
    assert (await mover.ended()).stop_reason == "end_turn"


async def test_only_a_window_that_has_it_open_renames_a_notebook(site: Site, begin: Begin) -> None:
    w = await begin(answer(run_cell("1")))
    await w.draft()
    stranger = await site.bare_window()
    assert (await stranger.send(c.RenameNotebook("a.ipynb", "c.ipynb"))).error is None
    assert (await w.send(c.RenameNotebook("no.ipynb", "a.ipynb"))).error is None
    assert site.extension.manager.session(w.session_id).info.notebook == "a.ipynb"
    assert (await w.send(c.Cancel(w.session_id))).error is None
    assert (await w.ended()).stop_reason == "cancelled"


async def rename(window: ReferenceWindow, to: str) -> None:
    old, window.path = window.path, to
    assert (await window.send(c.RenameNotebook(old, to))).error is None


# --- tidiness ------------------------------------------------------------------------


async def test_notebooks_and_windows_are_forgotten(site: Site, begin: Begin) -> None:
    manager = site.extension.manager
    w = await begin(answer(run_cell("1")))
    for number in range(20):
        await w.send(c.OpenNotebook(f"n{number}.ipynb"))
        await w.send(c.CloseNotebook(f"n{number}.ipynb"))
        await w.send(c.KernelOf(f"m{number}.ipynb", "k"))
    assert list(manager.notebooks._notebooks) == ["a.ipynb"]
    await w.decide(await w.draft())
    await w.ended()
    await w.close()
    await site.until(lambda: not manager.connected)
    assert manager.notebooks._notebooks == {}
