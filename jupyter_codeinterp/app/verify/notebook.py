"""Reads a notebook's cells from its file."""

from __future__ import annotations

from typing import Any

import msgspec

from ...base.errors import CommandError
from ...run.verify.verification import CodeCell
from ...wire.ops import joined
from ..notebooks.notebook_kernels import NotebookKernels, notebook_content

MOST_CELLS = 2_000


class Book(msgspec.Struct, frozen=True):
    """``kernel``: the kernelspec's name; "" for the server's default."""

    path: str
    kernel: str
    cells: tuple[CodeCell, ...]


async def read(contents: Any, kernels: NotebookKernels, path: str) -> Book:
    """Raises CommandError ``unknown_notebook`` or ``malformed``."""
    content = await notebook_content(contents, path)
    cells = tuple(_code_cells(content.get("cells")))
    if not cells:
        raise CommandError("malformed", "The notebook has no code to run.")
    if len(cells) > MOST_CELLS:
        words = "The notebook has more than {limit:,} code cells."
        raise CommandError("malformed", words, limit=MOST_CELLS)
    spec = (await kernels.metadata(path)).get("kernelspec", {})
    return Book(path, str(spec.get("name", "")), cells)


def _code_cells(cells: Any) -> list[CodeCell]:
    found: list[CodeCell] = []
    for place, cell in enumerate(cells if isinstance(cells, list) else (), 1):
        source = joined(cell.get("source"))
        if cell.get("cell_type") != "code" or not source.strip():
            continue
        count, tags = cell.get("execution_count"), cell.get("metadata", {}).get("tags")
        found.append(
            CodeCell(
                str(cell.get("id", "")),
                place,
                source,
                count if isinstance(count, int) else None,
                tuple(one for one in cell.get("outputs") or () if isinstance(one, dict)),
                tuple(map(str, tags)) if isinstance(tags, list) else (),
            )
        )
    return found
