"""Experiments that are over: cells whose results no cell uses. Pure; nothing runs.

Rather a cell too few than one too many: where a cell may use any name, none is found.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..cell_code.cell_names import PARSED, Names, names_of
from ..cell_code.parsing import parse
from .ordering import Cell, reads

TAG = "unused"
"""In the metadata of such a cell. Nothing skips it."""


def unused(cells: Sequence[Cell]) -> Iterator[tuple[str, str, str]]:
    """Ids of cells that failed, with "" and ""; or of cells whose results are made again, with a
    name and the cell that makes it."""
    code = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    names = [names_of(cell.source) for cell in code]
    if not all(one.known for one in names):
        return
    functions = {name: one for each in names for name, one in each.functions.items()}
    needs = [reads(one, functions) for one in names]
    for number, cell in enumerate(code):
        mine = names[number]
        if TAG in cell.tags:
            continue
        if cell.failed and "raises-exception" not in cell.tags:
            others = [one for at, one in enumerate(names) if at != number]
            if not any((mine.binds | mine.changes) & one.uses for one in others):
                yield cell.cell_id, "", ""
        elif _is_only_definition(cell, mine):
            made = sorted(mine.defines - mine.imports)
            again = [_made_again(name, number, names, needs) for name in made]
            if made and all(again):
                yield cell.cell_id, made[0], code[again[0]].cell_id


def _is_only_definition(cell: Cell, names: Names) -> bool:
    """Whether it only gives names: it shows nothing and calls nothing for its effect."""
    found = parse(cell.source, PARSED)
    if found is None or found[0] != cell.source or cell.shows or cell.failed or names.changes:
        return False
    plain = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.Import, ast.ImportFrom)
    return all(isinstance(node, plain) for node in found[1].body)


def _made_again(
    name: str, number: int, names: Sequence[Names], needs: Sequence[frozenset[str]]
) -> int:
    """The cell below that gives the name before any cell uses it; 0 if there is none."""
    for at in range(number + 1, len(names)):
        one = names[at]
        if name in needs[at] or name in one.changes or name in one.deletes:
            return 0
        if name in one.defines:
            return at
    return 0
