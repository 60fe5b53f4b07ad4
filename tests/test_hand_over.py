"""A turn whose window goes away: it goes on in the notebook's file, and back in a window."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_codeinterp.notebook.file import swap
from jupyter_codeinterp.notebook.file.swap import swap_text
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import Notebook
from tests.fake_anthropic import FakeAnthropic, Step, answer, in_order, run_cell, text
from tests.kernels import until
from tests.reference_window import ReferenceWindow, body, notebook
from tests.site import Site

DONE = answer(text("Done."))
Begin = Callable[..., Awaitable[ReferenceWindow]]


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"window_grace": 0.2}


class File:
    """The notebook's file, as others see it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> str:
        return self.path.read_text()

    def write(self, text: str) -> None:
        self.path.write_text(text)


@pytest.fixture
def file(jp_root_dir: Path) -> File:
    file = File(jp_root_dir / "a.ipynb")
    file.write(json.dumps(notebook("x = 20")))
    return file


async def version(site: Site) -> str:
    """The file's, as a window knows it."""
    model = body(await site._fetch("api", "contents", "a.ipynb", params={"content": 0, "hash": 1}))
    return str(model["hash"])


async def announce(site: Site, window: ReferenceWindow, **state: Any) -> None:
    """A window that has the file as it is now, unless ``state`` says otherwise."""
    kernel_id = await site.kernel_of(window.path)
    state.setdefault("version", await version(site))
    command = c.OpenNotebook(window.path, dict(window.applied), kernel_id, **state)
    assert (await window.send(command)).error is None


@pytest.fixture
def begin(site: Site, api: FakeAnthropic, file: File) -> Begin:
    async def go(*steps: Step, mode: str = "auto", **state: Any) -> ReferenceWindow:
        api.play(in_order([*steps, DONE]))
        window = await site.bare_window("a.ipynb", json.loads(file.read()))
        await announce(site, window, **state)
        assert (await window.ask("Go", mode)).error is None
        return window

    return go


async def returned(site: Site, gone: ReferenceWindow, file: File) -> ReferenceWindow:
    """A new page that has read the file as it is now, and follows the conversation."""
    book = nbformat.reads(file.read(), as_version=4)
    window = await site.bare_window("a.ipynb", json.loads(json.dumps(book)))
    window.applied = marker(window.notebook)
    await announce(site, window, saved=dict(window.applied))
    window.session_id = gone.session_id
    assert (await window.send(c.Subscribe(gone.session_id))).error is None
    return window


def marker(book: Notebook) -> dict[str, int]:
    return dict(book["metadata"].get("codeinterp", {}).get("applied", {}))


def on_disk(file: File) -> Any:
    """As any reader sees it; it must be valid."""
    book = nbformat.reads(file.read(), as_version=4)
    nbformat.validate(book)
    return book


async def rest(site: Site) -> None:
    await until(lambda: not site.extension.manager.running)


# --- it goes on ----------------------------------------------------------------------


async def test_a_turn_goes_on_in_the_file(site: Site, begin: Begin, file: File) -> None:
    """Every cell and output is there, in order, once; and what others have written there."""
    before = notebook("x = 20")
    before["metadata"]["somebody"] = {"else": [1, 2]}
    before["cells"][0]["metadata"]["theirs"] = {"a": 1}
    file.write(json.dumps(before))
    w = await begin(*(answer(run_cell(f"print({n})")) for n in range(4)))
    await w.event(e.RunStarted)
    await w.close()
    await rest(site)

    book = on_disk(file)
    assert [cell["source"] for cell in book.cells] == ["x = 20", *(f"print({n})" for n in range(4))]
    assert [cell["outputs"][0]["text"] for cell in book.cells[1:]] == [f"{n}\n" for n in range(4)]
    assert [cell["execution_count"] for cell in book.cells[1:]] == [1, 2, 3, 4]
    assert book.metadata["somebody"] == {"else": [1, 2]}
    assert book.cells[0].metadata["theirs"] == {"a": 1}
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    again = await returned(site, w, file)
    assert (await again.ended()).stop_reason == "end_turn"
    notes = [note.text for note in again.of(e.Note)]
    assert notes == ["Notebook closed. Continuing in the background."]
    assert [f for f in again.frames if isinstance(f, c.OpFrame)] == []


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_file_that_was_put_back_stays_as_it_is(
    site: Site, begin: Begin, file: File, api: FakeAnthropic, restarted: bool
) -> None:
    """The agent worked in the file; a page is opened after a person has put an older one there."""
    before = file.read()
    w = await begin(answer(run_cell("print(1)")), answer(run_cell("print(2)")))
    await w.event(e.RunStarted)
    await w.close()
    await rest(site)
    assert len(on_disk(file).cells) == 3
    if restarted:
        # A new server knows what the journal says.
        await site.extension.manager.notebooks._notebooks.pop("a.ipynb").aclose("")
    file.write(before)
    api.play(in_order([answer(run_cell("print(3)")), DONE]))
    again = await returned(site, w, file)
    assert (await again.ask("More", "auto")).error is None
    await again.ended(2)
    assert [cell["source"] for cell in again.cells] == ["x = 20", "print(3)"]


