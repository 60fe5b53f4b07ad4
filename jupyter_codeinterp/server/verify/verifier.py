"""Verifies notebooks: one run each, in the background, with the latest results in memory.

A window that closes loses nothing: the run goes on, and ``of`` returns its result. A restart of the
server forgets results.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ...core.approval.modes import MODES
from ...core.errors import CommandError, KernelError
from ...core.events import Mode
from ...core.verify.beforehand import findings
from ...core.verify.comparing import compare, last_lines
from ...core.verify.verification import CellLine, CodeCell, Verification, title_of
from ..files.on_disk import root_of
from ..notebook_kernels import NotebookKernels
from .folder import MOST_BYTES, MOST_FILES, copy_of, remove
from .images import alike
from .notebook import Book, read

AT_ONCE = 2
"""Runs at the same time on this server."""
KEPT = 20
"""Notebooks whose latest result is kept."""
LONGEST_WAIT = 20.0
"""Seconds that ``changed`` waits."""
SKIPPED = "A cell above failed."

log = logging.getLogger(__name__)


class Verifier:
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
        self._kernel_manager = kernel_manager
        self._contents = contents
        self._kernels = kernels
        self._allowed = MODES[highest_mode].changes
        self._timeout = cell_timeout
        self._scrub = scrub
        self._runs: OrderedDict[str, Run] = OrderedDict()

    async def start(self, path: str, *, in_place: bool = False, kernel: str = "") -> Verification:
        """Begin to verify the notebook as its file has it. ``in_place``: in its own folder.

        Raises CommandError ``not_allowed``, ``busy``, ``in_folder`` (the folder cannot be copied)
        or as ``NotebookKernels``; KernelError ``no_kernel``.
        """
        if not self._allowed:
            words = "Running code is not allowed on this server (c.CodeInterp.highest_mode)."
            raise CommandError("not_allowed", words)
        running = [run for run in self._runs.values() if run.running]
        if any(run.now.notebook == path for run in running):
            raise CommandError("busy", f"{path} is being verified already.")
        if len(running) >= AT_ONCE:
            words = f"{AT_ONCE} notebooks are being verified. Try again when one has ended."
            raise CommandError("busy", words)
        book = await read(self._contents, self._kernels, path)
        if kernel:
            book = replace(book, kernel=kernel)
        run = Run(self._kernel_manager, book, self._timeout, self._scrub)
        self._runs[path] = run
        self._runs.move_to_end(path)
        try:
            await run.begin(None if in_place else self._folder(path))
        except BaseException:
            del self._runs[path]
            raise
        self._forget()
        return run.now

    def of(self, path: str) -> Verification | None:
        """The latest run of the notebook."""
        run = self._runs.get(path)
        return None if run is None else run.now

    async def changed(self, path: str, seen: int) -> Verification | None:
        """The latest run, as soon as its version is not ``seen``; at the latest after
        ``LONGEST_WAIT``."""
        run = self._runs.get(path)
        if run is None:
            return None
        if run.running and run.now.version == seen:
            await run.next_change(LONGEST_WAIT)
        return run.now

    async def ended(self, path: str) -> Verification:
        """Wait for the end of the run."""
        run = self._runs[path]
        await run.ended()
        return run.now

    async def cancel(self, path: str) -> Verification | None:
        """Cancel the run, if there is one, and wait for the end of its kernel."""
        run = self._runs.get(path)
        if run is None:
            return None
        await run.cancel()
        return run.now

    async def close(self) -> None:
        for run in self._runs.values():
            await run.cancel()

    def _folder(self, path: str) -> Path:
        """Raises CommandError ``in_folder`` if the files are not on this machine's disk."""
        if root_of(self._contents) is None or not hasattr(self._kernel_manager, "cwd_for_path"):
            raise _cannot_copy("is not on this server's disk")
        return Path(self._kernel_manager.cwd_for_path(path))

    def _forget(self) -> None:
        for path in [path for path, run in self._runs.items() if not run.running]:
            if len(self._runs) <= KEPT:
                break
            del self._runs[path]


