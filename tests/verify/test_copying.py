"""The temporary copy of a notebook's folder, and what is left of it."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from pathlib import Path

import pytest

from jupyter_codeinterp.app.verify import folder as folders
from jupyter_codeinterp.app.verify.folder import _copy as copy_one
from jupyter_codeinterp.app.verify.folder import copied


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are made. The folder to copy, with three files, is ``work`` beside it."""
    work, place = tmp_path / "work", tmp_path / "copies"
    work.mkdir()
    place.mkdir()
    for name in ("a.csv", "b.csv", "c.csv"):
        (work / name).write_text(name)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def there(place: Path) -> list[Path]:
    return list(place.iterdir())


async def test_a_copy_that_is_cancelled_leaves_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(folder: Path, path: str, target: Path) -> None:
        began.set()
        assert go_on.wait(10)
        copy_one(folder, path, target)

    monkeypatch.setattr(folders, "_copy", slow)
    copying = asyncio.create_task(copied(place.parent / "work"))
    await asyncio.to_thread(began.wait)
    assert len(there(place)) == 1
    copying.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await copying
    assert there(place) == []


async def test_a_copy_that_has_just_ended_is_removed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, go_on = threading.Event(), threading.Event()

    def late(folder: Path, path: str, target: Path) -> None:
        copy_one(folder, path, target)
        if path == last:
            ended.set()
            assert go_on.wait(10)

    last = folders._files(place.parent / "work")[-1]  # type: ignore[index]
    monkeypatch.setattr(folders, "_copy", late)
    copying = asyncio.create_task(copied(place.parent / "work"))
    await asyncio.to_thread(ended.wait)
    copying.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await copying
    assert there(place) == []


async def test_a_whole_copy(place: Path) -> None:
    copy = await copied(place.parent / "work")
    assert sorted(file.name for file in there(copy)) == ["a.csv", "b.csv", "c.csv"]
    folders.remove(copy)
    assert there(place) == []
