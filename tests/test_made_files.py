"""The files that a turn has made: what is seen of a folder, and what of it is told."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from jupyter_server.services.contents.fileio import FileManagerMixin
from jupyter_server.services.contents.filemanager import AsyncFileContentsManager
from jupyter_server.services.contents.manager import ContentsManager

from jupyter_codeinterp.app.notebooks import scan
from jupyter_codeinterp.base.paths import root_of
from jupyter_codeinterp.run.turn.files import MOST, FolderScan, made
from jupyter_codeinterp.wire import events as e


def plain(text: str) -> str:
    return text


def tell(before: FolderScan | None, after: FolderScan | None) -> list[tuple[str, bool]]:
    return [(file.path, file.is_new) for file in made(before, after, plain)[0]]


def test_what_is_new_or_other_is_told_with_its_path_from_the_root(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "out").mkdir(parents=True)
    (work / "kept.csv").write_text("1")
    (work / "grown.csv").write_text("1")
    (work / "gone.csv").write_text("1")
    before = scan.look(tmp_path, "work")
    (tmp_path / "beside.csv").write_text("not under the notebook's folder")
    (work / "grown.csv").write_text("12")
    (work / "gone.csv").unlink()
    (work / "out" / "plot.png").write_text("new")
    after = scan.look(tmp_path, "work")
    assert made(before, after, plain) == (
        (e.MadeFile("work/grown.csv", 2, False), e.MadeFile("work/out/plot.png", 3, True)),
        0,
    )


def test_the_root_itself_may_be_the_folder(tmp_path: Path) -> None:
    before = scan.look(tmp_path, "")
    (tmp_path / "a.csv").write_text("1")
    assert tell(before, scan.look(tmp_path, "")) == [("a.csv", True)]


def test_links_hidden_files_and_what_is_not_the_persons_are_left_out(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    before = scan.look(root, "")
    (elsewhere / "secret.txt").write_text("s")
    (root / "link").symlink_to(elsewhere, target_is_directory=True)
    (root / "link.txt").symlink_to(elsewhere / "secret.txt")
    (root / ".hidden").write_text("h")
    os.mkfifo(root / "pipe")
    for folder in (".git", "__pycache__"):
        (root / folder).mkdir()
        (root / folder / "x").write_text("x")
    assert tell(before, scan.look(root, "")) == []


def test_it_ends_at_a_depth(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*("d" * (scan.MAX_DEPTH + 1)))
    deep.mkdir(parents=True)
    before = scan.look(tmp_path, "")
    (deep / "far").write_text("x")
    (deep.parent / "near").write_text("x")
    assert tell(before, scan.look(tmp_path, "")) == [("d/" * scan.MAX_DEPTH + "near", True)]


def test_of_a_folder_that_is_too_large_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "MAX_ENTRIES", 10)
    before = scan.look(tmp_path, "")
    (tmp_path / "many").mkdir()
    for n in range(20):
        (tmp_path / "many" / f"{n}").write_text("x")
    assert scan.look(tmp_path, "") is None
    assert tell(before, None) == []


NAMES = ["two\nlines.txt", "\u202egnp.exe", "zero\u200bwidth", "bell\x07"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_could_pass_for_another_is_only_counted(name: str, tmp_path: Path) -> None:
    before = scan.look(tmp_path, "")
    (tmp_path / name).write_text("x")
    assert made(before, scan.look(tmp_path, ""), plain) == ((), 1)


def test_a_name_with_a_key_in_it_or_without_text_is_not_told(tmp_path: Path) -> None:
    before = scan.look(tmp_path, "")
    (tmp_path / "sk-123.txt").write_text("x")
    after = scan.look(tmp_path, "")
    assert made(before, after, lambda text: text.replace("sk-123", "[removed]")) == ((), 1)
    os.close(os.open(os.fsencode(tmp_path) + b"/\xff", os.O_CREAT))
    found = scan.look(tmp_path, "")
    assert found is not None and found.files.keys() == {"sk-123.txt"}


def is_open(path: str) -> bool:
    return path in ("a.ipynb", "deep/c.ipynb")


def test_many_are_counted(tmp_path: Path) -> None:
    before = scan.look(tmp_path, "")
    for n in range(MOST + 5):
        (tmp_path / f"{n:03}").write_text("")
    files, left_out = made(before, scan.look(tmp_path, ""), plain)
    assert (len(files), left_out) == (MOST, 5)


async def test_only_files_of_this_machine_are_looked_at(tmp_path: Path) -> None:
    here = AsyncFileContentsManager(root_dir=str(tmp_path))
    (tmp_path / "a.csv").write_text("")
    seen = await scan.look_around(here, "a.ipynb", is_open)
    assert seen is not None and set(seen.files) == {"a.csv"}
    assert await scan.look_around(ContentsManager(), "a.ipynb", is_open) is None


async def test_open_notebooks_are_saved_by_windows(tmp_path: Path) -> None:
    here = AsyncFileContentsManager(root_dir=str(tmp_path))
    (tmp_path / "deep").mkdir()
    for path in ("a.ipynb", "b.ipynb", "deep/c.ipynb"):
        (tmp_path / path).write_text("{}")
    seen = await scan.look_around(here, "a.ipynb", is_open)
    assert seen is not None and set(seen.files) == {"b.ipynb"}


def test_a_manager_of_another_package_that_reads_files_here_has_a_root(tmp_path: Path) -> None:
    """So that a link out of it is not followed there either."""

    class Theirs(FileManagerMixin, ContentsManager):
        pass

    assert root_of(Theirs(root_dir=str(tmp_path))) == tmp_path
    assert root_of(ContentsManager(root_dir=str(tmp_path))) is None


async def test_the_event_loop_goes_on_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticked = asyncio.Event()

    def slow(root: Path, folder: str) -> FolderScan:
        asyncio.run_coroutine_threadsafe(ticked.wait(), loop).result(60)
        return FolderScan(folder, {})

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(scan, "look", slow)
    around = scan.look_around(AsyncFileContentsManager(root_dir=str(tmp_path)), "a.ipynb", is_open)
    task = asyncio.ensure_future(around)
    await asyncio.sleep(0)
    ticked.set()
    assert await task == FolderScan("", {})
