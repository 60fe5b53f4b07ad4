"""What the code alone shows: cells that ran out of order, and names that no cell defines."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from typing import Literal

from ..cell_code.cell_names import names_of
from .verification import CodeCell, Finding

_GIVEN = frozenset(
    {*dir(builtins), "__file__", "In", "Out", "_", "__", "___", "get_ipython", "display", "exit"}
    | {"quit", "_i", "_ii", "_iii", "_oh", "_dh", "_ih", "open"}
)
"""Names that IPython gives."""
MOST_NAMES = 12


def findings(cells: Sequence[CodeCell], language: str) -> tuple[Finding, ...]:
    """All of them, in the order of the cells. ``language`` is the kernel's; names are known for
    Python."""
    found = list(_out_of_order(cells))
    if language == "python":
        found += _missing(cells)
    return tuple(sorted(found, key=lambda one: one.number))


def _out_of_order(cells: Sequence[CodeCell]) -> Iterator[Finding]:
    highest = 0
    for cell in cells:
        if cell.count is None:
            continue
        if cell.count < highest:
            yield Finding("out_of_order", cell.cell_id, cell.number)
        highest = max(highest, cell.count)


def _missing(cells: Sequence[CodeCell]) -> Iterator[Finding]:
    each = [names_of(cell.source) for cell in cells]
    if not all(names.known for names in each):
        return  # What that cell defines is unknown.
    everywhere: frozenset[str] = frozenset().union(*(names.defines for names in each))
    above: set[str] = set(_GIVEN)
    for cell, names in zip(cells, each, strict=True):
        nowhere = names.uses - everywhere - _GIVEN
        if nowhere:
            yield Finding(
                "only_live", cell.cell_id, cell.number, tuple(sorted(nowhere)[:MOST_NAMES])
            )
        # What its functions need is needed only when they are called.
        later = (names.reads & everywhere) - above - names.defines
        if later:
            yield _finding("later", cell, later)
        above |= names.defines


def _finding(kind: Literal["only_live", "later"], cell: CodeCell, names: frozenset[str]) -> Finding:
    return Finding(kind, cell.cell_id, cell.number, tuple(sorted(names)[:MOST_NAMES]))