async def test_a_window_that_comes_back_reads_the_file_anew(
    site: Site, begin: Begin, file: File
) -> None:
    """A tab that slept: it has no edits of its own, and the file is newer."""
    w = await begin(answer(run_cell("print(1)")), answer(run_cell("print(2)")))
    before = await version(site)
    await w.event(e.RunStarted)
    await w.close()
    await rest(site)
    awake = await site.bare_window("a.ipynb", w.notebook)
    awake.applied = dict(w.applied)
    await announce(site, awake, version=before)
    await awake.until(lambda: [f for f in awake.frames if isinstance(f, c.ReloadNotebook)])
    assert not awake.leases
    awake.notebook = json.loads(file.read())
    awake.applied = marker(awake.notebook)
    await announce(site, awake, saved=dict(awake.applied))
    await awake.until(lambda: awake.leases and awake.leases[-1].held)
    assert [f for f in awake.frames if isinstance(f, c.OpFrame)] == []


async def test_a_draft_that_waits_is_decided_on_when_a_window_is_back(
    site: Site, begin: Begin, file: File
) -> None:
    w = await begin(answer(run_cell("print(1)")), answer(run_cell("print(2)")), mode="review")
    first = await w.draft()
    await w.decide(first)
    await w.event(e.RunStarted)
    await w.close()
    await until(lambda: "print(2)" in file.read())
    assert on_disk(file).cells[-1].cell_type == "raw"

    again = await returned(site, w, file)
    await again.decide(await again.draft(2))
    assert (await again.ended()).stop_reason == "end_turn"
    assert again.cells[-1]["outputs"][0]["text"] == "2\n"
    assert [cell["source"] for cell in again.cells] == ["x = 20", "print(1)", "print(2)"]


# --- what the file had is kept ---------------------------------------------------------


async def test_an_older_format_is_upgraded_and_said(site: Site, begin: Begin, file: File) -> None:
    """Nobody has saved it from a window before, which would have done the same."""
    w = await begin(answer(run_cell("print(1)")), answer(run_cell("print(2)")))
    old = notebook("x = 20")
    old["nbformat_minor"] = 4
    del old["cells"][0]["id"]
    file.write(json.dumps(old))
    await w.event(e.RunStarted)
    await w.close()
    await rest(site)
    book = on_disk(file)
    assert book.nbformat_minor == 5 and all(cell.id for cell in book.cells)
    events = [event for _, event in site.extension.workbench.store.events(w.session_id)]
    (note,) = [event.text for event in events if isinstance(event, e.Note)]
    assert note.endswith("Converted from notebook format 4.4 to 4.5, which gives cells ids.")


