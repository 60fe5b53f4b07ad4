"""Tells windows which cells are stale, from what they report of their notebooks.

The marks survive a restart of the server. Its runs do not: so a mark from before stays until its
cell runs again, changes or goes, or until the kernel is restarted.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ...adapters.documents.live import LiveNotebook, Window
from ...core.commands import CodeCells, StaleCell, StaleCells
from ...core.document.ops import digest
from ...core.staleness.watch import Watch
from .kept_marks import KeptMarks, Mark

BEFORE = "Known from before the Jupyter server restarted: {reason}"


class ReportedCells:
    def __init__(self, kept: KeptMarks | None = None) -> None:
        """``kept``: the marks on disk; None where nothing is kept."""
        self.watch = Watch()
        self._kept = kept
        self._before: dict[str, dict[str, Mark]] = {}
        """Marks from before this server's start that still hold, by notebook."""
        self._saved: dict[str, dict[str, Mark]] = {}
        self._told: WeakKeyDictionary[Window, dict[str, StaleCells]] = WeakKeyDictionary()
        self._behind: WeakKeyDictionary[Window, set[tuple[str, str]]] = WeakKeyDictionary()
        """Notebooks and kernels whose last restart another view of the room reported first."""

    def report(self, window: Window, notebook: LiveNotebook | None, command: CodeCells) -> None:
        """Take a report of the window that the agent works in, and answer it; in a shared
        notebook, one of any window, and tell all of them that use the same kernel."""
        if notebook is None or not (notebook.held_by(window) or notebook.sharing.by(window)):
            return
        path, kernel_id, watch = command.notebook, command.kernel_id, self.watch
        others = notebook.sharing.others(window)
        restarted = command.restarted and self._is_news(window, others, (path, kernel_id))
        if path not in self._before:
            # The kernel has ended with the last server, too: that restart forgets nothing.
            self._before[path] = self._saved[path] = self._kept.load(path) if self._kept else {}
        elif restarted:
            self._before[path] = {}
        if restarted:
            watch.restarted(kernel_id)
        watch.report(path, command.order, command.sources)
        for run in command.ran:
            watch.ran(kernel_id, run.cell_id, run.number, run.source)
        marks = self._marks(path, kernel_id)
        cells = tuple(
            StaleCell(cell_id, self._reason(path, cell_id, mark), mark.marked)
            for cell_id, mark in marks.items()
        )
        frame = StaleCells(path, cells)
        if len(command.sources) == len(command.order):
            self._told.setdefault(window, {}).pop(path, None)  # It has no marks yet.
        for one in (window, *(one for one in others if notebook.kernel_in(one) == kernel_id)):
            told = self._told.setdefault(one, {})
            if told.get(path) != frame:
                told[path] = frame
                one.send(frame)
        # A window that has no kernel yet knows no runs.
        if kernel_id and self._kept is not None and self._saved[path] != marks:
            self._saved[path] = marks
            self._kept.save(path, marks)

    def _is_news(self, window: Window, others: list[Window], key: tuple[str, str]) -> bool:
        """Whether no other view has reported this restart. Each view reports it after a delay,
        which is long in a hidden tab: cells may have run in the new kernel meanwhile."""
        behind = self._behind.setdefault(window, set())
        if others and key in behind:
            behind.discard(key)
            return False
        for one in others:
            self._behind.setdefault(one, set()).add(key)
        return True

    def _marks(self, path: str, kernel_id: str) -> dict[str, Mark]:
        """Of the notebook's cells, in their order."""
        sources = {cell.cell_id: digest(cell.source) for cell in self.watch.cells(path)}
        stale = self.watch.stale(path, kernel_id)
        before = self._before[path] = {
            cell_id: mark
            for cell_id, mark in self._before[path].items()
            if sources.get(cell_id) == mark.source and not self.watch.has_run(kernel_id, cell_id)
        }
        known = {
            cell_id: Mark(one.reason, one.marked, sources[cell_id])
            for cell_id, one in stale.items()
        }
        return {
            cell_id: known.get(cell_id) or before[cell_id]
            for cell_id in sources
            if cell_id in known or cell_id in before
        }

    def _reason(self, path: str, cell_id: str, mark: Mark) -> str:
        is_before = self._before[path].get(cell_id) is mark
        return BEFORE.format(reason=mark.reason) if is_before else mark.reason