class Run:
    """One verification. ``now`` is its state."""

    def __init__(
        self, kernel_manager: Any, book: Book, timeout: float | None, scrub: Callable[[str], str]
    ) -> None:
        self._kernel_manager = kernel_manager
        self._book = book
        self._timeout = timeout
        self._scrub = scrub
        self._copy: Path | None = None
        self._folder: Path | None = None
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._kernel: Any = None
        lines = tuple(
            CellLine(cell.cell_id, cell.number, scrub(title_of(cell.source))) for cell in book.cells
        )
        self.now = Verification(
            book.path,
            "running",
            lines,
            findings(book.cells, book.language),
            book.kernel,
            started=time.time(),
        )

    @property
    def running(self) -> bool:
        return self.now.state == "running"

    async def begin(self, folder: Path | None) -> None:
        """``folder``: what to copy; None to run in the notebook's own folder."""
        place = {"path": self._book.path}
        self._folder = folder
        if folder is not None:
            try:
                self._copy = await asyncio.to_thread(copy_of, folder)
            except OSError as error:
                raise _cannot_copy(f"could not be copied: {error.strerror}") from None
            if self._copy is None:
                most = f"{MOST_FILES} files or {MOST_BYTES // 1_000_000} MB"
                raise _cannot_copy(f"has more than {most}, or links to folders")
            place = {"cwd": str(self._copy)}
        self._show(in_place=folder is None)
        self._task = asyncio.create_task(self._run(place))

    async def next_change(self, timeout: float) -> None:
        await asyncio.wait({asyncio.ensure_future(self._changed.wait())}, timeout=timeout)

    async def ended(self) -> None:
        if self._task is not None:
            await asyncio.wait({self._task})

    async def cancel(self) -> None:
        if self._task is not None and not self._task.done():
            if self._kernel is not None:
                self._kernel.will_cancel()
            self._task.cancel()
            await self.ended()

    async def _run(self, place: dict[str, str]) -> None:
        from ...adapters.kernels.fresh import FreshKernel  # imports nbclient

        cells = self._book.cells
        self._kernel = kernel = FreshKernel(
            self._kernel_manager, self._book.kernel, place, [cell.source for cell in cells]
        )
        ending: dict[str, Any] = {"state": "done"}
        try:
            await kernel.start(self._timeout)
            await self._run_cells(kernel)
        except asyncio.CancelledError:
            ending = {"state": "cancelled"}
        except KernelError as error:
            ending = {"state": "failed", "words": self._scrub(error.message)}
        except Exception as error:
            # nbclient and managers of other packages may raise anything.
            log.exception("Could not verify %s", self._book.path)
            ending = {"state": "failed", "words": self._scrub(f"Could not go on: {error}")[:500]}
        finally:
            await asyncio.shield(self._clean_up(kernel))
        for at, line in enumerate(self.now.cells):
            if line.status in ("waiting", "running"):
                words = SKIPPED if ending["state"] == "done" else ""
                self._line(at, status="skipped", text=words, quiet=True)
        self._show(**ending)

    async def _clean_up(self, kernel: Any) -> None:
        try:
            await kernel.close()
        except Exception:
            log.exception("Could not end the kernel of a verification")
        if self._copy is not None:
            await asyncio.to_thread(remove, self._copy)

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
            text = await asyncio.to_thread(self._failed, ran)
            self._line(at, status="failed", text=text, seconds=seconds)
            return

    def _compared(self, cell: CodeCell, outputs: Any) -> dict[str, Any]:
        if not cell.has_run:
            return {"status": "new"}
        moved = None if self._copy is None else (str(self._copy), str(self._folder))
        found = compare(cell.outputs, outputs, alike, moved)
        if found is None:
            return {"status": "same"}
        return {
            "status": "differs",
            "old": self._scrub(found.old),
            "new": self._scrub(found.new),
        }

    def _failed(self, ran: Any) -> str:
        return self._scrub(ran.words or last_lines(ran.outputs))

    def _line(self, at: int, *, quiet: bool = False, **changes: Any) -> None:
        lines = list(self.now.cells)
        lines[at] = replace(lines[at], **changes)
        self._show(quiet=quiet, cells=tuple(lines))

    def _show(self, *, quiet: bool = False, **changes: Any) -> None:
        self.now = replace(self.now, version=self.now.version + 1, **changes)
        if not quiet:
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()


def _cannot_copy(why: str) -> CommandError:
    words = (
        f"The notebook's folder {why}. Verify in the folder itself? Its cells write files there."
    )
    return CommandError("in_folder", words)
