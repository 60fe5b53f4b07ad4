"""Changes to a notebook (ops) and the document's answers (receipts).

An op is one change of the notebook document, numbered per session. It is idempotent: a second
application changes nothing. ``apply.py`` is the reference implementation.

Cells are nbformat 4.5 dictionaries, addressed by ``id``, never by index.
"""

from __future__ import annotations

import hashlib
import math
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
    """The cell as ``Cell`` describes it. A field of the wrong type counts as absent; a list of
    lines becomes one source. Unknown fields stay."""
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
    """An nbformat text (a string or a list of lines) as one string; "" for anything else."""
    if isinstance(text, (list, tuple)):
        return "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""


def id_of(cell: Any) -> str:
    """The cell's id; "" if it is no string."""
    given = cell.get("id") if isinstance(cell, dict) else None
    return given if isinstance(given, str) else ""


MOST_OUTPUTS = 3_000_000
"""Characters of a cell's outputs in a receipt: a character takes up to six bytes, and a window's
message has at most 32 MB. ``MOST_BESIDE`` bounds the rest of the cell."""
MOST_BESIDE = 2_000_000
"""Characters of a cell without its outputs in a receipt, and of a source."""
_NUMBER = 4
"""Characters counted for a number, which takes up to 24 bytes."""


def fits(value: Any, most: int) -> bool:
    """Whether a JSON value has at most ``most`` characters."""
    return weight(value, most) <= most


def weight(value: Any, most: float = math.inf) -> int:
    """The characters of a JSON value; stops counting above ``most``."""
    found, waiting = 0, [value]
    while waiting and found <= most:
        one = waiting.pop()
        if isinstance(one, str):
            found += len(one)
        elif isinstance(one, dict):
            found += sum(map(len, one)) + len(one)
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple)):
            found += len(one)
            waiting.extend(one)
        else:
            found += _NUMBER
    return found


# --- ops -----------------------------------------------------------------------------


class Insert(msgspec.Struct, frozen=True, tag_field="op", tag="insert"):
    """Insert a cell. A draft is ``raw``: no run command runs it.

    The cell goes after the first cell of ``after`` that still exists, else to the end; to the
    top if ``after`` is empty.
    """

    cell_id: str
    cell_type: Literal["raw", "code", "markdown"]
    source: str
    after: tuple[str, ...]
    metadata: dict[str, Any] = {}


class SetSource(msgspec.Struct, frozen=True, tag_field="op", tag="set_source"):
    """Replace a cell's source if it is still ``expect`` (or already ``source``).

    ``cell_type`` changes the type in the same step, for an accepted Markdown draft.
    ``last_run``: unless None, the op conflicts if another run was the cell's last one.
    """

    cell_id: str
    source: str
    expect: str
    cell_type: Union[Literal["raw", "code", "markdown"], None] = None
    last_run: Union[str, None] = None


class BeginRun(msgspec.Struct, frozen=True, tag_field="op", tag="begin_run"):
    """Just before a run: compare the source, make it a code cell, clear outputs, show [*].

    Conflicts if ``digest`` differs from that of the cell's source. The document merges
    ``metadata`` (provenance; it grants nothing) into the cell's. ``trusted``: a person decided
    on this run, so its HTML and scripts show as in a cell that they run themselves; else the
    cell loses trust. ``tell``: the receipt has ``before``, because no earlier one did.
    ``last_run`` as in ``set_source``.
    """

    cell_id: str
    digest: str
    run_id: str
    metadata: dict[str, Any] = {}
    trusted: bool = False
    tell: bool = False
    last_run: Union[str, None] = None


class FinishRun(msgspec.Struct, frozen=True, tag_field="op", tag="finish_run"):
    """The end of a run: all outputs and the execution count (None if it never started).

    If the cell's current run is another one, the answer is ``done`` without a change.
    ``trusted`` as in ``begin_run``, or because nothing in the outputs can run (``passive``).
    ``kept``: the digest of the outputs if the journal has them. ``cut_off``: the server was
    killed before the end was confirmed. A cell with a count then stays as it is; without outputs
    and count in the op, the cell keeps its outputs and trust, and loses only [*].
    """

    cell_id: str
    run_id: str
    outputs: tuple[Output, ...]
    execution_count: Union[int, None]
    trusted: bool = False
    kept: str = ""
    cut_off: bool = False


