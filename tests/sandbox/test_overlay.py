"""A kernel whose writes wait in a layer: real kernels, in real sandboxes."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.kernel.zmq import overlay as kernel_overlay
from jupyter_codeinterp.sandbox.overlay import layer, undoing
from jupyter_codeinterp.sandbox.overlay.changes import CONFLICT, NAMED
from jupyter_codeinterp.sandbox.overlay.restoring import MEANWHILE
from jupyter_codeinterp.sandbox.overlay.undoing import KEPT, NOT_COPIED, NOT_HELD, SINCE, SINCE_UNDO
from jupyter_codeinterp.sandbox.overlay.written import Written
from jupyter_codeinterp.sandbox.shared import trees
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
os.symlink('same.csv', 'link before')
"""
TURN = """
open('new.csv', 'w').write('new'); open('changed twice', 'w').write('2')
open('old.csv', 'a').write(' and more'); os.remove('gone.csv'); os.remove('made before')
os.remove('link before'); os.makedirs('made/deep'); open('made/deep/x', 'w').write('x')
import shutil; shutil.rmtree('held'); open('later', 'w').write('turn')
os.symlink('/etc/passwd', 'link'); open('kept', 'w').write('kept')
"""


@runs_here
async def test_undo_puts_the_files_of_a_turn_back(tmp_path: Path, places: Places) -> None:
    folder, root = places
    (folder / "held" / "deep").mkdir(parents=True)
    (folder / "held" / "deep" / "one").write_text("one")
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        outside = _files(folder)
        assert (await run(client, BEFORE))["status"] == "ok"
        written.begin_turn("1", LONG)
        seen = await _seen(client)
        assert (await run(client, TURN))["status"] == "ok"
        changed = written.end_turn("1", LONG)
        assert {"new.csv", "old.csv", "gone.csv", "held/deep/one", "link"} <= set(changed)
        assert "same.csv" not in changed
        assert (await run(client, "open('later', 'a').write(' and since')"))["status"] == "ok"
        kept = {one.path: one.stamp for one in written.changes() if one.path == "kept"}
        assert written.keep(kept).done == ("kept",)
        back = written.put_back("1")
        assert dict(back.left) == {"later": SINCE, "kept": KEPT}
        now = await _seen(client)
        assert {path: now.get(path) for path in seen} == seen
        assert set(now) - set(seen) == {"later", "kept"}
        assert {**outside, "kept": "kept"} == _files(folder)
        with pytest.raises(layer.LayerError, match="not kept"):
            written.put_back("2")


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
async def test_undo_follows_no_link_that_the_kernel_makes(tmp_path: Path, places: Places) -> None:
    """Also an absolute one, which leads elsewhere outside of the sandbox than inside."""
    folder, root = places
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("mine")
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        code = "import os; os.mkdir('d'); open('d/x', 'w').write('1'); open('y', 'w').write('1')"
        assert (await run(client, code))["status"] == "ok"
        written.begin_turn("1", LONG)
        code = (
            "os.remove('d/x'); os.rmdir('d'); os.remove('y'); "
            f"os.symlink({str(outside)!r}, 'd'); os.symlink({str(outside / 'x')!r}, 'y')"
        )
        assert (await run(client, code))["status"] == "ok"
        assert set(written.end_turn("1", LONG)) == {"d", "d/x", "y"}
        back = written.put_back("1")
        assert (outside / "x").read_text() == "mine"
        assert set(back.done) == {"d", "d/x", "y"}
        assert (await run(client, "assert open('y').read() == '1'"))["status"] == "ok"


