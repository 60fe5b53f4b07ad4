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
        """Take a report of the window that the agent works in, and answer it."""
        if notebook is None or not notebook.held_by(window):
            return
        path, kernel_id, watch = command.notebook, command.kernel_id, self.watch
        if command.restarted:
            watch.restarted(kernel_id)
        watch.report(path, command.order, command.sources)
        for run in command.ran:
            watch.ran(kernel_id, run.cell_id, run.number, run.source)
        cells = tuple(
            StaleCell(cell_id, stale.reason, stale.marked)
            for cell_id, stale in watch.stale(path, kernel_id).items()
        )
        frame, told = StaleCells(path, cells), self._told.setdefault(window, {})
        is_whole = len(command.sources) == len(command.order)
        if is_whole or told.get(path) != frame:
            told[path] = frame
            window.send(frame)
