"""A kernel whose writes wait in a layer: real kernels, in real sandboxes."""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.kernel.zmq import overlay as kernel_overlay
from jupyter_codeinterp.sandbox.overlay import layer
from jupyter_codeinterp.sandbox.overlay.changes import CONFLICT, NAMED
from jupyter_codeinterp.sandbox.overlay.keeping import ANOTHER
from jupyter_codeinterp.sandbox.overlay.written import Written
from tests.sandbox.here import runs_here
from tests.sandbox.test_sandboxed_kernel import kernel, notebook, run

__all__ = ["notebook"]

Places = tuple[Path, Path]
"""The notebook's folder, and that of the layers."""
LONG = 60.0
"""Seconds that a look at the files may take."""
WRITES = """
import os
open('new.csv', 'w').write('new')
open('old.csv', 'a').write(' and more')
os.remove('gone.csv')
os.makedirs('made/deep'); open('made/deep/x.txt', 'w').write('x')
"""


@pytest.fixture
def places(tmp_path: Path, notebook: Path) -> Places:
    for name in ("old.csv", "gone.csv", "same.csv"):
        (notebook / name).write_text(name)
    return notebook, tmp_path / "layers"


def overlaid(tmp_path: Path, folder: Path, root: Path) -> AbstractAsyncContextManager[Any]:
    return kernel(tmp_path, folder, overlay=True, overlay_folder=str(root))


@runs_here
async def test_the_folder_stays_and_the_changes_wait(tmp_path: Path, places: Places) -> None:
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (manager, client):
        before = _files(folder)
        assert (await run(client, WRITES))["status"] == "ok"
        code = "assert open('old.csv').read() == 'old.csv and more'"
        assert (await run(client, code))["status"] == "ok"
        for code in (
            "open('.git/hooks/pre-commit', 'w')",
            "os.rename('.git', 'other')",
            "os.rename('deep/er', 'deep/moved')",
            f"os.listdir({str(root)!r})",
            "os.mknod('hides', 0o20600, 0)",
        ):
            assert (await run(client, code))["status"] == "error", code
        assert _files(folder) == before
        written = manager.provisioner.written
        found = {one.path: (one.kind, one.why) for one in written.changes()}
        assert found == {
            "new.csv": ("added", ""),
            "old.csv": ("changed", ""),
            "gone.csv": ("deleted", ""),
            "made": ("added", ""),
            "made/deep": ("added", ""),
            "made/deep/x.txt": ("added", ""),
        }
        await manager.restart_kernel()
        await client.wait_for_ready(timeout=30)
        assert (await run(client, "assert open('new.csv').read() == 'new'"))["status"] == "ok"
        kept = written.keep({one.path: one.stamp for one in written.changes()})
        assert kept.left == ()
        assert written.changes() == []
        assert (folder / "old.csv").read_text() == "old.csv and more"
        assert not (folder / "gone.csv").exists()
        assert (folder / "made" / "deep" / "x.txt").read_text() == "x"
        # The next change of a file that was kept is a change again, and no conflict.
        assert (await run(client, "open('new.csv', 'a').write('er')"))["status"] == "ok"
        assert [(one.path, one.kind, one.why) for one in written.changes()] == [
            ("new.csv", "changed", "")
        ]
    assert [one.folder for one in layer.layers(root)] == [folder]


@runs_here
async def test_a_layer_without_changes_goes_with_its_kernel(tmp_path: Path, places: Places) -> None:
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (_, client):
        assert [one.lock() for one in layer.layers(root)] == [False]
        code = "open('new.csv', 'w').write('new'); import os; os.remove('new.csv')"
        assert (await run(client, code))["status"] == "ok"
    assert list(root.iterdir()) == []


@runs_here
async def test_instructions_for_other_programs_are_not_kept(tmp_path: Path, places: Places) -> None:
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (manager, client):
        code = "import os; os.mkdir('sub'); os.mkdir('sub/.git'); open('sub/.git/config', 'w')"
        assert (await run(client, code))["status"] == "ok"
        written = manager.provisioner.written
        kept = written.keep({one.path: one.stamp for one in written.changes()})
        assert kept.done == ("sub",)
        assert dict(kept.left) == {"sub/.git": NAMED, "sub/.git/config": NAMED}
        assert not (folder / "sub" / ".git").exists()


def _files(folder: Path) -> dict[str, str]:
    return {
        os.path.relpath(path, folder): path.read_text() if path.is_file() else ""
        for path in folder.rglob("*")
    }


BEFORE = """
import os
open('made before', 'w').write('1'); open('changed twice', 'w').write('1')
os.mkdir('out'); open('out/first', 'w').write('1')
"""
TURN = """
open('new.csv', 'w').write('new'); open('changed twice', 'w').write('2')
open('old.csv', 'a').write(' and more'); os.remove('gone.csv'); os.remove('made before')
os.makedirs('made/deep'); open('made/deep/x', 'w').write('x'); open('out/second', 'w').write('2')
import shutil; shutil.rmtree('held'); os.symlink('/etc/passwd', 'link')
os.remove('linked'); open('linked', 'w').write('no link'); os.remove('same.csv')
os.mkdir('same.csv')
"""


