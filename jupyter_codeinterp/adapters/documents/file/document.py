"""Works in a notebook's file, frame by frame, as a window does in its copy.

Frames that have come meanwhile are carried out together: the file is read, the ops are
applied, the file is written, and only then are they answered. An op carries what it expects
to find, so what others have written into the file since is safe.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol, Union

from ....core.commands import OpFrame, OpReceipt, ReadNotebook, ServerFrame, SnapshotTaken
from ....core.document.apply import apply, read_back
from ....core.document.ops import Notebook, Receipt
from ....core.errors import DocumentError
from .view import views

log = logging.getLogger(__name__)

BROKEN = "The notebook's file cannot be worked in. The server's log says why."

Work = Union[OpFrame, ReadNotebook]
Answer = Union[OpReceipt, SnapshotTaken]


class File(Protocol):
    @property
    def path(self) -> str: ...

    async def read(self) -> tuple[Notebook, str]:
        """The notebook, and what people must know of it."""

    async def write(self, notebook: Notebook) -> str:
        """The file's version afterwards."""

    async def version(self) -> str:
        """Names the file as it is now."""


class FileDocument:
    def __init__(
        self,
        file: File,
        answer: Callable[[Answer], None],
        written: Callable[[str], None],
        lost: Callable[[str, bool], None],
    ) -> None:
        """``answer`` takes receipts and snapshots. ``written`` is told the file's version,
        ``lost`` why the file cannot be worked in any longer, and whether there is none."""
        self._file = file
        self._answer = answer
        self._written = written
        self._lost = lost
        self._frames: asyncio.Queue[Work] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._closing = False

    async def open(self) -> tuple[dict[str, int], str]:
        """The ops that the file holds, and what people must know of it. Raises
        DocumentError."""
        notebook, known = await self._file.read()
        self._worker = asyncio.ensure_future(self._work())
        return applied(notebook), known

    async def close(self) -> None:
        """What is being written is answered; the rest is left to who comes."""
        self._closing = True
        async with self._writing:
            if self._worker is not None:
                self._worker.cancel()

    async def look(self) -> tuple[str, dict[str, int]]:
        """The file's version, and the ops that it holds. Raises DocumentError."""
        version = await self._file.version()
        notebook, _ = await self._file.read()
        return version, applied(notebook)

    def send(self, frame: ServerFrame) -> None:
        """Code as it is written and outputs as they come are for eyes; ops bring them all."""
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
                    log.exception("The file of %s cannot be worked in", self._file.path)
                    self._lost(BROKEN, False)
                    return
                for answer in answers:
                    self._answer(answer)

    async def _carry_out(self, frames: list[Work]) -> list[Answer]:
        before, _ = await self._file.read()
        notebook = before
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
            return []  # A person may be at work in a window again.
        if notebook is not before:
            self._written(await self._file.write(notebook))
        return answers


def applied(notebook: Notebook) -> dict[str, int]:
    """The notebook's own marker: the highest op number that it holds for each session."""
    ours = notebook["metadata"].get("codeinterp")
    marker = ours.get("applied") if isinstance(ours, dict) else None
    if not isinstance(marker, dict):
        return {}
    return {key: seq for key, seq in marker.items() if type(seq) is int}


def _apply(notebook: Notebook, frame: OpFrame) -> tuple[Notebook, Receipt]:
    marker = applied(notebook)
    if frame.seq <= marker.get(frame.session_id, 0):
        return notebook, read_back(notebook, frame.op)
    changed, receipt = apply(notebook, frame.op)
    if receipt.status != "done":
        return notebook, receipt
    metadata = changed["metadata"]
    ours = metadata.get("codeinterp")
    kept = ours if isinstance(ours, dict) else {}
    marked = {**kept, "applied": {**marker, frame.session_id: frame.seq}}
    return {**changed, "metadata": {**metadata, "codeinterp": marked}}, receipt
