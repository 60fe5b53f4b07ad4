"""The reference implementation of ops. Pure.

``src/notebook/document/ops.ts`` does the same in a browser and passes the same test vectors
(``tests/document_vectors.json``).
"""

from __future__ import annotations

import copy
from typing import Any, Union

from ..wire.ops import (
    MOST_BESIDE,
    MOST_OUTPUTS,
    PRIVATE,
    BeginRun,
    Cell,
    Delete,
    FinishRun,
    Insert,
    Move,
    Notebook,
    Op,
    Output,
    Receipt,
    Restore,
    SetSource,
    digest,
    fits,
    id_of,
    place_after,
    run_id_of,
    shaped,
    tags_of,
)


def apply(notebook: Notebook, op: Op) -> tuple[Notebook, Receipt]:
    """The notebook after ``op``, and the receipt. Does not change its argument.

    ``cell["metadata"]["codeinterp"]["run_id"]`` names the cell's run, in a person's cell
    too: outputs go only into the cell that still has their run, and undo sees whether the person
    has run it since. The nbformat locks ``editable`` and ``deletable`` hold.
    """
    cells: list[Cell] = notebook["cells"]
    matches = [i for i, cell in enumerate(cells) if id_of(cell) == op.cell_id]
    if len(matches) > 1:
        return notebook, Receipt("refused", reason="two cells have this id")
    if isinstance(op, Insert):
        return (notebook, Receipt("done")) if matches else _insert(notebook, op)
    if not matches:
        if isinstance(op, Delete):
            return notebook, Receipt("done")
        if isinstance(op, Restore) and op.expect is None:
            return _insert_again(notebook, op)
        return notebook, _MISSING
    index = matches[0]
    cell = shaped(cells[index])
    if isinstance(op, FinishRun):
        return _finish_run(notebook, index, op)
    above = tuple(filter(None, map(id_of, reversed(cells[:index]))))
    if isinstance(op, Move):
        ids = tuple(filter(None, map(id_of, cells)))
        others = cells[:index] + cells[index + 1 :]
        place = place_after([id_of(one) for one in others], op.after)
        moved = [*others[:place], cells[index], *others[place:]]
        return {**notebook, "cells": moved}, Receipt("done", after=ids)
    if reason := _locked(cell, op):
        return notebook, Receipt("refused", reason=reason)
    if _was_run_since(cell, op):
        return notebook, _conflict(cell)
    if isinstance(op, Restore):
        return _restore(notebook, index, op, above)
    if isinstance(op, SetSource) and cell["source"] == op.source:
        if op.cell_type in (None, cell["cell_type"]):
            return notebook, Receipt("done")
    elif not _expected(cell, op):
        return notebook, _conflict(cell)
    if isinstance(op, Delete):
        kept = cells[:index] + cells[index + 1 :]
        return {**notebook, "cells": kept}, _telling(cell, above)
    if isinstance(op, BeginRun):
        if run_id_of(cell) == op.run_id:
            return notebook, Receipt("done")
        told = _telling(cell, above) if op.tell else Receipt("done")
        return _replace(notebook, index, _begun(cell, op)), told
    changed = {**_typed(cell, op.cell_type), "source": op.source}
    return _replace(notebook, index, changed), _telling(cell, above)


def read_back(notebook: Notebook, op: Op) -> Receipt:
    """A receipt for an applied op whose receipt was lost."""
    there = any(id_of(cell) == op.cell_id for cell in notebook["cells"])
    if there or isinstance(op, Delete):
        return Receipt("done")
    return _MISSING


_MISSING = Receipt("missing", reason="the cell is not in the notebook")


def _telling(cell: Cell, above: tuple[str, ...]) -> Receipt:
    """A receipt with the earlier cell, as far as it fits into a message."""
    outputs = cell.get("outputs", [])
    rest = {key: value for key, value in cell.items() if key != "outputs"}
    if not fits(rest, MOST_BESIDE):
        return Receipt("done", after=above)
    left_out = not fits(outputs, MOST_OUTPUTS)
    told = {**rest, "outputs": []} if left_out else cell
    return Receipt("done", before=copy.deepcopy(told), after=above, left_out=left_out)


def _expected(cell: Cell, op: Union[SetSource, BeginRun, Delete]) -> bool:
    source = cell["source"]
    if isinstance(op, BeginRun):
        return digest(source) == op.digest
    # A draft that was inserted again lacks its streamed code.
    is_empty_draft = cell["cell_type"] == "raw" and source == ""
    return source == op.expect or (isinstance(op, Delete) and is_empty_draft)


def _was_run_since(cell: Cell, op: Union[SetSource, BeginRun, Delete, Restore]) -> bool:
    """Whether the cell's last run is not the one that the op names."""
    runs = [op.last_run]
    if isinstance(op, BeginRun):
        runs.append(op.run_id)  # The op was applied already.
    elif isinstance(op, Restore):
        runs.append(run_id_of(op.cell))
    return op.last_run is not None and run_id_of(cell) not in runs


def _conflict(cell: Cell) -> Receipt:
    if not fits(cell["source"], MOST_BESIDE):
        return Receipt("refused", reason="the cell has changed since, and is too large to send")
    return Receipt("conflict", source=cell["source"], reason="the cell has changed since")