@runs_here
async def test_discarded_files_are_as_in_the_folder_after_a_restart(
    tmp_path: Path, places: Places
) -> None:
    """A turn's end names what it changed; a discard brings back contents, folders and links."""
    folder, root = places
    (folder / "held" / "deep").mkdir(parents=True)
    (folder / "held" / "deep" / "one").write_text("one")
    (folder / "linked").symlink_to("old.csv")
    (folder / "old.csv").chmod(0o640)
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        outside, seen = _files(folder), await _seen(client)
        assert (await run(client, BEFORE))["status"] == "ok"
        written.begin_turn("1", LONG)
        assert (await run(client, TURN))["status"] == "ok"
        named = "changed twice,gone.csv,held,held/deep,held/deep/one,link,linked,made,made/deep"
        more = "made/deep/x,new.csv,old.csv,out/second,same.csv"
        assert written.end_turn("1") == f"{named},{more}".split(",")
        stamps = {one.path: one.stamp for one in written.changes()}
        assert set(stamps) > {"out", "out/first"}
        code = "open('new.csv', 'a').write(' and since')"
        assert (await run(client, code))["status"] == "ok"
        assert written.discard(stamps).left == (("new.csv", ANOTHER),)
        assert [one.path for one in written.changes()] == ["new.csv"]
        await _restarted(manager, client)
        assert await _seen(client) == {**seen, "new.csv": "new and since"}
        code = "import os; assert os.stat('old.csv').st_mode & 0o777 == 0o640"
        assert (await run(client, code))["status"] == "ok"
        assert [one.path for one in written.changes()] == ["new.csv"]
        assert _files(folder) == outside


@runs_here
async def test_a_turn_sees_what_came_to_the_folder(tmp_path: Path, places: Places) -> None:
    """Though the kernel has looked for it before, and Linux remembers what it found."""
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (manager, client):
        assert set(await _seen(client)) >= {"old.csv"}
        code = "import os; assert not os.path.exists('late.csv')"
        assert (await run(client, code))["status"] == "ok"
        (folder / "late.csv").write_text("late")
        (folder / "replaced").write_text("replaced")
        (folder / "replaced").replace(folder / "old.csv")
        manager.provisioner.written.begin_turn("1", LONG)
        seen = await _seen(client)
        assert (seen["late.csv"], seen["old.csv"]) == ("late", "replaced")


@runs_here
async def test_discard_follows_no_link_that_the_kernel_makes(
    tmp_path: Path, places: Places
) -> None:
    """Also an absolute one, which leads elsewhere outside of the sandbox than inside."""
    folder, root = places
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("mine")
    (folder / "d").mkdir()
    (folder / "d" / "x").write_text("1")
    (folder / "y").write_text("1")
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        code = "import os; open('d/x', 'w').write('2')"
        assert (await run(client, code))["status"] == "ok"
        shown = {one.path: one.stamp for one in written.changes()}
        assert written.discard(shown).done == ("d/x",)
        code = (
            "os.remove('d/x'); os.rmdir('d'); os.remove('y'); "
            f"os.symlink({str(outside)!r}, 'd'); os.symlink({str(outside / 'x')!r}, 'y')"
        )
        assert (await run(client, code))["status"] == "ok"
        # The link has taken the place of the folder since the list: d/x is behind it.
        assert written.discard(shown).done == ()
        gone = written.discard({one.path: one.stamp for one in written.changes()})
        assert set(gone.done) == {"d", "y"}
        await _restarted(manager, client)
        assert (outside / "x").read_text() == "mine"
        code = "assert open('y').read() == '1'"
        assert (await run(client, code))["status"] == "ok"


MADE = """
import os, pathlib
for name in ('old.csv', 'gone.csv', 'same.csv', 'new', 'other'):
    pathlib.Path(name).write_text('of the kernel')
"""
SINCE = """
pathlib.Path('old.csv').write_text('since')
pathlib.Path('gone.csv').unlink()
pathlib.Path('mine').write_text('since'); os.replace('mine', 'same.csv')
pathlib.Path('new').unlink(); os.symlink('other', 'new')
"""


@runs_here
async def test_what_code_changes_after_a_discard_waits(tmp_path: Path, places: Places) -> None:
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        assert (await run(client, MADE))["status"] == "ok"
        stamps = {one.path: one.stamp for one in written.changes()}
        assert set(written.discard(stamps).done) == set(stamps)
        assert (await run(client, SINCE))["status"] == "ok"
        changed = {"old.csv", "gone.csv", "same.csv", "new"}
        assert {one.path for one in written.changes()} == changed
        await _restarted(manager, client)
        assert {one.path for one in written.changes()} == changed
        seen = await _seen(client)
        assert (seen["old.csv"], seen["same.csv"], seen["new"]) == ("since", "since", "other")
        assert "gone.csv" not in seen and "other" not in seen


