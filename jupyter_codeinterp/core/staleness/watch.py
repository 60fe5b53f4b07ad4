"""The runs of all kernels, and the cells of the notebooks that windows have open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from .runs import Runs
from .stale import Cell, find

MOST = 50
"""Kernels, and notebooks. The one used longest ago is forgotten."""

T = TypeVar("T")


class Watch:
    def __init__(self) -> None:
        self._kernels: dict[str, Runs] = {}
        self._notebooks: dict[str, list[Cell]] = {}

    def ran(self, kernel_id: str, cell_id: str, number: int, source: str) -> None:
        """A kernel has begun the run with this execution count."""
        runs = self._kernels.get(kernel_id) or Runs()
        _keep(self._kernels, kernel_id, runs)
        runs.ran(cell_id, number, source)

    def report(self, path: str, order: Sequence[str], sources: Mapping[str, str]) -> None:
        """The code cells of a notebook are now these. ``sources`` has at least those that differ
        from the last report."""
        known = {cell.cell_id: cell.source for cell in self._notebooks.get(path, ())}
        known.update(sources)
        cells = [Cell(cell_id, known.get(cell_id, "")) for cell_id in order]
        _keep(self._notebooks, path, cells)

    def put(self, path: str, cell: Cell, above: Sequence[str]) -> None:
        """The agent has written a cell. ``above`` names cells above it, the nearest first."""
        others = [one for one in self._notebooks.get(path, ()) if one.cell_id != cell.cell_id]
        places = {one.cell_id: place for place, one in enumerate(others)}
        here = next((places[one] + 1 for one in above if one in places), len(others))
        _keep(self._notebooks, path, [*others[:here], cell, *others[here:]])

    def knows(self, path: str) -> bool:
        """Whether a window has reported the notebook."""
        return path in self._notebooks

    def stale(self, path: str, kernel_id: str) -> dict[str, str]:
        """Why cells of a notebook are stale, by id."""
        runs = self._kernels.get(kernel_id)
        return find(self._notebooks.get(path, ()), runs) if runs is not None else {}


def _keep(kept: dict[str, T], key: str, value: T) -> None:
    """Keep it as the newest of at most ``MOST``."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > MOST:
        del kept[next(iter(kept))]
