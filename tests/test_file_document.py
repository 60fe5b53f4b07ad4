"""Who works in a notebook's file: what it does when a window is back in the middle of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from jupyter_codeinterp.notebook.file import FileDocument
from jupyter_codeinterp.notebook.file.contents import Reading
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.ops import Insert, Notebook
from tests.kernels import until
from tests.reference_window import notebook


class File:
    """A file on a disk that takes its time."""

    path = "a.ipynb"

    def __init__(self) -> None:
        self.now = notebook("x = 20")
        self.waits = ""
        """What the disk is asked for: it goes on when ``go`` is set."""
        self.go = asyncio.Event()

    def know(self, cells: Mapping[str, str]) -> None: ...

    async def read(self) -> Reading:
        await self._wait("read")
        return Reading(self.now, "v1", "v1")

    async def write(self, book: Notebook, over: Reading) -> str:
        await self._wait("write")
        self.now = book
        return "v2"

    async def _wait(self, what: str) -> None:
        self.waits = what
        await self.go.wait()
        self.go.clear()


@pytest.mark.parametrize(
    ("disk", "answers", "sources"), [("read", 0, ["x = 20"]), ("write", 1, ["x = 20", "print(1)"])]
)
async def test_a_window_comes_back_while_the_file(
    disk: str, answers: int, sources: list[str]
) -> None:
    """What is being written cannot be taken back. But no writing begins: a person may be
    typing there again."""
    file = File()
    told: list[object] = []
    file_writer = FileDocument(
        file, told.append, lambda version, applied: None, lambda why, gone: told.append(why)
    )
    file.go.set()
    await file_writer.open({})
    op = Insert("n1", "raw", "print(1)", ("c1",))
    file_writer.send(c.OpFrame("a.ipynb", 1, "s", 1, op))
    await until(lambda: file.waits == "read")
    if disk == "write":
        file.go.set()
        await until(lambda: file.waits == "write")
    closing = asyncio.ensure_future(file_writer.close())
    await asyncio.sleep(0)
    assert not closing.done()
    file.go.set()
    await closing
    assert [cell["source"] for cell in file.now["cells"]] == sources
    assert len(told) == answers
