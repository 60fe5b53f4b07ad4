"""A whole turn in a shared notebook, with a real server and kernel; two windows decide."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pycrdt import Awareness

from jupyter_codeinterp.base.errors import DocumentError
from jupyter_codeinterp.notebook.content import applied
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.kernels import until
from tests.reference_window import ReferenceWindow, notebook
from tests.site import Site
from tests.test_shared_notebook import code, room_with

PATH = "a.ipynb"
DONE = answer(text("Done."))


class Rooms:
    """One room, as jupyter-collaboration has it."""

    is_open = is_loaded = True

    def __init__(self) -> None:
        self.document = room_with([code("a", "x = 20")])
        self.awareness = Awareness(self.document.ydoc)
        self.lobby = None
        self.is_missing = False
        self.saved: Callable[[str], None] = lambda words: None

    async def open(self, path: str) -> Any:
        return self

    def follow_saves(
        self, saved: Callable[[str], None], closed: Callable[[], None]
    ) -> Callable[[], None]:
        self.saved = saved
        return lambda: None

    async def check(self, path: str) -> None:
        if self.is_missing:
            raise DocumentError("no_file", f"{path} no longer exists.")


@pytest.fixture
def rooms(site: Site, jp_root_dir: Path) -> Rooms:
    (jp_root_dir / PATH).write_text(json.dumps(notebook("x = 20")))
    rooms = Rooms()
    vars(site.extension.workbench)["_rooms"] = rooms
    return rooms


async def view(site: Site) -> ReferenceWindow:
    """A page that shares the notebook."""
    window = await site.bare_window(PATH, notebook("x = 20"))
    kernel_id = await site.kernel_of(PATH)
    command = c.OpenNotebook(PATH, {}, kernel_id, collaborative=True)
    assert (await window.send(command)).error is None
    return window


async def test_the_event_has_the_name_of_who_decided(
    site: Site, api: FakeAnthropic, rooms: Rooms
) -> None:
    """Ada asks, Bert decides, and the cell runs in the room with its outputs."""
    api.play(in_order([answer(run_cell("print(x + 1 if 'x' in dir() else 21)")), DONE]))
    ada, bert = await view(site), await view(site)
    assert (await ada.ask("Go")).error is None
    draft = await ada.draft()
    cells = {cell["id"]: cell for cell in rooms.document.get()["cells"]}
    assert cells[draft.cell_id]["cell_type"] == "raw"
    bert.session_id = ada.session_id
    assert (await bert.decide(draft)).error is None
    assert (await ada.ended()).stop_reason == "end_turn"

    (decided,) = ada.of(e.DraftDecided)
    (person,) = {window.person for window in site.extension.manager.connected}
    assert decided.person == person != ""
    cells = {cell["id"]: cell for cell in rooms.document.get()["cells"]}
    ran = cells[draft.cell_id]
    assert (ran["cell_type"], ran["execution_count"]) == ("code", 1)
    assert [output["text"] for output in ran["outputs"]] == ["21\n"]
    for window in (ada, bert):
        assert not any(isinstance(frame, c.OpFrame) for frame in window.frames)


async def test_what_somebody_changed_after_the_decision_was_made_does_not_run(
    site: Site, api: FakeAnthropic, rooms: Rooms
) -> None:
    api.play(in_order([answer(run_cell("print(1)")), DONE]))
    ada = await view(site)
    assert (await ada.ask("Go")).error is None
    draft = await ada.draft()
    places = [cell["id"] for cell in rooms.document.ycells]
    rooms.document.ycells[places.index(draft.cell_id)]["source"].insert(0, "import os; ")
    assert (await ada.decide(draft)).error is None
    await until(lambda: len(ada.of(e.DraftWaiting)) > 1 or bool(ada.of(e.TurnEnded)))
    assert not ada.of(e.RunStarted)


async def test_all_that_was_done_is_told_saved_when_the_file_has_it(
    site: Site, api: FakeAnthropic, rooms: Rooms, jp_root_dir: Path
) -> None:
    api.play(in_order([answer(run_cell("print(1)")), DONE]))
    ada = await view(site)
    assert (await ada.ask("Go", "auto")).error is None
    await ada.ended()
    store = site.extension.workbench.store
    assert list(store.unsaved_ops(PATH))
    (jp_root_dir / PATH).write_text(json.dumps(rooms.document.get()))
    rooms.saved("")
    await until(lambda: not list(store.unsaved_ops(PATH)))
    assert store.saved_ops(PATH) == applied(rooms.document.get())


async def test_a_save_that_fails_is_told_in_the_conversation_that_ended(
    site: Site, api: FakeAnthropic, rooms: Rooms
) -> None:
    api.play(in_order([answer(run_cell("print(1)")), DONE]))
    ada = await view(site)
    assert (await ada.ask("Go", "auto")).error is None
    await ada.ended()
    rooms.saved("No space left on device")
    await until(lambda: any("No space left" in note.text for note in ada.of(e.Note)))