@runs_here
async def test_files_of_a_folder_that_was_made_again_stay_discarded(
    tmp_path: Path, places: Places
) -> None:
    """Linux hides all of the folder below: no entry of the layer stands for a single file."""
    folder, root = places
    (folder / "held").mkdir()
    (folder / "held" / "one").write_text("one")
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        code = "import os, shutil; shutil.rmtree('held'); os.mkdir('held')"
        assert (await run(client, code))["status"] == "ok"
        assert written.discard({one.path: one.stamp for one in written.changes()}).left == ()
        await _restarted(manager, client)
        assert written.changes() == []
    assert list(root.iterdir()) == []
    assert (folder / "held" / "one").read_text() == "one"


@runs_here
async def test_a_late_look_at_the_files_does_not_count(tmp_path: Path, places: Places) -> None:
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        written.begin_turn("1", -1.0)
        assert (await run(client, "open('1', 'w').write('1')"))["status"] == "ok"
        assert written.end_turn("1") == []
        assert [one.path for one in written.changes()] == ["1"]


@runs_here
async def test_a_file_that_came_since_the_start_is_no_conflict(
    tmp_path: Path, places: Places
) -> None:
    folder, root = places
    (folder / "held").mkdir()
    (folder / "held" / "one").write_text("one")
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        code = "open('old.csv', 'w').write('the kernel'); import shutil; shutil.rmtree('held')"
        assert (await run(client, code))["status"] == "ok"
        (folder / "late.csv").write_text("late")
        (folder / "old.csv").write_text("mine")
        (folder / "held" / "since").write_text("since")
        written.begin_turn("1", LONG)
        assert (await run(client, "open('late.csv', 'a').write('r')"))["status"] == "ok"
        found = {one.path: one.why for one in written.changes()}
        assert found == {
            "late.csv": "",
            "old.csv": CONFLICT,
            "held": "",
            "held/one": "",
            "held/since": CONFLICT,
        }
        kept = written.keep({one.path: one.stamp for one in written.changes()})
        assert set(kept.done) == {"late.csv", "held/one"}
        assert (folder / "late.csv").read_text() == "later"
        assert (folder / "old.csv").read_text() == "mine"
        assert [path.name for path in (folder / "held").iterdir()] == ["since"]


@runs_here
async def test_what_was_discarded_does_not_wait(tmp_path: Path, places: Places) -> None:
    """Though its copy stays in the layer, and the person's file may change since."""
    folder, root = places
    (folder / "link").symlink_to("same.csv")
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written

        def discard() -> set[str]:
            return set(written.discard({one.path: one.stamp for one in written.changes()}).done)

        code = (
            "import os; open('old.csv', 'a').write('!'); os.remove('link'); "
            "os.symlink('old.csv', 'link'); os.remove('gone.csv')"
        )
        assert (await run(client, code))["status"] == "ok"
        assert discard() == {"old.csv", "link", "gone.csv"}
        assert written.changes() == []
        (folder / "old.csv").write_text("mine")
        written.begin_turn("1", LONG)
        assert written.changes() == []
        # What the kernel writes there now waits again, and the person's version is safe.
        assert (await run(client, "open('old.csv', 'a').write('?')"))["status"] == "ok"
        assert written.end_turn("1") == ["old.csv"]
        assert [(one.path, one.why) for one in written.changes()] == [("old.csv", CONFLICT)]
        assert discard() == {"old.csv"}
    assert list(root.iterdir()) == []
    assert (folder / "old.csv").read_text() == "mine"


async def test_a_slow_look_holds_no_run_up_and_is_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    made = layer.new(tmp_path / "layers", tmp_path / "work")
    written = Written(made, lambda: 1)
    inside, most = 0, 0

    def slow(self: layer.Layer, refresh: object = None) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(1.0)
        inside -= 1

    monkeypatch.setattr(layer.Layer, "begin", slow)
    monkeypatch.setattr(kernel_overlay, "BEGIN_TIME", 0.1)
    overlay = kernel_overlay.KernelOverlay(written)
    began = time.monotonic()
    await overlay.begin_turn("1")
    assert time.monotonic() - began < 0.7
    assert inside == 1
    await overlay.begin_turn("2")
    # A restart of the kernel waits for it.
    await asyncio.to_thread(written.start)
    assert (most, inside) == (1, 0)
    for turn in ("1", "2"):
        assert not await overlay.end_turn(turn)


async def _restarted(manager: Any, client: Any) -> None:
    await manager.restart_kernel()
    await client.wait_for_ready(timeout=30)


async def _seen(client: Any) -> dict[str, str]:
    """The folder as the kernel sees it: contents, and where links lead."""
    code = (
        "import os, json\nfound = {}\nfor at, folders, names in os.walk('.'):\n"
        "    for name in [*folders, *names]:\n"
        "        path = os.path.relpath(os.path.join(at, name))\n"
        "        found[path] = (os.readlink(path) if os.path.islink(path) else\n"
        "            open(path).read() if os.path.isfile(path) else '')\n"
        "print(json.dumps(found))"
    )
    texts: list[str] = []

    def heard(message: dict[str, Any]) -> None:
        texts.append(message["content"].get("text", ""))

    await client.execute_interactive(code, timeout=30, output_hook=heard)
    found: dict[str, str] = json.loads("".join(texts))
    return found
