"""Links to cells, which do not work in a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Union

from ...core.document.ops import called

Cells = Mapping[str, tuple[int, Union[int, None]]]
"""Places (0 if unknown) and execution counts of cells, by id."""
_TO_CELLS = re.compile(r"\[([^\[\]\n]*)\]\(#cell:([\w-]*)\)")


def cells_of(notebook: Path | None) -> Cells:
    """Of a notebook's file; none if it is unreadable."""
    try:
        cells = json.loads(notebook.read_bytes())["cells"] if notebook is not None else []
        return {str(one["id"]): (place, _count(one)) for place, one in enumerate(cells, 1)}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def _count(cell: dict[str, object]) -> int | None:
    count = cell.get("execution_count")
    return count if isinstance(count, int) else None


def without_cells(text: str, cells: Cells) -> str:
    """Replace links to cells by their text and the cell's number."""

    def named(found: re.Match[str]) -> str:
        name = called(*cells.get(found[2], (0, None)))
        return f"{found[1]} ({name})" if name else found[1]

    return _TO_CELLS.sub(named, text)
