"""Looks at what a message names. Whatever is not there, or cannot be looked at, is told so."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from ..errors import DocumentError, KernelError
from ..events import Note, Reference
from ..model_view.outputs import size
from ..model_view.references import Named, named
from ..off_loop import off_loop
from ..turn.turn import Turn

MOST_LOOKED_THROUGH = 2_000
"""Files beside the notebook."""
NOT_READ = "[The message names something that could not be read in time.]"


async def look_at_named(
    turn: Turn, references: Sequence[Reference], *, again: bool = False
) -> Named:
    """``again``: the notebook may be another than the turn has seen last."""
    if not references:
        return Named()
    if again:
        with contextlib.suppress(DocumentError):  # As it was seen last.
            await turn.notebook.look()
    names = tuple(one.name for one in references if one.kind == "variable")
    variables = None
    with contextlib.suppress(KernelError):
        variables = await turn.variables(names) if names else []
    files = turn.files
    if turn.look_for_files is not None and any(one.kind == "file" for one in references):
        files = await turn.look_for_files(MOST_LOOKED_THROUGH)
    snapshot = turn.notebook.snapshot
    found = await off_loop(
        lambda: named(references, snapshot, variables, files, turn.foreign),
        sum(len(cell.source) + size(cell.outputs) for cell in snapshot.cells),
        lambda: Named(NOT_READ),
    )
    for cell_id in found.whole:
        cell = snapshot.cell(cell_id)
        if cell is not None:
            turn.context.seen(cell)
    return found


def said_missing(found: Named) -> list[Note]:
    """For the person."""
    if not found.missing:
        return []
    return [Note(f"Named in the message, and not there: {', '.join(found.missing)}.", "warning")]
