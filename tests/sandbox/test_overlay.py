"""A kernel whose writes wait in a layer: real kernels, in real sandboxes."""

from __future__ import annotations

import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.sandbox.overlay import layer
from jupyter_codeinterp.sandbox.overlay.changes import NAMED
from tests.sandbox.here import runs_here
from tests.sandbox.test_sandboxed_kernel import kernel, notebook, run

__all__ = ["notebook"]

WRITES = """
import os
open('new.csv', 'w').write('new')
open('old.csv', 'a').write(' and more')
os.remove('gone.csv')
os.makedirs('made/deep'); open('made/deep/x.txt', 'w').write('x')
"""


@pytest.fixture
def places(tmp_path: Path, notebook: Path) -> tuple[Path, Path]:
    for name in ("old.csv", "gone.csv", "same.csv"):
        (notebook / name).write_text(name)
    return notebook, tmp_path / "layers"


def overlaid(tmp_path: Path, folder: Path, root: Path) -> AbstractAsyncContextManager[Any]:
    return kernel(tmp_path, folder, overlay=True, overlay_folder=str(root))


@runs_here
async def test_the_folder_stays_and_the_changes_wait(
    tmp_path: Path, places: tuple[Path, Path]
) -> None:
    folder, root = places
    async with kernel(tmp_path, folder, overlay=True, overlay_folder=str(root)) as (
        manager,
        client,
    ):
        before = _files(folder)
        assert (await run(client, WRITES))["status"] == "ok"
        assert (await run(client, "assert open('old.csv').read() == 'old.csv and more'"))[
            "status"
        ] == "ok"
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
async def test_a_layer_without_changes_goes_with_its_kernel(
    tmp_path: Path, places: tuple[Path, Path]
) -> None:
    folder, root = places
    async with overlaid(tmp_path, folder, root) as (_, client):
        assert [one.lock() for one in layer.layers(root)] == [False]
        code = "open('new.csv', 'w').write('new'); import os; os.remove('new.csv')"
        assert (await run(client, code))["status"] == "ok"
    assert list(root.iterdir()) == []


@runs_here
async def test_instructions_for_other_programs_are_not_kept(
    tmp_path: Path, places: tuple[Path, Path]
) -> None:
    folder, root = places
    async with kernel(tmp_path, folder, overlay=True, overlay_folder=str(root)) as (
        manager,
        client,
    ):
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
