"""What ops do to a notebook: the reference, which every document must agree with.

``apply`` is pure. ``src/notebook/document/ops.ts``, which does the same to the notebook open in a
browser, passes the same test vectors (``tests/document_vectors.json``).
"""

from __future__ import annotations

import copy
from typing import Any, Union

from .ops import (
    BeginRun,
    Cell,
    Delete,
    FinishRun,
    Insert,
    Notebook,
    Op,
    Output,
    Receipt,
    Restore,
    SetSource,
    digest,
    id_of,
    shaped,
)


def apply(notebook: Notebook, op: Op) -> tuple[Notebook, Receipt]:
    """The notebook after ``op``, and the receipt. The notebook given is left as it was.

    Which run a cell is in is kept in ``cell["metadata"]["codeinterp"]["run_id"]``. What a
    person locked stays as it is: ``editable`` and ``deletable`` of nbformat are obeyed.
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
    if reason := _locked(cell, op):
        return notebook, Receipt("refused", reason=reason)
    if isinstance(op, Restore):
        return _restore(notebook, index, op)
    if isinstance(op, SetSource) and cell["source"] == op.source:
        if op.cell_type in (None, cell["cell_type"]):
            return notebook, Receipt("done")
    elif not _expected(cell["source"], op):
        return notebook, _conflict(cell)
    above = tuple(filter(None, map(id_of, reversed(cells[:index]))))
    before = copy.deepcopy(cell)
    if isinstance(op, Delete):
        kept = cells[:index] + cells[index + 1 :]
        return {**notebook, "cells": kept}, Receipt("done", before=before, after=above)
    if isinstance(op, BeginRun):
        if _run_id(cell) == op.run_id:
            return notebook, Receipt("done")
        told = Receipt("done", before=before, after=above) if op.tell else Receipt("done")
        return _replace(notebook, index, _begun(cell, op)), told
    changed = {**_typed(cell, op.cell_type), "source": op.source}
    return _replace(notebook, index, changed), Receipt("done", before=before, after=above)


def read_back(notebook: Notebook, op: Op) -> Receipt:
    """What to answer to an op that the notebook holds already, if its receipt is not known."""
    there = any(id_of(cell) == op.cell_id for cell in notebook["cells"])
    if there or isinstance(op, Delete):
        return Receipt("done")
    return _MISSING


_MISSING = Receipt("missing", reason="the cell is not in the notebook")


def _expected(source: str, op: Union[SetSource, BeginRun, Delete]) -> bool:
    return digest(source) == op.digest if isinstance(op, BeginRun) else source == op.expect


def _conflict(cell: Cell) -> Receipt:
    return Receipt("conflict", source=cell["source"], reason="the cell has changed since")


def _locked(cell: Cell, op: Union[SetSource, BeginRun, Delete, Restore]) -> str:
    """Why a person's lock forbids the op, "" if none does. Running changes no source, and so
    does the undo of a run."""
    metadata = cell["metadata"]
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
    """Our metadata of the cell; the file may hold anything in its place."""
    ours = cell["metadata"].get("codeinterp")
    return ours if isinstance(ours, dict) else {}


def _run_id(cell: Cell) -> str | None:
    run_id: str | None = _ours(cell).get("run_id")
    return run_id


def _begun(cell: Cell, op: BeginRun) -> Cell:
    ours = {**_ours(cell), **op.metadata, "run_id": op.run_id}
    return {
        **_typed(cell, "code"),
        "metadata": {**_trust(cell["metadata"], op.trusted), "codeinterp": ours},
        "outputs": [],
        "execution_count": None,
    }


def _trust(metadata: dict[str, Any], trusted: bool) -> dict[str, Any]:
    """Metadata with the word that says whether the outputs are trusted. The contents manager
    turns it into its signature and does not save it."""
    others = {key: value for key, value in metadata.items() if key != "trusted"}
    return {**others, "trusted": True} if trusted else others


def _finish_run(notebook: Notebook, index: int, op: FinishRun) -> tuple[Notebook, Receipt]:
    cell = shaped(notebook["cells"][index])
    # The person may have made it a Markdown cell while it ran: that has no outputs.
    if _run_id(cell) != op.run_id or cell["cell_type"] != "code":
        return notebook, Receipt("done")
    outputs = [_saved(output) for output in op.outputs]
    changed = {**cell, "outputs": outputs, "execution_count": op.execution_count}
    changed["metadata"] = _trust(cell["metadata"], op.trusted)
    return _replace(notebook, index, changed), Receipt("done")


def _restore(notebook: Notebook, index: int, op: Restore) -> tuple[Notebook, Receipt]:
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
    return _replace(notebook, index, changed), Receipt("done")


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
    ids = [id_of(cell) for cell in cells]
    place = 0 if not op.after else len(cells)
    for anchor in op.after:
        if anchor in ids:
            place = ids.index(anchor) + 1
            break
    cell: Cell = {"id": op.cell_id, "cell_type": "raw", "metadata": dict(op.metadata)}
    cell["source"] = op.source
    cell = _typed(cell, op.cell_type)
    return (
        {**notebook, "cells": [*cells[:place], cell, *cells[place:]]},
        Receipt("done"),
    )


def _typed(cell: Cell, cell_type: str | None) -> Cell:
    """The cell with another type: only code cells have outputs and a count, and only the
    others have attachments."""
    if cell_type is None or cell["cell_type"] == cell_type:
        return dict(cell)
    foreign = ("attachments",) if cell_type == "code" else ("outputs", "execution_count")
    changed = {key: value for key, value in cell.items() if key not in foreign}
    changed["cell_type"] = cell_type
    if cell_type == "code":
        changed |= {"outputs": [], "execution_count": None}
    return changed


def _replace(notebook: Notebook, index: int, cell: Cell) -> Notebook:
    cells = notebook["cells"]
    return {**notebook, "cells": [*cells[:index], cell, *cells[index + 1 :]]}


def _saved(output: Output) -> Output:
    return {key: value for key, value in output.items() if key != "transient"}
