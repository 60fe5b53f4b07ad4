"""Tells windows which cells are stale, from what they report of their notebooks."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ...adapters.documents.live import LiveNotebook, Window
from ...core.commands import CodeCells, StaleCell, StaleCells
from ...core.staleness.watch import Watch


class ReportedCells:
    def __init__(self) -> None:
        self.watch = Watch()
        self._told: WeakKeyDictionary[Window, dict[str, StaleCells]] = WeakKeyDictionary()

    def report(self, window: Window, notebook: LiveNotebook | None, command: CodeCells) -> None:
        """Take a report of the window that the agent works in, and answer it; in a shared
        notebook, one of any window, and tell all of them that use the same kernel."""
        if notebook is None or not (notebook.held_by(window) or notebook.sharing.by(window)):
            return
        path, kernel_id, watch = command.notebook, command.kernel_id, self.watch
        others = notebook.sharing.others(window)
        watch.report(path, command.order, command.sources)
        for run in command.ran:
            watch.ran(kernel_id, run.cell_id, run.number, run.source)
        stale = watch.stale(path, kernel_id)
        cells = tuple(StaleCell(cell_id, reason) for cell_id, reason in stale.items())
        frame = StaleCells(path, cells)
        if len(command.sources) == len(command.order):
            self._told.setdefault(window, {}).pop(path, None)  # It has no marks yet.
        for one in (window, *(one for one in others if notebook.kernel_in(one) == kernel_id)):
            told = self._told.setdefault(one, {})
            if told.get(path) != frame:
                told[path] = frame
                one.send(frame)