class Delete(msgspec.Struct, frozen=True, tag_field="op", tag="delete"):
    """Delete a cell if its source is still ``expect``, or if it is an empty raw cell. A missing
    cell counts as done. ``last_run`` as in ``set_source``."""

    cell_id: str
    expect: str
    last_run: Union[str, None] = None


class Move(msgspec.Struct, frozen=True, tag_field="op", tag="move"):
    """Move a cell to where ``Insert`` would put it. The receipt's ``after`` has the ids of all
    cells before the move, from the top; () if unknown."""

    cell_id: str
    after: tuple[str, ...]


class Restore(msgspec.Struct, frozen=True, tag_field="op", tag="restore"):
    """Undo: give a cell the state it had before ops changed or deleted it.

    ``cell`` is the receipt's ``before``. ``expect`` is the source that the ops left; None if they
    deleted the cell, which then goes after the first of ``after`` that still exists, else to the
    top. Restores source, type, outputs, trust, count and our own metadata; other metadata stays.
    ``kept`` as in ``FinishRun``, for the outputs of ``cell``; ``last_run`` as in ``set_source``.
    ``tell``: the receipt has ``before``, which a redo restores.
    """

    cell_id: str
    cell: Cell
    expect: Union[str, None] = None
    after: tuple[str, ...] = ()
    kept: str = ""
    last_run: Union[str, None] = None
    tell: bool = False

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "cell", shaped(self.cell))


Op = Union[Insert, SetSource, BeginRun, FinishRun, Delete, Move, Restore]


class Receipt(msgspec.Struct, frozen=True):
    """The document's answer to an op.

    ``done``: the document shows the op when read back. ``source``: the cell's actual source, only
    with ``conflict``. ``before``: the cell before the op, which undo restores; ``after``: the ids
    above it, nearest first. Both come with a ``set_source`` or ``delete`` that changed something,
    and with a ``begin_run`` or ``restore`` that asks for them. ``left_out``: the outputs of
    ``before`` are too large for a message. ``outputs``: their digest if the journal keeps them
    apart.
    """

    status: Literal["done", "conflict", "missing", "refused", "pending"]
    source: str = ""
    reason: str = ""
    before: Union[Cell, None] = None
    after: tuple[str, ...] = ()
    left_out: bool = False
    outputs: str = ""

    def __post_init__(self) -> None:
        if self.before is not None:
            msgspec.structs.force_setattr(self, "before", shaped(self.before))


def called(place: int, count: int | None = None) -> str:
    """A cell's name for people and the model, ``cell 3 [7]``: its place from 1 at the top (0:
    unknown) and the count of its latest run."""
    at = f"cell {place}" if place else ""
    return f"{at} [{count}]".lstrip() if count is not None else at


class CellView(msgspec.Struct, frozen=True):
    """A cell in a snapshot. The sender bounds ``outputs``. ``assigns``: the variables that a
    private cell assigns, whose source is not sent. ``run_id``: the agent's run if it was the
    cell's last one, else ""."""

    cell_id: str
    cell_type: str
    source: str
    outputs: tuple[Output, ...] = ()
    execution_count: Union[int, None] = None
    tags: tuple[str, ...] = ()
    assigns: tuple[str, ...] = ()
    run_id: str = ""


class RanCode(CellView, frozen=True):
    """Code that the person ran in an unknown cell, which nothing can change."""


class Snapshot(msgspec.Struct, frozen=True):
    """The notebook's cells in order. ``gone_to``: the active cell if the person went there since
    the agent's last work, else ""; ``acted_in``: the cell where they last typed or ran something
    since."""

    path: str
    cells: tuple[CellView, ...] = ()
    active_cell_id: str = ""
    gone_to: str = ""
    acted_in: str = ""

    def cell(self, cell_id: str) -> CellView | None:
        return next((cell for cell in self.cells if cell.cell_id == cell_id), None)

    def with_cell(self, cell_id: str, cell: CellView | None, above: Sequence[str]) -> Snapshot:
        """Replace or remove one cell. A new one goes below the first of ``above`` that exists,
        else to the end."""
        ids = [seen.cell_id for seen in self.cells]
        known = cell_id in ids
        at = ids.index(cell_id) if known else len(ids)
        if not known:
            at = next((ids.index(one) + 1 for one in above if one in ids), at)
        now = (cell,) if cell is not None else ()
        cells = (*self.cells[:at], *now, *self.cells[at + known :])
        return msgspec.structs.replace(self, cells=cells)