@runs_here
async def test_the_beginnings_of_turns_are_bounded(
    tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, root = places
    monkeypatch.setattr(undoing, "BYTES", 1_000)
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        copies = written.layer.path / "copies"
        for turn in range(undoing.TURNS + 5):
            written.begin_turn(str(turn), LONG)
            code = f"open('a', 'w').write('{turn}' * 100)"
            assert (await run(client, code))["status"] == "ok"
            written.end_turn(str(turn), LONG)
        assert sum(path.stat().st_size for path in copies.iterdir()) <= 1_000
        with pytest.raises(layer.LayerError):
            written.put_back("0")
        assert written.put_back(str(turn)).done == ("a",)
        code = (
            f"assert open('a').read() == '{turn - 1}' * 100; open('large', 'w').write('1' * 2000)"
        )
        assert (await run(client, code))["status"] == "ok"
        written.begin_turn("too large", LONG)
        with pytest.raises(layer.LayerError, match="not kept"):
            written.put_back("too large")
        # It has not cost the turns before it.
        assert written.offers(str(turn)).undo == ((), ())


ONE = """
import os, shutil
open('both', 'w').write('one'); open('held', 'w').write('a file, no folder')
os.remove('old.csv'); os.mkdir('old.csv'); open('old.csv/inner', 'w').write('inner')
os.symlink('both', 'link'); open('empty', 'w')
"""
TWO = """
open('both', 'a').write(' two'); open('two', 'w').write('two'); os.remove('link')
os.symlink('two', 'link'); os.remove('empty')
"""


@runs_here
async def test_turns_are_undone_and_redone_in_turn(
    tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The undo of one turn makes new files: the turn before still knows them."""
    folder, root = places
    (folder / "held").mkdir()
    (folder / "held" / "deep").write_text("deep")
    outside = _files(folder)
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        states = [await _seen(client)]
        for turn, code in (("1", f"import shutil; shutil.rmtree('held')\n{ONE}"), ("2", TWO)):
            written.begin_turn(turn, LONG)
            assert (await run(client, code))["status"] == "ok"
            assert written.end_turn(turn, LONG)
            states.append(await _seen(client))
        both = {"both", "two", "link", "empty"}
        for _ in range(2):
            assert set(written.offers("2").undo.done) == both
            # The first turn cannot be undone where the second has gone on.
            assert {path for path, _ in written.offers("1").undo.left} == both - {"two"}
            back = written.put_back("2")
            assert (set(back.done), back.left) == (both, ())
            assert await _seen(client) == states[1]
            offers = written.offers("2")
            assert (offers.undo.done, set(offers.redo.done)) == ((), both)
            assert written.put_back("1").left == ()
            assert await _seen(client) == states[0]
            assert dict(written.redo("2").left) == dict.fromkeys(both - {"two"}, SINCE_UNDO)
            assert written.redo("1").left == ()
            assert written.redo("2").left == ()
            assert await _seen(client) == states[2]
            assert written.offers("2").redo == ((), ())
        assert _files(folder) == outside
        written.put_back("2")
        assert (await run(client, "open('both', 'w').write('mine')"))["status"] == "ok"
        assert dict(written.offers("2").redo.left) == {"both": SINCE_UNDO}
        assert dict(written.redo("2").left) == {"both": SINCE_UNDO}
        assert (await _seen(client))["both"] == "mine"
        assert set(written.offers("2").redo.done) == set()
        # What is too large to be kept cannot be redone, and a small one can.
        assert (await run(client, "open('large', 'w').write('1')"))["status"] == "ok"
        written.begin_turn("3", LONG)
        code = "open('large', 'w').write('1' * 5000); os.remove('both')"
        assert (await run(client, code))["status"] == "ok"
        written.end_turn("3", LONG)
        monkeypatch.setattr(undoing, "BYTES", 1_000)
        assert set(written.put_back("3").done) == {"large", "both"}
        assert dict(written.redo("3").left) == {"large": NOT_HELD}
        assert "both" not in await _seen(client)


THREE = """
import os, pathlib
for name in ('changed', 'removed', 'replaced', 'new', 'other'):
    pathlib.Path(name).write_text('one')
"""
FOUR = """
for name in ('changed', 'removed', 'replaced', 'other'):
    pathlib.Path(name).write_text('two, of the turn')
pathlib.Path('new').unlink(); pathlib.Path('new').symlink_to('other')
pathlib.Path('made').write_text('made'); os.link('made', 'linked')
"""


def _meanwhile(at: Path) -> None:
    """What code in the kernel may do while an undo is on its way."""
    (at / "changed").write_text("mine")
    (at / "removed").unlink(missing_ok=True)
    (at / "mine").write_text("mine")
    (at / "mine").replace(at / "replaced")
    (at / "new").unlink()
    (at / "new").write_text("mine")


@runs_here
@pytest.mark.parametrize(("moment", "why"), [("_hold", SINCE), ("_bring", MEANWHILE)])
async def test_undo_leaves_what_changes_meanwhile(
    tmp_path: Path,
    places: Places,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    why: str,
) -> None:
    """Before the undo copies the files for a redo, and before it replaces them."""
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        assert (await run(client, THREE))["status"] == "ok"
        written.begin_turn("1", LONG)
        assert (await run(client, FOUR))["status"] == "ok"
        assert len(written.end_turn("1", LONG)) == 7
        after = await _seen(client)
        whole: Callable[..., Any] = getattr(undoing.Turns, moment)

        def late(*arguments: Any) -> Any:
            number = written._root()
            _meanwhile(Path(f"/proc/self/fd/{number}", *folder.parts[1:]))
            os.close(number)
            return whole(*arguments)

        with monkeypatch.context() as patched:
            patched.setattr(undoing.Turns, moment, late)
            back = written.put_back("1")
        assert set(back.done) == {"other", "made", "linked"}
        left = dict(back.left)
        assert set(left) == {"changed", "removed", "replaced", "new"}
        assert left["changed"] == left["removed"] == left["replaced"] == why
        mine = {"changed": "mine", "replaced": "mine", "new": "mine"}
        seen = await _seen(client)
        assert {path: seen.get(path) for path in [*mine, "removed"]} == {**mine, "removed": None}
        assert seen["other"] == "one"
        # The others can be redone.
        assert set(written.redo("1").done) == set(back.done)
        seen = await _seen(client)
        assert {path: seen[path] for path in back.done} == {path: after[path] for path in back.done}


@runs_here
async def test_a_file_that_cannot_be_copied_costs_its_own_redo_alone(
    tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        written.begin_turn("1", LONG)
        code = "open('a', 'w').write('1'); open('b', 'w').write('12'); open('c', 'w').write('3')"
        assert (await run(client, code))["status"] == "ok"
        written.end_turn("1", LONG)
        whole = trees.copy

        def full(source: int, target: int, size: int) -> None:
            if size == 2:
                raise OSError(errno.ENOSPC, "No space left on device")
            whole(source, target, size)

        monkeypatch.setattr(trees, "copy", full)
        assert written.put_back("1") == (("a", "b", "c"), ())
        assert written.redo("1") == (("a", "c"), (("b", NOT_COPIED),))


@runs_here
async def test_a_late_look_at_the_files_does_not_count(tmp_path: Path, places: Places) -> None:
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        for turn, begins, ends in (("1", -1.0, LONG), ("2", LONG, -1.0)):
            written.begin_turn(turn, begins)
            assert (await run(client, f"open('{turn}', 'w').write('1')"))["status"] == "ok"
            assert written.end_turn(turn, ends) is None
            with pytest.raises(layer.LayerError, match="not kept"):
                written.put_back(turn)


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
async def test_what_an_undo_put_back_as_in_the_folder_does_not_wait(
    tmp_path: Path, places: Places
) -> None:
    """Though its copy stays in the layer, and the person's file may change since."""
    folder, root = places
    (folder / "link").symlink_to("same.csv")
    async with overlaid(tmp_path, folder, root) as (manager, client):
        written = manager.provisioner.written
        code = (
            "import os; open('old.csv', 'a').write('!'); os.remove('link'); "
            "os.symlink('old.csv', 'link'); os.remove('gone.csv')"
        )
        written.begin_turn("1", LONG)
        assert (await run(client, code))["status"] == "ok"
        written.end_turn("1", LONG)
        assert set(written.put_back("1").done) == {"old.csv", "link", "gone.csv"}
        assert written.changes() == []
        (folder / "old.csv").write_text("mine")
        written.begin_turn("2", LONG)
        assert written.changes() == []
        assert (await _seen(client))["old.csv"] == "old.csv"
        # What the kernel writes there now waits again, and the person's version is safe.
        assert (await run(client, "open('old.csv', 'a').write('?')"))["status"] == "ok"
        written.end_turn("2", LONG)
        assert [(one.path, one.why) for one in written.changes()] == [("old.csv", CONFLICT)]
        written.put_back("2")
    assert list(root.iterdir()) == []
    assert (folder / "old.csv").read_text() == "mine"


async def test_a_slow_look_holds_no_run_up_and_is_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    made = layer.new(tmp_path / "layers", tmp_path / "work")
    written = Written(made, lambda: -1, lambda: 1)
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
        with pytest.raises(layer.LayerError, match="not kept"):
            written.offers(turn)


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
