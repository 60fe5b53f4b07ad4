"""Files that wait in an overlay, over the wire: a real server, its kernel in a real sandbox."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.kernel.zmq.overlay import KernelOverlay
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.conftest import KEY
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import ReferenceWindow, body, notebook
from tests.sandbox.here import runs_here
from tests.site import Site

FIRST = "open('new.csv', 'w').write('1')"
SECOND = "open('new.csv', 'a').write('2'); open('other.csv', 'w').write('3')"
A_KEY = f"{KEY[:9]}' + '{KEY[9:]}"
"""In code that the server does not take for the key."""


async def window_of(site: Site, jp_data_dir: Path, *, overlay: bool = True) -> ReferenceWindow:
    spec = jp_data_dir / "kernels" / "boxed" / "kernel.json"
    spec.parent.mkdir(parents=True)
    config = {"overlay": overlay}
    provisioner = {"provisioner_name": "codeinterp-sandbox", "config": config}
    written = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Boxed",
        "language": "python",
        "metadata": {"kernel_provisioner": provisioner},
    }
    spec.write_text(json.dumps(written))
    asked = {"path": "a.ipynb", "type": "notebook", "name": "", "kernel": {"name": "boxed"}}
    response = await site._fetch("api", "sessions", method="POST", body=json.dumps(asked))
    kernel_id = str(body(response)["kernel"]["id"])
    return await site.window(book=notebook("one = 1"), kernel_id=kernel_id)


async def turn(window: ReferenceWindow, number: int) -> e.TurnEnded:
    assert (await window.ask(f"Turn {number}")).error is None
    await window.decide(await window.draft(number))
    return await window.ended(number)


async def waiting(site: Site, window: ReferenceWindow) -> dict[str, dict[str, Any]]:
    found = await site.get("sessions", window.session_id, "files")
    assert found["left_out"] == 0
    return {one["path"]: one for one in found["files"]}


@runs_here
async def test_files_wait_and_are_kept(
    site: Site, api: FakeAnthropic, jp_data_dir: Path, jp_root_dir: Path
) -> None:
    steps = [answer(run_cell(FIRST)), answer(text("Done."))]
    steps += [answer(run_cell(SECOND)), answer(text("Done."))]
    api.play(in_order(steps))
    w = await window_of(site, jp_data_dir)
    ends = [await turn(w, 1), await turn(w, 2)]
    assert [(end.waiting_files, end.overlay) for end in ends] == [(1, True), (2, True)]
    assert not (jp_root_dir / "new.csv").exists()
    assert set(await waiting(site, w)) == {"new.csv", "other.csv"}

    # The undo of the cells leaves the files.
    assert (await w.send(c.UndoTurn(w.session_id, 2))).error is None
    assert len((await w.event(e.TurnUndone)).restored) == 1
    found = await waiting(site, w)
    assert {path: one["size"] for path, one in found.items()} == {"new.csv": 2, "other.csv": 1}

    stamp = found["new.csv"]["stamp"]
    wrong = await w.send(c.KeepFiles(w.session_id, {"new.csv": "0" * 16, "../x": stamp}))
    assert wrong.error is None
    refused = await w.event(e.FilesKept)
    assert refused.files == ()
    assert {one.path for one in refused.left} == {"new.csv", "../x"}
    assert (await w.send(c.KeepFiles(w.session_id, {"new.csv": stamp}))).error is None
    await site.until(lambda: len(w.of(e.FilesKept)) == 2)
    kept = w.of(e.FilesKept)[-1]
    assert (kept.files, kept.left, kept.window) == (("new.csv",), (), refused.window)
    assert (jp_root_dir / "new.csv").read_text() == "12"
    assert set(await waiting(site, w)) == {"other.csv"}


THIRD = (
    "import os; open('new.csv', 'w').write('a,b'); open('old.csv', 'w').write('2'); "
    "open('x', 'wb').write(b'\\0'); os.unlink('gone.csv'); os.symlink('/etc/passwd', 'leak')"
)


def _files(folder: Path) -> dict[str, str]:
    return {one.name: one.read_text() for one in folder.iterdir() if one.is_file()}


@runs_here
async def test_each_file_is_looked_at_kept_or_discarded(
    site: Site, api: FakeAnthropic, jp_data_dir: Path, jp_root_dir: Path
) -> None:
    api.play(in_order([answer(run_cell(THIRD)), answer(text("Wrote new.csv."))]))
    for name in ("old.csv", "gone.csv"):
        (jp_root_dir / name).write_text("1")
    w = await window_of(site, jp_data_dir)
    end = await turn(w, 1)
    assert end.waiting == ("gone.csv", "leak", "new.csv", "old.csv", "x")
    found = await waiting(site, w)

    async def text_of(path: str) -> dict[str, Any]:
        given = ("sessions", w.session_id, "files", "text")
        return dict(await site.get(*given, params={"path": path}))

    assert await text_of("new.csv") == {"text": "a,b", "why": ""}
    for path, why in (("x", "not text"), ("leak", "cannot be read"), ("../a.ipynb", "cannot be")):
        shown = await text_of(path)
        assert shown["text"] == "" and why in shown["why"], path

    async def discard(**stamps: str) -> e.FilesKept:
        seen = len(w.of(e.FilesKept))
        command = c.KeepFiles(w.session_id, stamps, discard=True)
        assert (await w.send(command)).error is None
        await site.until(lambda: len(w.of(e.FilesKept)) > seen)
        last: e.FilesKept = w.of(e.FilesKept)[-1]
        return last

    stamps = {path: found[path]["stamp"] for path in ("old.csv", "gone.csv", "leak", "x")}
    last = await discard(**stamps, **{"new.csv": "0" * 16})
    assert last.discarded and set(last.files) == set(stamps)
    assert [one.path for one in last.left] == ["new.csv"]
    assert set(await waiting(site, w)) == {"new.csv"}
    kept = c.KeepFiles(w.session_id, {"new.csv": found["new.csv"]["stamp"]})
    assert (await w.send(kept)).error is None
    await site.until(lambda: len(w.of(e.FilesKept)) == 2)
    assert _files(jp_root_dir) == {"new.csv": "a,b", "old.csv": "1", "gone.csv": "1"}
    assert await waiting(site, w) == {}


@runs_here
async def test_the_first_run_waits_until_the_files_are_listed_and_the_model_does_not(
    site: Site, api: FakeAnthropic, jp_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.play(in_order([answer(run_cell(FIRST)), answer(text("Done."))]))
    w = await window_of(site, jp_data_dir)
    go, whole = asyncio.Event(), KernelOverlay.begin_turn

    async def slow(self: KernelOverlay, turn: str) -> None:
        await go.wait()
        await whole(self, turn)

    monkeypatch.setattr(KernelOverlay, "begin_turn", slow)
    assert (await w.ask("Turn 1")).error is None
    await w.decide(await w.draft(1))  # The model has answered.
    await asyncio.sleep(0.5)
    assert await waiting(site, w) == {}
    go.set()
    assert (await w.ended(1)).waiting_files == 1


@runs_here
async def test_without_an_overlay_no_files_wait(
    site: Site, api: FakeAnthropic, jp_data_dir: Path, jp_root_dir: Path
) -> None:
    api.play(in_order([answer(run_cell(FIRST)), answer(text("Done."))]))
    w = await window_of(site, jp_data_dir, overlay=False)
    end = await turn(w, 1)
    assert (end.waiting_files, end.overlay) == (0, False)
    assert (jp_root_dir / "new.csv").read_text() == "1"
    reply = await w.send(c.KeepFiles(w.session_id, {"new.csv": ""}))
    assert reply.error == "no_overlay" and "into the folder itself" in reply.message


@runs_here
async def test_files_wait_although_a_slow_look_did_not_count_them(
    site: Site, api: FakeAnthropic, jp_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.play(in_order([answer(run_cell(FIRST)), answer(text("Done."))]))
    w = await window_of(site, jp_data_dir)
    monkeypatch.setattr("jupyter_codeinterp.kernel.zmq.overlay.LOOK_TIME", 0)
    end = await turn(w, 1)
    assert (end.waiting_files, end.overlay) == (0, True)
    assert set(await waiting(site, w)) == {"new.csv"}


@runs_here
@pytest.mark.parametrize("name", ["line\\nbreak", "\\u202egnp.exe", "\\udcff", A_KEY])
async def test_a_name_that_cannot_be_shown_is_counted(
    site: Site, api: FakeAnthropic, jp_data_dir: Path, name: str
) -> None:
    code = f"open('{name}', 'w').write('1')"
    api.play(in_order([answer(run_cell(code)), answer(text("Done."))]))
    w = await window_of(site, jp_data_dir)
    assert (await turn(w, 1)).waiting_files == 1
    found = await site.get("sessions", w.session_id, "files")
    assert (found["files"], found["left_out"]) == ([], 1)
