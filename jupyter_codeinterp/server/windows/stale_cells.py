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
        if restarted:
            watch.restarted(kernel_id)
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