async def test_an_invalid_notebook_is_left_as_it_is(site: Site, begin: Begin, file: File) -> None:
    w = await begin(answer(run_cell("print(1)")), answer(run_cell("print(2)")))
    await w.event(e.RunStarted)
    file.write('{"cells": "none", "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    before = file.read()
    await w.close()
    await rest(site)
    assert file.read() == before
    events = site.extension.workbench.store.events(w.session_id)
    assert "not_confirmed" in [x.status for _, x in events if isinstance(x, e.ToolDone)]


# --- it does not ------------------------------------------------------------------------


async def test_what_the_person_has_not_saved_is_in_nobodys_way(
    site: Site, begin: Begin, file: File, api: FakeAnthropic
) -> None:
    """The file stays as it is; the model is told that nothing is confirmed; the ops are
    applied when the window returns."""
    first = "import time; time.sleep(1); print(1)"  # It ends when the window is gone.
    w = await begin(answer(run_cell(first)), answer(run_cell("print(2)")), mode="auto")
    before = file.read()
    await w.event(e.RunStarted)
    state = c.FileState("a.ipynb", {}, await version(site), edited=True)
    assert (await w.send(state)).error is None
    await w.close()
    await rest(site)
    assert file.read() == before
    told = str(api.requests[-1].body["messages"])
    assert "status=not_confirmed" in told or "The notebook did not confirm the outputs." in told

    again = await site.bare_window("a.ipynb", w.notebook)
    again.applied = dict(w.applied)
    await announce(site, again, edited=True)
    again.session_id = w.session_id
    await again.send(c.Subscribe(w.session_id))
    await again.ended()
    await again.until(lambda: first in [cell["source"] for cell in again.cells])
    sources = [cell["source"] for cell in again.cells]
    assert sources.count(first) == 1 and sources.count("print(2)") <= 1


async def test_a_window_in_time_is_not_stood_in_for(
    site: Site, begin: Begin, file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site.extension.manager.notebooks, "_grace", 30.0)
    w = await begin(answer(run_cell("print(1)")), mode="review")
    await w.draft()
    before = file.read()
    await w.close()
    await asyncio.sleep(0.05)
    again = await returned(site, w, file)
    await again.until(lambda: len(again.cells) == 2)
    assert file.read() == before
    await again.decide(await again.draft())
    assert (await again.ended()).stop_reason == "end_turn"


# --- the file as others see it ----------------------------------------------------------


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    real, link = tmp_path / "real.ipynb", tmp_path / "link.ipynb"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    with real.open() as reader:
        swap_text(str(link), b"new", b"old".__eq__)
        assert reader.read() == "old", "who has opened it reads it to its end"
    assert link.is_symlink() and link.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.ipynb", "real.ipynb"]


def test_a_write_that_fails_leaves_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = tmp_path / "a.ipynb"
    file.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        swap_text(str(file), b"new", b"old".__eq__)
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.ipynb"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere files cannot change places")
def test_a_file_that_is_renamed_in_the_last_moment_is_not_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, moved = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    file.write_text("old")
    monkeypatch.setattr(swap, "_keep_owner", lambda *_: file.rename(moved))
    with pytest.raises(FileNotFoundError):
        swap_text(str(file), b"new", b"old".__eq__)
    assert moved.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["b.ipynb"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere files cannot change places")
@pytest.mark.parametrize("is_link", [False, True])
def test_what_is_renamed_onto_the_file_in_the_last_moment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_link: bool
) -> None:
    """A write is refused: the file is another one than was read, and a link is not followed."""
    file, other, far = (tmp_path / name for name in ("a.ipynb", "b.ipynb", "far"))
    file.write_text("old")
    far.write_text("far")
    if is_link:
        other.symlink_to(far)
    else:
        other.write_text("far")
    monkeypatch.setattr(swap, "_keep_owner", lambda *_: other.replace(file))
    with pytest.raises(swap.FileChangedError):
        swap_text(str(file), b"new", b"old".__eq__)
    assert (file.is_symlink(), file.read_text(), far.read_text()) == (is_link, "far", "far")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ipynb", "far"]


async def saved(site: Site) -> Any:
    """The notebook with its trust, as the contents manager gives it to a page."""
    contents: Any = site.app.contents_manager
    return (await contents.get("a.ipynb", content=True))["content"]


BOLD = "from IPython.display import HTML\nHTML('<b>bold</b>')"
SCRIPT = "from IPython.display import HTML\nHTML('<script>window.hacked = true</script>')"


async def test_a_notebook_that_was_trusted_stays_so(site: Site, begin: Begin, file: File) -> None:
    """Plots and HTML of what a person has decided on show when it is opened again."""
    w = await begin(answer(run_cell(f"import time; time.sleep(1)\n{BOLD}")), mode="review")
    await w.decide(await w.draft())
    await w.event(e.RunStarted)
    await w.close()
    await rest(site)
    book = await saved(site)
    assert book.cells[-1].outputs[0].data["text/html"] == "<b>bold</b>"
    assert all(cell.metadata.trusted for cell in book.cells)
    assert "trusted" not in file.read()


async def test_what_policy_alone_let_run_is_not_trusted_in_the_file(
    site: Site, begin: Begin, file: File
) -> None:
    w = await begin(answer(run_cell("1")), answer(run_cell(SCRIPT)))
    await w.event(e.RunStarted)
    await w.close()
    await rest(site)
    book = await saved(site)
    assert "<script>" in book.cells[-1].outputs[0].data["text/html"]
    assert not book.cells[-1].metadata.get("trusted")
