"""Which cells show a result that a run of the notebook from its top would no longer give.

A cell takes each name from the nearest cell above that wrote it. What cells below it do does not
make it stale, unless only they write the name. The runs of an earlier start of the kernel say
nothing. See docs/stale.md.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from ..cell_code.cell_names import is_plain, names_of
from .runs import Run, Runs

MOST_READ = 50
"""The most cells that are parsed for one deleted name. With more, the cell is not stale."""
EDITED = "This cell was edited after it ran."

Kind = Literal["changed", "deleted", "edited", "upstream", "waits"]


class Cell(msgspec.Struct, frozen=True):
    """A code cell of the notebook, with its source as it is now."""

    cell_id: str
    source: str


class Stale(msgspec.Struct, frozen=True):
    """Why a cell is stale.

    changed, deleted  another cell wrote a name since; the cell that wrote it is gone
    edited            the cell itself was edited
    upstream          it takes a name from a cell that is stale
    waits             the same, but that cell was only edited: its old values are in use
    """

    kind: Kind
    reason: str

    @property
    def marked(self) -> bool:
        """Whether the notebook shows it."""
        return self.kind != "waits"


def find(cells: Sequence[Cell], runs: Runs) -> dict[str, Stale]:
    """The stale ones of these cells, which are in the order of the notebook."""
    return _Search(cells, runs).found


_Reason = tuple[int, int, Stale]
"""How much it says, the number of the run that it names, and the reason."""


class _Search:
    def __init__(self, cells: Sequence[Cell], runs: Runs) -> None:
        self.found: dict[str, Stale] = {}
        self._cells = cells
        self._runs = runs
        self._here = {cell.cell_id for cell in cells}
        above: dict[str, str] = {}
        for cell in cells:
            run = runs.last.get(cell.cell_id)
            if run is None:
                continue
            if not same_code(cell.source, run.source):
                self.found[cell.cell_id] = Stale("edited", EDITED)
            else:
                reasons = self._reasons(run, above)
                best = max(reasons, default=None, key=lambda reason: reason[:2])
                if best is not None:
                    self.found[cell.cell_id] = best[2]
            above.update(dict.fromkeys(run.writes, cell.cell_id))

    def _reasons(self, run: Run, above: dict[str, str]) -> Iterator[_Reason]:
        for name in sorted(run.reads):
            if name not in self._runs.writes:
                continue
            origin = above.get(name)
            reason = (
                self._elsewhere(name, run) if origin is None else self._above(name, run, origin)
            )
            if reason is not None:
                yield reason

    def _above(self, name: str, run: Run, origin: str) -> _Reason | None:
        write = self._runs.writes[name].get(origin)
        if write is not None and write.last > run.number:
            return self._changed(name, run, write.last)
        stale = self.found.get(origin)
        if stale is None:
            return None
        number = self._runs.last[origin].number
        comes = f"{_said(name, run)} comes from In [{number}], which"
        if stale.kind == "edited":
            return 0, number, Stale("waits", f"{comes} was edited after it ran.")
        if stale.kind == "waits":
            return 0, number, Stale("waits", f"{comes} depends on an edited cell.")
        return 1, number, Stale("upstream", f"{comes} is out of date.")

    def _elsewhere(self, name: str, run: Run) -> _Reason | None:
        """A name that no cell above has written."""
        writes = self._runs.writes[name]
        earlier = {cell: write for cell, write in writes.items() if write.first < run.number}
        below = [write.last for cell, write in earlier.items() if cell in self._here]
        if below:
            last = max(below)
            return self._changed(name, run, last) if last > run.number else None
        if earlier and not self._is_written(name):
            last = max(write.last for write in earlier.values())
            words = f"In [{last}], which set {_said(name, run)}, was deleted."
            return 2, last, Stale("deleted", words)
        return None

    def _changed(self, name: str, run: Run, number: int) -> _Reason:
        words = f"{_said(name, run)} was changed by In [{number}] after this ran."
        return 3, number, Stale("changed", words)

    def _is_written(self, name: str) -> bool:
        """Whether any cell writes it, run or not: a cell that was cut and pasted is another."""
        naming = [cell.source for cell in self._cells if name in cell.source]
        return len(naming) > MOST_READ or any(name in names_of(one).binds for one in naming)


def _said(name: str, run: Run) -> str:
    function = run.reads.get(name)
    return f"`{name}`, which `{function}` reads," if function else f"`{name}`"


def same_code(one: str, other: str) -> bool:
    """Whether two sources differ in comments and spaces alone."""
    return one == other or _same_code(one, other)


@lru_cache(maxsize=500)
def _same_code(one: str, other: str) -> bool:
    if one.strip() == other.strip():
        return True
    # In a magic every character counts.
    if not (is_plain(one) and is_plain(other)):
        return False
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
