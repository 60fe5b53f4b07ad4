"""Works in a notebook's file, frame by frame, as a window does in its copy.

Waiting frames are handled together: read the file, apply the ops, write the file, and only then
answer. If another program wrote the file in between, the ops are applied to the new content. An
op carries the state it expects, so other programs' changes are safe.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Protocol, Union

from ...base.errors import DocumentError
from ...wire.commands import OpFrame, OpReceipt, ReadNotebook, ServerFrame, SnapshotTaken
from ...wire.ops import Notebook, Receipt
from ..apply import apply, read_back
from ..content import applied, marked, views
from .contents import CHANGED, Reading

log = logging.getLogger(__name__)

BROKEN = "Cannot work in the notebook's file. See the server's log for the reason."
BUSY = "Another program keeps changing {path}."
TRIES = 20
"""Tries while another program keeps changing the file before we write."""

Work = Union[OpFrame, ReadNotebook]
Answer = Union[OpReceipt, SnapshotTaken]


class NotebookFile(Protocol):
    @property
    def path(self) -> str: ...

    def know(self, cells: Mapping[str, str]) -> None:
        """Sources of cells by their earlier ids."""

    async def read(self) -> Reading: ...

    async def write(self, notebook: Notebook, over: Reading) -> str:
        """Return the new version. Raises DocumentError ``changed`` if the file is no longer
        ``over``."""


class FileDocument:
    def __init__(
        self,
        file: NotebookFile,
        answer: Callable[[Answer], None],
        written: Callable[[str, Mapping[str, int]], None],
        lost: Callable[[str, bool], None],
    ) -> None:
        """``answer`` takes receipts and snapshots. ``written`` gets the file's version and the
        ops that it holds; ``lost`` why the file cannot be used, and whether it is missing."""
        self._file = file
        self._answer = answer
        self._written = written
        self._lost = lost
        self._frames: asyncio.Queue[Work] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._closing = False

    async def open(self, cells: Mapping[str, str]) -> tuple[dict[str, int], str]:
        """The ops that the file holds, and a remark for people. ``cells`` are sources by known
        ids. Raises DocumentError."""
        self._file.know(cells)
        reading = await self._file.read()
        self._worker = asyncio.ensure_future(self._work())
        return applied(reading.notebook), reading.note

    async def close(self) -> None:
        """Finish and answer what is being written; leave the rest to the next holder."""
        self._closing = True
        async with self._writing:
            if self._worker is not None:
                self._worker.cancel()

    async def look(self) -> tuple[str, dict[str, int]]:
        """The file's version, and the ops that it holds. Raises DocumentError."""
        reading = await self._file.read()
        return reading.version, applied(reading.notebook)

    def look_for(self, cell_id: str) -> None:
        """No window is a view of the file."""

    def send(self, frame: ServerFrame) -> None:
        """Queue ops and requests. Previews of code and outputs need no file; ops bring them all."""
        if isinstance(frame, (OpFrame, ReadNotebook)):
            self._frames.put_nowait(frame)

    async def _work(self) -> None:
        while True:
            frames = [await self._frames.get()]
            async with self._writing:
                while not self._frames.empty():
                    frames.append(self._frames.get_nowait())
                try:
                    answers = await self._carry_out(frames)
                except DocumentError as error:
                    self._lost(error.message, error.code == "no_file")
                    return
                except Exception:
                    log.exception("Cannot work in the file of %s", self._file.path)
                    self._lost(BROKEN, False)
                    return
                for answer in answers:
                    self._answer(answer)

    async def _carry_out(self, frames: list[Work]) -> list[Answer]:
        for _ in range(TRIES):
            try:
                return await self._try(frames)
            except DocumentError as error:
                if error.code != CHANGED:
                    raise
        raise DocumentError("not_written", BUSY, path=self._file.path)

    async def _try(self, frames: list[Work]) -> list[Answer]:
        before = await self._file.read()
        notebook = before.notebook
        answers: list[Answer] = []
        for frame in frames:
            if isinstance(frame, OpFrame):
                notebook, receipt = _apply(notebook, frame)
                answers.append(
                    OpReceipt(frame.notebook, frame.epoch, frame.session_id, frame.seq, receipt)
                )
            elif frame.request_id:
                cells = views(notebook, frame.cell_ids)
                answers.append(SnapshotTaken(frame.notebook, frame.epoch, frame.request_id, cells))
        if self._closing:
            return []  # A person may be working in a window again.
        if notebook is not before.notebook:
            version = await self._file.write(notebook, before)
            self._written(version, applied(notebook))
        return answers


def _apply(notebook: Notebook, frame: OpFrame) -> tuple[Notebook, Receipt]:
    if frame.seq <= applied(notebook).get(frame.session_id, 0):
        return notebook, read_back(notebook, frame.op)
    changed, receipt = apply(notebook, frame.op)
    if receipt.status != "done":
        return notebook, receipt
    return marked(changed, frame.session_id, frame.seq), receipt
