"""Runs a notebook in a fresh kernel and compares its outputs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ...core.approval.modes import MODES
from ...core.errors import CommandError
from ...core.events import Mode
from ...core.verify.beforehand import findings
from ...core.verify.comparing import compare, last_lines
from ...core.verify.verification import CellLine, CodeCell, Verification, title_of
from ..files.on_disk import root_of
from ..notebook_kernels import NotebookKernels
from .folder import remove
from .images import alike
from .notebook import Book, read
from .runs import Run, Runs, cannot_copy, cleaned_up, copied

SKIPPED = "A cell above failed."


class Verifier(Runs["VerifyRun"]):
    def __init__(
        self,
        kernel_manager: Any,
        contents: Any,
        kernels: NotebookKernels,
        *,
        highest_mode: Mode,
        cell_timeout: float | None,
        scrub: Callable[[str], str],
    ) -> None:
        """``kernel_manager`` and ``contents`` are jupyter_server's."""
        super().__init__()
        self.kernel_manager = kernel_manager
        self.contents = contents
        self.kernels = kernels
        self.timeout = cell_timeout
        self.scrub = scrub
        self._allowed = MODES[highest_mode].changes

    async def start(self, path: str, *, in_place: bool = False, kernel: str = "") -> Verification:
        """Begin to verify the notebook as its file has it. ``in_place``: in its own folder.

        Raises CommandError ``not_allowed``, ``busy``, ``in_folder`` (the folder cannot be copied)
        or as ``read``.
        """
        self.check_allowed()
        self.check(path)
        book = await read(self.contents, self.kernels, path)
        run = VerifyRun(self, replace(book, kernel=kernel) if kernel else book)
        folder = None if in_place else self.folder(path)
        copy = None if folder is None else await copied(folder)
        try:
            self.check(path)
        except CommandError:
            if copy is not None:
                remove(copy)
            raise
        self.add(path, run)
        run.start(folder, copy)
        return run.now

    def check_allowed(self) -> None:
        """Raises CommandError ``not_allowed`` if no code may run on this server."""
        if not self._allowed:
            words = "Running code is not allowed on this server (c.CodeInterp.highest_mode)."
            raise CommandError("not_allowed", words)

    def folder(self, path: str) -> Path:
        """The notebook's folder. Raises CommandError ``in_folder`` if it is not on this machine's
        disk."""
        if root_of(self.contents) is None or not hasattr(self.kernel_manager, "cwd_for_path"):
            raise cannot_copy("is not on this server's disk")
        return Path(self.kernel_manager.cwd_for_path(path))


class VerifyRun(Run[Verification]):
    def __init__(self, verifier: Verifier, book: Book) -> None:
        self._verifier = verifier
        self._book = book
        self._moved: tuple[str, str] | None = None
        lines = tuple(
            CellLine(cell.cell_id, cell.number, self.scrubbed(title_of(cell.source)))
            for cell in book.cells
        )
        found = findings(book.cells, book.language)
        started = time.time()
        super().__init__(
            Verification(book.path, "running", lines, found, book.kernel, started=started)
        )

    def scrubbed(self, words: str) -> str:
        return self._verifier.scrub(words)

    def start(self, folder: Path | None, copy: Path | None) -> None:
        """``copy``: of the ``folder``; None to run in the notebook's own folder."""
        if copy is not None:
            self._moved = (str(copy), str(folder))
        self.show(in_place=copy is None)
        self.begin(self._work(copy))

    async def _work(self, copy: Path | None) -> None:
        from ...adapters.kernels.fresh import FreshKernel  # imports nbclient

        place = {"path": self._book.path} if copy is None else {"cwd": str(copy)}
        sources = [cell.source for cell in self._book.cells]
        kernel = FreshKernel(self._verifier.kernel_manager, self._book.kernel, place, sources)
        self.kernel = kernel
        try:
            await kernel.start(self._verifier.timeout)
            await self._run_cells(kernel)
        finally:
            await asyncio.shield(cleaned_up(kernel, copy))

    def at_end(self, state: str) -> dict[str, Any]:
        words = SKIPPED if state == "done" else ""
        lines = [
            replace(line, status="skipped", text=words)
            if line.status in ("waiting", "running")
            else line
            for line in self.now.cells
        ]
        return {"cells": tuple(lines)}

    async def _run_cells(self, kernel: Any) -> None:
        for at, cell in enumerate(self._book.cells):
            if "skip-execution" in cell.tags:
                self._line(at, status="skipped", text="Its tag skip-execution says so.")
                continue
            self._line(at, status="running")
            began = time.monotonic()
            ran = await kernel.run(at)
            seconds = round(time.monotonic() - began, 3)
            if ran.status == "ok" or (ran.status == "error" and "raises-exception" in cell.tags):
                found = await asyncio.to_thread(self._compared, cell, ran.outputs)
                self._line(at, seconds=seconds, **found)
                continue
            words = ran.words or await asyncio.to_thread(last_lines, ran.outputs)
            self._line(at, status="failed", text=self.scrubbed(words), seconds=seconds)
            return

    def _compared(self, cell: CodeCell, outputs: Any) -> dict[str, Any]:
        if not cell.has_run:
            return {"status": "new"}
        found = compare(cell.outputs, outputs, alike, self._moved)
        if found is None:
            return {"status": "same"}
        old, new = self.scrubbed(found.old), self.scrubbed(found.new)
        return {"status": "differs", "old": old, "new": new}

    def _line(self, at: int, **changes: Any) -> None:
        lines = list(self.now.cells)
        lines[at] = replace(lines[at], **changes)
        self.show(cells=tuple(lines))
