"""Files beside a notebook are read through the contents manager, within its root and bounds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.services.contents.filemanager import (
    AsyncFileContentsManager,
    FileContentsManager,
)
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.contents.manager import AsyncContentsManager, ContentsManager
from tornado import web

from jupyter_codeinterp.app.notebooks import siblings
from jupyter_codeinterp.app.notebooks.siblings import read_sibling

MOST = 10_000
DATA = bytes(range(256)) * 3


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root" / "work"
    folder.mkdir(parents=True)
    (folder / "a b.png").write_bytes(DATA)
    (folder.parent / "top.png").write_bytes(b"top")
    (tmp_path / "outside.png").write_bytes(b"secret")
    return folder.parent


@pytest.mark.parametrize(
    "manager", [AsyncLargeFileManager, AsyncFileContentsManager, FileContentsManager]
)
async def test_a_file_is_read_as_it_is(root: Path, manager: Any) -> None:
    contents = manager(root_dir=str(root))
    assert await read_sibling(contents, "work/n.ipynb", "a b.png", MOST) == DATA
    assert await read_sibling(contents, "n.ipynb", "top.png", MOST) == b"top"
    assert await read_sibling(contents, "work/n.ipynb", "a b.png", len(DATA)) == DATA
    assert await read_sibling(contents, "work/n.ipynb", "a b.png", len(DATA) - 1) is None


async def test_what_lies_elsewhere_is_not_read(root: Path) -> None:
    """Also where a link or a name leads there."""
    contents = AsyncLargeFileManager(root_dir=str(root), allow_hidden=True)
    (root / "work" / "link.png").symlink_to(root.parent / "outside.png")
    (root / "work" / "folder.png").mkdir()
    (root / "work" / ".hidden.png").write_bytes(b"hidden")
    for name in (
        *("link.png", "folder.png", ".hidden.png", "gone.png", "", "..", "../top.png"),
        *("../../outside.png", "/etc/passwd", "..\\top.png", "a\0.png"),
    ):
        assert await read_sibling(contents, "work/n.ipynb", name, MOST) is None, name


async def test_a_drive_elsewhere_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(AsyncContentsManager):
        async def get(self, *args: Any, **more: Any) -> Any:
            return {"size": len(DATA), "content": DATA}

    assert await read_sibling(Elsewhere(), "n.ipynb", "a.png", MOST) is None

    class Slow(ContentsManager):
        async def get(self, *args: Any, **more: Any) -> Any:
            await asyncio.sleep(60)

    class Gone(ContentsManager):
        async def get(self, *args: Any, **more: Any) -> Any:
            raise web.HTTPError(404, "gone")

    monkeypatch.setattr(siblings, "READING_TIMEOUT", 0.01)
    for bad in (Slow(), Gone()):
        assert await read_sibling(bad, "n.ipynb", "a.png", MOST) is None
