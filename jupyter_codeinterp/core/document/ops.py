"""What can be done to a notebook: ops, receipts, and ``apply``, the reference for both.

An op is one change of the notebook document, numbered per session. It is idempotent:
applied twice, it changes nothing the second time. ``apply`` is pure and is what every
document (the notebook open in a browser, a file) must agree with; ``src/notebook/document/ops.ts``
passes the same test vectors (``tests/document_vectors.json``).

Cells are nbformat 4.5 dictionaries, addressed by ``id``, never by index.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from typing import Any, Literal, Union

import msgspec

Cell = dict[str, Any]
"""An nbformat 4.5 cell. ``source`` is one string here, never a list of lines."""
Notebook = dict[str, Any]
"""An nbformat 4.5 notebook with ``cells`` and ``metadata``."""
Output = dict[str, Any]
"""An nbformat output; may carry ``transient.display_id``, which is never saved."""

PRIVATE = "codeinterp-private"
"""The tag of cells whose content the model is never sent."""


# --- shapes ----------------------------------------------------------------------------


def shaped(cell: Any) -> Cell:
    """The cell with the fields that ``Cell`` promises. One of the wrong type counts as absent;
    a source may be a list of lines. What nobody here knows of stays as it is."""
    given: Cell = cell if isinstance(cell, dict) else {}
    metadata = given.get("metadata")
    kind = given.get("cell_type")
    whole = {
        **given,
        "cell_type": kind if isinstance(kind, str) else "raw",
        "metadata": metadata if isinstance(metadata, dict) else {},
        "source": joined(given.get("source")),
    }
    if whole["cell_type"] == "code":
        outputs, count = given.get("outputs"), given.get("execution_count")
        listed = outputs if isinstance(outputs, (list, tuple)) else ()
        whole["outputs"] = [output for output in listed if isinstance(output, dict)]
        whole["execution_count"] = count if type(count) is int else None
    return whole


def joined(text: Any) -> str:
    """A text of nbformat: a string, or a list of lines; of anything else nothing."""
    if isinstance(text, (list, tuple)):
        return "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""


def id_of(cell: Any) -> str:
    """ "" if it has none that is a string."""
    given = cell.get("id") if isinstance(cell, dict) else None
    return given if isinstance(given, str) else ""


# --- ops -----------------------------------------------------------------------------


class Insert(msgspec.Struct, frozen=True, tag_field="op", tag="insert"):
    """Insert a cell. ``cell_type`` is ``raw`` for a draft, which no run command runs.

    ``after`` names preceding cells, the preferred one first: the cell goes after the
    first that still exists; with none named it goes to the top, with none left to the end.
    """

    cell_id: str
    cell_type: Literal["raw", "code", "markdown"]
    source: str
    after: tuple[str, ...]
    metadata: dict[str, Any] = {}


class SetSource(msgspec.Struct, frozen=True, tag_field="op", tag="set_source"):
    """Replace a cell's source, if it is still ``expect`` (or already ``source``).

    ``cell_type`` changes the type in the same step (a Markdown draft that was accepted).
    """

    cell_id: str
    source: str
    expect: str
    cell_type: Union[Literal["raw", "code", "markdown"], None] = None


class BeginRun(msgspec.Struct, frozen=True, tag_field="op", tag="begin_run"):
    """Just before a run: compare the source; make it a code cell; clear outputs; show [*].

    Refused with ``conflict`` when ``digest`` is not that of the cell's source. ``metadata`` is
    merged into the cell's (provenance; it grants nothing). ``trusted``: a person has decided
    on this very run, so that HTML and scripts in its outputs are shown as those of a cell that
    they run themselves; else the cell is not trusted, whatever it was before. ``tell``:
    whether the receipt is to tell how the cell was, as none before has.
    """

    cell_id: str
    digest: str
    run_id: str
    metadata: dict[str, Any] = {}
    trusted: bool = False
    tell: bool = False


class FinishRun(msgspec.Struct, frozen=True, tag_field="op", tag="finish_run"):
    """The end of a run: all outputs and the execution count (None if it never started).

    Ignored (``done``, unchanged) when the cell's current run is another one. ``trusted`` as
    in ``begin_run``, or nothing in these outputs can run (``passive``).
    """

    cell_id: str
    run_id: str
    outputs: tuple[Output, ...]
    execution_count: Union[int, None]
    trusted: bool = False


class Delete(msgspec.Struct, frozen=True, tag_field="op", tag="delete"):
    """Delete a cell if its source is still ``expect``. A missing cell counts as done."""

    cell_id: str
    expect: str


class Restore(msgspec.Struct, frozen=True, tag_field="op", tag="restore"):
    """Make a cell what it was before ops changed or deleted it (undo).

    ``cell`` is the receipt's ``before``. ``expect`` is the source that the ops have left;
    with None they have deleted the cell, and it is inserted after the first of ``after``
    that still exists, else at the top. Source, type, outputs, their trust, count and our own
    metadata become what they were; metadata of others stays as it is now.
    """

    cell_id: str
    cell: Cell
    expect: Union[str, None] = None
    after: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "cell", shaped(self.cell))


Op = Union[Insert, SetSource, BeginRun, FinishRun, Delete, Restore]


class Receipt(msgspec.Struct, frozen=True):
    """What the document answered to an op.

    ``done``: it is in the document, which was read back. ``source`` is given with
    ``conflict`` alone: what stands there instead of what was expected. ``before`` is the whole
    cell before the op (with ``after``, the ids above it, nearest first), for ``set_source``
    and ``delete`` that changed something, and ``begin_run`` that asks for it: what undo puts
    back.
    """

    status: Literal["done", "conflict", "missing", "refused", "pending"]
    source: str = ""
    reason: str = ""
    before: Union[Cell, None] = None
    after: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.before is not None:
            msgspec.structs.force_setattr(self, "before", shaped(self.before))


class CellView(msgspec.Struct, frozen=True):
    """A cell as a snapshot shows it. ``outputs`` are bounded by the sender, not here.
    ``assigns``: the variables that a private cell, whose source is not sent, assigns."""

    cell_id: str
    cell_type: str
    source: str
    outputs: tuple[Output, ...] = ()
    execution_count: Union[int, None] = None
    tags: tuple[str, ...] = ()
    assigns: tuple[str, ...] = ()


class Snapshot(msgspec.Struct, frozen=True):
    """The notebook as it stands: cells in order, and the active cell's id. ``gone_to`` is the
    same where the person has gone there since the agent's last work, else ""."""

    path: str
    cells: tuple[CellView, ...] = ()
    active_cell_id: str = ""
    gone_to: str = ""

    def cell(self, cell_id: str) -> CellView | None:
        return next((cell for cell in self.cells if cell.cell_id == cell_id), None)

    def with_cell(self, cell_id: str, cell: CellView | None, above: Sequence[str]) -> Snapshot:
        """With this cell as it is now, or without it. One that was not seen before goes below
        the first of ``above`` that was, else to the end."""
        ids = [seen.cell_id for seen in self.cells]
        known = cell_id in ids
        at = ids.index(cell_id) if known else len(ids)
        if not known:
            at = next((ids.index(one) + 1 for one in above if one in ids), at)
        now = (cell,) if cell is not None else ()
        cells = (*self.cells[:at], *now, *self.cells[at + known :])
        return msgspec.structs.replace(self, cells=cells)


# --- sources -------------------------------------------------------------------------


def normalise(source: str) -> str:
    """Line ends as CodeMirror keeps them. Raises ValueError on NUL and lone surrogates."""
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise ValueError("the source contains a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the source contains half of a surrogate pair") from None
    return text


def digest(source: str) -> str:
    """SHA-256 of its UTF-8, in hexadecimal: names a source without repeating it."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


# --- apply: the reference ------------------------------------------------------------


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
