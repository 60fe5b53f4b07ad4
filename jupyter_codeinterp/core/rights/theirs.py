"""Variables that the person's cells assign, as far as the notebook shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..cell_code.cell_names import names_of
from ..document.ops import CellView


def theirs(
    cells: Iterable[CellView], is_agents: Callable[[CellView], bool], protected: Iterable[str] = ()
) -> dict[str, str]:
    """By name, the import that defines it; "" for other variables. ``protected`` names count in
    any case."""
    found: dict[str, str] = {}
    for cell in cells:
        if cell.cell_type != "code" or is_agents(cell):
            continue
        names = names_of(cell.source)
        for name in (*names.binds, *cell.assigns):
            found[name] = _statement(name, names.same.get(name, ""))
    found.update(dict.fromkeys(protected, ""))
    return found


def _statement(name: str, same: str) -> str:
    """An import of the cell, as Python writes it; "" for a function."""
    origin, space, path = same.partition(" ")
    if not space or "\n" in same or origin.startswith("def"):
        return ""
    last = path.rpartition(".")[2] if origin else path
    alias = f" as {name}" if last != name else ""
    return f"from {origin} import {path}{alias}" if origin else f"import {path}{alias}"