def place_after(ids: Sequence[str], after: Sequence[str]) -> int:
    """The index below the first of ``after`` that exists, else the end; the top if ``after`` is
    empty. If several cells have this id, the index is below the last one."""
    if not after:
        return 0
    last = {one: place for place, one in enumerate(ids, 1)}
    return next((last[anchor] for anchor in after if anchor in last), len(ids))


def order_after(ids: Sequence[str], op: Op) -> tuple[str, ...]:
    """The ids of the cells in order after a confirmed op."""
    others = tuple(one for one in ids if one != op.cell_id)
    if isinstance(op, Delete):
        return others
    there = op.cell_id in ids
    if not isinstance(op, (Insert, Move, Restore)) or isinstance(op, Move) != there:
        return tuple(ids)
    place = place_after(others, op.after)
    return (*others[:place], op.cell_id, *others[place:])


def after_op(snapshot: Snapshot, op: Op) -> Snapshot:
    """The snapshot after a confirmed op, except ``Restore``."""
    known = snapshot.cell(op.cell_id)
    if isinstance(op, Insert) and known is None:
        cell = CellView(op.cell_id, op.cell_type, op.source)
        place = place_after([one.cell_id for one in snapshot.cells], op.after)
        cells = (*snapshot.cells[:place], cell, *snapshot.cells[place:])
        return msgspec.structs.replace(snapshot, cells=cells)
    if known is None or isinstance(op, (Insert, Restore)):
        return snapshot
    if isinstance(op, Delete):
        return snapshot.with_cell(op.cell_id, None, ())
    if isinstance(op, Move):
        others = tuple(cell for cell in snapshot.cells if cell is not known)
        place = place_after([cell.cell_id for cell in others], op.after)
        cells = (*others[:place], known, *others[place:])
        return msgspec.structs.replace(snapshot, cells=cells)
    if isinstance(op, SetSource):
        kind = op.cell_type or known.cell_type
        now = msgspec.structs.replace(known, source=op.source, cell_type=kind)
    elif isinstance(op, BeginRun):
        fresh = {"cell_type": "code", "outputs": (), "execution_count": None, "run_id": op.run_id}
        now = msgspec.structs.replace(known, **fresh)
    elif known.run_id == op.run_id:
        ended = {"outputs": op.outputs, "execution_count": op.execution_count}
        now = msgspec.structs.replace(known, **ended)
    else:
        return snapshot
    return snapshot.with_cell(op.cell_id, now, ())


# --- metadata ----------------------------------------------------------------------


def tags_of(cell: Cell) -> tuple[str, ...]:
    """The tags that are strings. A single string counts as a list of words, so that a cell wrongly
    tagged private is private."""
    tags = cell["metadata"].get("tags")
    if isinstance(tags, str):
        return tuple(tags.replace(",", " ").split())
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


def run_id_of(cell: Cell) -> str:
    """The id of the agent's last run in the cell's metadata; "" if none."""
    ours = cell["metadata"].get("codeinterp")
    run_id = ours.get("run_id") if isinstance(ours, dict) else None
    return run_id if isinstance(run_id, str) else ""


# --- sources -------------------------------------------------------------------------


def line_ends(source: str) -> str:
    """The source with the line ends that CodeMirror keeps."""
    return source.replace("\r\n", "\n").replace("\r", "\n")


def normalise(source: str) -> str:
    """``line_ends``; raises ValueError on NUL and lone surrogates."""
    text = line_ends(source)
    if "\0" in text:
        raise ValueError("the source contains a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the source contains half of a surrogate pair") from None
    return text


def digest(source: str) -> str:
    """The SHA-256 of the source's UTF-8, in hexadecimal."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
