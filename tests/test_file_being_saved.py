"""A notebook that Jupyter is saving, in its file, when its file is read for an op."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from jupyter_server.services.contents import fileio
from jupyter_server.services.contents.filemanager import AsyncFileContentsManager

from jupyter_codeinterp.notebook.file import ContentsFile
from jupyter_codeinterp.notebook.file import contents as saving
from tests.reference_window import notebook


async def stays(_: str) -> bool:
    return False


def file_in(folder: Path, name: str = "a.ipynb") -> ContentsFile:
    contents = AsyncFileContentsManager(root_dir=str(folder))
    return ContentsFile(contents, lambda: name, stays)


def text_of(source: str) -> str:
    return str(nbformat.writes(nbformat.from_dict(notebook(source))))


def moved_away(folder: Path) -> list[Path]:
    return list(folder.rglob("*.invalid"))


async def written(path: Path, words: str) -> None:
    await asyncio.to_thread(path.write_text, words)


@pytest.fixture(params=["file", "link"])
def path(request: Any, tmp_path: Path) -> Path:
    """The file itself, at its own place or behind a link from the folder that is served."""
    if request.param == "file":
        return tmp_path / "a.ipynb"
    (tmp_path / "elsewhere").mkdir()
    file = tmp_path / "elsewhere" / "b.ipynb"
    (tmp_path / "a.ipynb").symlink_to(Path("elsewhere") / "b.ipynb")
    return file


async def test_it_is_read_after_the_save(path: Path, tmp_path: Path) -> None:
    await written(path, text_of("old = 1"))
    new = text_of("new = 2")
    with fileio.atomic_writing(str(tmp_path / "a.ipynb")) as out:
        out.write(new[: len(new) // 2])
        out.flush()
        reading = asyncio.create_task(file_in(tmp_path).read())
        await asyncio.sleep(0.2)
        assert not reading.done()
        out.write(new[len(new) // 2 :])
    read = (await reading).notebook
    assert [cell["source"] for cell in read["cells"]] == ["new = 2"]
    assert await asyncio.to_thread(path.read_text) == new
    assert moved_away(tmp_path) == []


@pytest.mark.parametrize("ahead", [0, 3_600])
async def test_what_a_crash_left_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    """Jupyter then restores the previous content itself. ``ahead``: seconds that the clock of the
    drive is ahead of ours."""
    clock = SimpleNamespace(time=lambda: time.time() - ahead, monotonic=time.monotonic)
    monkeypatch.setattr(saving, "time", clock)
    monkeypatch.setattr(saving, "LEFT_BEHIND", 0.3)
    await written(tmp_path / "a.ipynb", text_of("half = 1")[:40])
    await written(tmp_path / ".~a.ipynb", text_of("old = 1"))
    os.utime(tmp_path / ".~a.ipynb", (0, 0))
    read = await asyncio.wait_for(file_in(tmp_path).read(), 5)
    assert [cell["source"] for cell in read.notebook["cells"]] == ["old = 1"]
