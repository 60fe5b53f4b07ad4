"""What can be done to a notebook: ops, and receipts, which answer them.

An op is one change of the notebook document, numbered per session. It is idempotent:
applied twice, it changes nothing the second time. ``apply.py`` is the reference of what each does.

Cells are nbformat 4.5 dictionaries, addressed by ``id``, never by index.
"""

from __future__ import annotations

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