def _locked(cell: Cell, op: Union[SetSource, BeginRun, Delete, Restore]) -> str:
    """Why the person's settings forbid the op; "" if they do not. Runs and their undo change no
    source, and an undo is the person's own act."""
    metadata = cell["metadata"]
    known = isinstance(op, Restore) or (isinstance(op, Delete) and cell["source"] == op.expect)
    if PRIVATE in tags_of(cell) and not known:
        return "the person keeps the cell private"
    edits = isinstance(op, SetSource) or (
        isinstance(op, Restore)
        and any(op.cell[key] != cell[key] for key in ("source", "cell_type"))
    )
    if edits and metadata.get("editable") is False:
        return "the cell is locked: its metadata says editable: false"
    if isinstance(op, Delete) and metadata.get("deletable") is False:
        return "the cell is locked: its metadata says deletable: false"
    return ""


def _ours(cell: Cell) -> dict[str, Any]:
    """Our metadata of the cell; {} if the file has another type there."""
    ours = cell["metadata"].get("codeinterp")
    return ours if isinstance(ours, dict) else {}


def _begun(cell: Cell, op: BeginRun) -> Cell:
    ours = {**_ours(cell), **op.metadata, "run_id": op.run_id}
    return {
        **_typed(cell, "code"),
        "metadata": {**_trust(cell["metadata"], op.trusted), "codeinterp": ours},
        "outputs": [],
        "execution_count": None,
    }


def _trust(metadata: dict[str, Any], trusted: bool) -> dict[str, Any]:
    """Set or remove ``trusted``. The contents manager turns it into its signature and does not
    save it."""
    others = {key: value for key, value in metadata.items() if key != "trusted"}
    return {**others, "trusted": True} if trusted else others


def _finish_run(notebook: Notebook, index: int, op: FinishRun) -> tuple[Notebook, Receipt]:
    cell = shaped(notebook["cells"][index])
    # The person may have made it a Markdown cell, which has no outputs.
    if run_id_of(cell) != op.run_id or cell["cell_type"] != "code":
        return notebook, Receipt("done")
    if op.cut_off and cell["execution_count"] is not None:
        return notebook, Receipt("done")  # The run ended, or the person ran the cell since.
    if op.cut_off and not op.outputs and op.execution_count is None:
        # Outputs and trust stay, because the origin of the file's outputs is unknown. Replacing the
        # cell with an equal one removes a shared [*].
        return _replace(notebook, index, {**cell}), Receipt("done")
    outputs = [_saved(output) for output in op.outputs]
    changed = {**cell, "outputs": outputs, "execution_count": op.execution_count}
    changed["metadata"] = _trust(cell["metadata"], op.trusted)
    return _replace(notebook, index, changed), Receipt("done")


def _restore(
    notebook: Notebook, index: int, op: Restore, above: tuple[str, ...]
) -> tuple[Notebook, Receipt]:
    cell, was = shaped(notebook["cells"][index]), op.cell
    if cell["source"] not in (op.expect, was["source"]):
        return notebook, _conflict(cell)
    if op.expect is None:
        return notebook, Receipt("done")
    kept = was if cell["cell_type"] != was["cell_type"] else cell
    changed = {**kept, "id": op.cell_id, "source": was["source"]}
    if "attachments" in was:
        changed.setdefault("attachments", was["attachments"])
    if was["cell_type"] == "code":
        outputs = [_saved(output) for output in was.get("outputs", ())]
        changed |= {"outputs": outputs, "execution_count": was.get("execution_count")}
    others = {k: v for k, v in cell["metadata"].items() if k != "codeinterp"}
    changed["metadata"] = _trust(others, was["metadata"].get("trusted") is True)
    if "codeinterp" in was["metadata"]:
        changed["metadata"]["codeinterp"] = was["metadata"]["codeinterp"]
    told = _telling(cell, above) if op.tell else Receipt("done")
    return _replace(notebook, index, changed), told


def _insert_again(notebook: Notebook, op: Restore) -> tuple[Notebook, Receipt]:
    cells: list[Cell] = notebook["cells"]
    ids = [id_of(cell) for cell in cells]
    place = next((ids.index(anchor) + 1 for anchor in op.after if anchor in ids), 0)
    cell = {**copy.deepcopy(op.cell), "id": op.cell_id}
    return (
        {**notebook, "cells": [*cells[:place], cell, *cells[place:]]},
        Receipt("done"),
    )


def _insert(notebook: Notebook, op: Insert) -> tuple[Notebook, Receipt]:
    cells: list[Cell] = notebook["cells"]
    place = place_after([id_of(cell) for cell in cells], op.after)
    cell: Cell = {"id": op.cell_id, "cell_type": "raw", "metadata": dict(op.metadata)}
    cell["source"] = op.source
    cell = _typed(cell, op.cell_type)
    return (
        {**notebook, "cells": [*cells[:place], cell, *cells[place:]]},
        Receipt("done"),
    )


def _typed(cell: Cell, cell_type: str | None) -> Cell:
    """The cell with another type. Only code cells have outputs and a count; only others have
    attachments."""
    if cell_type is None or cell["cell_type"] == cell_type:
        return dict(cell)
    stray = ("attachments",) if cell_type == "code" else ("outputs", "execution_count")
    changed = {key: value for key, value in cell.items() if key not in stray}
    changed["cell_type"] = cell_type
    if cell_type == "code":
        changed |= {"outputs": [], "execution_count": None}
    return changed


def _replace(notebook: Notebook, index: int, cell: Cell) -> Notebook:
    cells = notebook["cells"]
    return {**notebook, "cells": [*cells[:index], cell, *cells[index + 1 :]]}


def _saved(output: Output) -> Output:
    return {key: value for key, value in output.items() if key != "transient"}
