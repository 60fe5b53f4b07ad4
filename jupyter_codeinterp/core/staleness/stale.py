"""Which cells show a result that a run of the notebook from its top would no longer give.

The cells run again from the top, with the values of ``runs.Values`` in place of real ones. A cell
is stale if it then reads other values than in its last run. See docs/stale.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..cell_code.cell_names import is_plain
from .effects import statements
from .runs import Given, Run, Runs, Values

EDITED = "This cell was edited after it ran."
MOST_TIMES = 20
"""How often a cell runs again that ran more than once."""


class Cell(msgspec.Struct, frozen=True):
    """A code cell of the notebook, with its source as it is now."""

    cell_id: str
    source: str


def find(cells: Sequence[Cell], runs: Runs) -> dict[str, str]:
    """Why each stale one of these cells is stale. They are in the order of the notebook."""
    once, repeated = _Again(cells, runs, 1), _Again(cells, runs, MOST_TIMES)
    found: dict[str, str] = {}
    for cell in cells:
        run = runs.last.get(cell.cell_id)
        if run is None:
            continue
        if not same_code(cell.source, run.source):
            found[cell.cell_id] = EDITED
        elif name := once.differs(cell.cell_id, run):
            adds = {added for one in statements(run.source) for added in one.adds}
            if run.times > 1 and name in adds:
                found[cell.cell_id] = f"This ran {run.times} times, and each run changed `{name}`."
            elif repeated.differs(cell.cell_id, run):
                found[cell.cell_id] = _reason(name, run, once.origin(cell.cell_id, name), runs)
    return found


class _Again:
    """A run of the notebook from its top, each cell as often as it ran, at most ``most`` times."""

    def __init__(self, cells: Sequence[Cell], runs: Runs, most: int) -> None:
        self._values = Values()
        self._given: dict[str, Given] = {}
        self._origins: dict[str, dict[str, str]] = {}
        known = {run.source for run in runs.last.values()}
        for cell in cells:
            run = runs.last.get(cell.cell_id)
            # A cell that was cut and pasted is another, with the same source.
            if run is None and cell.source not in known:
                continue
            given: Given = {}
            self._origins[cell.cell_id] = dict(self._values.owner)
            source = run.source if run is not None else cell.source
            adds = any(one.adds for one in statements(source))
            for _ in range(min(run.times, most) if run is not None and adds else 1):
                given, _ = self._values.run(cell.cell_id, source, given)
            self._given[cell.cell_id] = given

    def differs(self, cell_id: str, run: Run) -> str:
        """The first name of which the last run read another value; "" if there is none."""
        given = self._given[cell_id]
        for (name, columns), value in run.given.items():
            if given.get((name, columns), "") != value and not self._is_below(cell_id, name, value):
                return name
        return ""

    def _is_below(self, cell_id: str, name: str, value: str) -> bool:
        """Whether cells below alone write the name, with this value."""
        return name not in self._origins[cell_id] and self._values.value(name) == value

    def origin(self, cell_id: str, name: str) -> str:
        """The cell that wrote the name before this one; "" if there is none."""
        below = self._values.owner.get(name, "")
        return self._origins[cell_id].get(name, below)


def _reason(name: str, run: Run, origin: str, runs: Runs) -> str:
    wrote = runs.last.get(origin)
    if wrote is None:
        gone = [one.number for one in runs.last.values() if name in one.writes]
        return f"[{max(gone)}], which set `{name}`, was deleted." if gone else ""
    if wrote.number > run.number:
        return f"`{name}` was changed by [{wrote.number}] after this ran."
    return f"`{name}` comes from [{wrote.number}], which is out of date."


def same_code(one: str, other: str) -> bool:
    """Whether two sources differ in comments and spaces alone."""
    if one.strip() == other.strip():
        return True
    # In a magic every character counts.
    if not (is_plain(one) and is_plain(other)):
        return False
    return [part.code for part in statements(one)] == [part.code for part in statements(other)]
