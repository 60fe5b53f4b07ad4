"""Descriptions of the notebook for the model: in full once, then only changes by others.

Each conversation has its own ``Context``, so it begins with a full description.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Any, Union

import msgspec

from ..wire.ops import CellView, Output, Snapshot
from ..wire.ports import KernelInfo, KernelState
from .notebook_prompt import (
    BUSY,
    DEAD,
    PLACES,
    Item,
    Marks,
    bounded,
    cells,
    earlier,
    file_lines,
    is_private,
    kernel_text,
    one_line,
    outputs_text,
    packages_text,
    tag,
    variable_lines,
)

FIRST_LIMIT = 12_000
"""Characters of the first description: some 3,000 tokens."""
LATER_LIMIT = 4_000

MOST_RERUNS = 20
"""Cells whose new outputs a description lists, a line each."""

BRANCHED = (
    "[The person went back to this point of the conversation and continues differently. This "
    "conversation lacks the earlier continuation, but its variables, files and cells may "
    "remain.]"
)

_ESCAPED = "[In the text below <\\ means < where a tag could be mistaken for one of these.]"


class KnownCell(msgspec.Struct, frozen=True):
    """A cell as the model knows it. ``source`` is "" for a private cell.

    ``whole``: the model has seen all of the source. ``outputs`` is their digest; None after a
    run of the agent, whose outputs (``run_id``) the model has.
    """

    source: str
    whole: bool = False
    outputs: Union[str, None] = None
    cell_type: str = ""
    private: bool = False
    run_id: str = ""


class ContextState(msgspec.Struct):
    """The state of a ``Context``; survives JSON unchanged."""

    begun: bool = False
    cells: dict[str, KnownCell] = {}
    order: list[str] = []
    active: str = ""
    files: dict[str, int] = {}
    kernel: Union[KernelInfo, None] = None
    variables: dict[str, str] = {}


class _Now(msgspec.Struct):
    """The notebook and its kernel, as they are described. ``variables``: a line each, by name."""

    snapshot: Snapshot
    files: dict[str, int]
    kernel: Union[KernelInfo, None]
    variables: Union[dict[str, str], None]
    marks: Marks
    state: KernelState
    heads: Mapping[str, str]


class Context:
    def __init__(
        self, state: ContextState | None = None, scrub: Callable[[str], str] = str
    ) -> None:
        """``scrub`` removes keys from descriptions. (The state is only compared.)"""
        self.state = state or ContextState()
        self.scrub = scrub
        self.instructions = ""
        """The person's instruction files as sent to the model."""
        self.skills = ""
        """The list of skills as sent to the model."""

    # --- what the model learns elsewhere ---------------------------------------------

    def noted(self, cell_id: str, source: str | None, run_id: str = "") -> None:
        """The agent has set and run this source (None: deleted the cell)."""
        if source is None:
            self.state.cells.pop(cell_id, None)
        else:
            self.state.cells[cell_id] = KnownCell(source, whole=True, run_id=run_id)

    def moved(self, cell_id: str) -> None:
        """The agent has moved this cell; its result says where to."""
        self.state.order = [one for one in self.state.order if one != cell_id]

    def seen(self, cell: CellView) -> None:
        """A tool result has shown this cell to the model. (Never a private one.)"""
        if not is_private(cell):
            self.state.cells[cell.cell_id] = _known_cell(cell, True)

    def seen_source(self, cell_id: str, source: str) -> None:
        """A tool result has shown this source of the cell to the model."""
        known = self.state.cells.get(cell_id, KnownCell(source))
        self.state.cells[cell_id] = msgspec.structs.replace(known, source=source, whole=True)

    def source_seen(self, cell_id: str) -> str | None:
        """The cell's source as the model last saw it in full; else None."""
        known = self.state.cells.get(cell_id)
        return known.source if known is not None and known.whole and not known.private else None

    def knows(self, variables: list[dict[str, Any]], scrub: Callable[[str], str]) -> None:
        """Record the variables after the agent's runs, whose results the model has."""
        self.state.variables = variable_lines(variables, scrub)

    # --- descriptions ----------------------------------------------------------------

    def new_files(self, files: list[tuple[str, int]]) -> list[str]:
        """Names of files that are new to the model or have another size."""
        return [name for name, size in files if self.state.files.get(name) != size]

    def describe(
        self,
        snapshot: Snapshot,
        files: list[tuple[str, int]],
        kernel: KernelInfo | None,
        variables: list[dict[str, Any]] | None,
        own_cells: set[str],
        state: KernelState = KernelState(),  # noqa: B008, frozen
        heads: Mapping[str, str] | None = None,
    ) -> str:
        """Describe everything at first, then changes; "" if there are none.

        ``files`` are names and sizes (bytes) in the notebook's folder; ``variables`` is None
        if unreadable; ``own_cells`` are the agent's. ``heads`` is what tables among the files
        hold.
        """
        own_name = PurePosixPath(snapshot.path).name  # its size changes with every save
        known = {name: size for name, size in files if name != own_name}
        lines = None if variables is None else variable_lines(variables, self.scrub)
        marks = Marks(own_cells, snapshot.active_cell_id, earlier(snapshot.cells, state))
        now = _Now(snapshot, known, kernel, lines, marks, state, heads or {})
        text, whole = (self._changes if self.state.begun else self._everything)(now)
        self._remember(now, whole)
        return self._explained(text)

    def describe_acts(self, snapshot: Snapshot, own_cells: set[str]) -> str:
        """Describe the person's changes and runs during a turn; "" if there are none."""
        parts = self._order_changes(snapshot)
        marks = Marks(own_cells, snapshot.active_cell_id)
        room = LATER_LIMIT - _length(parts)
        more, whole = self._changed_cells(snapshot, marks, room)
        parts += more
        known = self.state.cells
        self.state.cells = _known_cells(snapshot, whole, known)
        self.state.order = [cell.cell_id for cell in snapshot.cells]
        return self._explained(tag("changes", "\n".join(parts), by="person") if parts else "")

    def _explained(self, text: str) -> str:
        text = self.scrub(text)
        return f"{_ESCAPED}\n{text}" if "<\\" in text else text

    def _remember(self, now: _Now, whole: set[str]) -> None:
        variables, cells = now.variables, now.snapshot.cells
        if variables is None:
            variables = {} if _restarted(self.state.kernel, now.kernel) else self.state.variables
        self.state = ContextState(
            begun=True,
            cells=_known_cells(now.snapshot, whole, self.state.cells),
            order=[cell.cell_id for cell in cells],
            active=now.snapshot.active_cell_id,
            files=now.files,
            kernel=now.kernel,
            variables=variables,
        )

    def _everything(self, now: _Now) -> tuple[str, set[str]]:
        snapshot, state = now.snapshot, now.state
        shows = any(cell.outputs for cell in snapshot.cells)
        parts = [kernel_text(now.kernel, state, shows), *packages_text(state.packages)]
        if now.files:
            told = file_lines(now.files.items(), self.scrub, now.heads)
            parts.append(tag("files", bounded(told, 4_000, "files", len(now.files))))
        if now.variables:
            more = "variables; inspect_variables lists them"
            lines = list(now.variables.values())
            parts.append(tag("variables", bounded(lines, 2_500, more)))
        elif now.variables is None and now.kernel is not None:
            parts.append(tag("variables", "not available"))
        room = FIRST_LIMIT - sum(len(part) + 1 for part in parts) - 500
        items = [Item(cell, place) for place, cell in enumerate(snapshot.cells, 1)]
        differ = any(item.cell.execution_count not in (None, item.place) for item in items)
        room -= len(PLACES)
        shown, whole = cells(items, now.marks, room, self.scrub)
        body = "\n".join([PLACES, *shown] if differ else shown) or "The notebook is empty."
        parts.append(tag("cells", body, count=str(len(items)), active=snapshot.active_cell_id))
        return tag("context", "\n".join(parts), notebook=snapshot.path), whole

    def _changes(self, now: _Now) -> tuple[str, set[str]]:
        before, snapshot = self.state, now.snapshot
        restarted = _restarted(before.kernel, now.kernel)
        active = snapshot.active_cell_id
        parts = [
            *_kernel_changes(before.kernel, now.kernel, now.state),
            *self._order_changes(snapshot),
            *([tag("active", one_line(active))] if active not in ("", before.active) else []),
            *(packages_text(now.state.packages) if restarted else []),
            *_file_changes(before.files, now.files, self.scrub, now.heads),
        ]
        if now.variables is not None:
            parts += _variable_changes({} if restarted else before.variables, now.variables)
        room = LATER_LIMIT - _length(parts)
        more, whole = self._changed_cells(snapshot, now.marks, room)
        parts += more
        return tag("changes", "\n".join(parts)) if parts else "", whole

    def _changed_cells(
        self,
        snapshot: Snapshot,
        marks: Marks,
        room: int,
    ) -> tuple[list[str], set[str]]:
        """Texts of new, edited and rerun cells within ``room`` characters, and the ids of those
        with their whole source."""
        items, reruns = self._cell_changes(snapshot)
        parts = []
        if reruns:
            lines = [_rerun(cell, self.scrub) for cell in reruns[:MOST_RERUNS]]
            share = room // 3 if items else room
            summaries = bounded(lines, share, "cells with new outputs", len(reruns))
            parts.append(summaries)
            room -= len(summaries) + 1
        shown, whole = cells(items, marks, room, self.scrub)
        return [*parts, *shown], whole

    def _order_changes(self, snapshot: Snapshot) -> list[str]:
        """Removed and moved cells."""
        parts = []
        now = [cell.cell_id for cell in snapshot.cells]
        above = dict(zip(now[1:], now, strict=False))
        there = set(now)
        removed = [one_line(cell_id) for cell_id in self.state.cells if cell_id not in there]
        if removed:
            parts.append(tag("removed", bounded(removed, 400, "cells")))
        moved = [
            f"{one_line(cell_id)} now after {one_line(above[cell_id])}"
            if cell_id in above
            else f"{one_line(cell_id)} now first"
            for cell_id in _moved(self.state.order, now)
        ]
        if moved:
            parts.append(tag("moved", bounded(moved, 400, "cells")))
        return parts

    def _cell_changes(self, snapshot: Snapshot) -> tuple[list[Item], list[CellView]]:
        """Cells to show again, and those with only new outputs."""
        items: list[Item] = []
        reruns: list[CellView] = []
        above = ""
        for place, cell in enumerate(snapshot.cells, 1):
            known = self.state.cells.get(cell.cell_id)
            if known is None:
                facts = (("change", "added"), ("after", above or "nothing: first"))
                items.append(Item(cell, place, facts))
            elif known.private != is_private(cell):
                change = "private now" if is_private(cell) else "no longer private"
                items.append(Item(cell, place, (("change", change),)))
            elif known.private:
                pass
            elif known.source != cell.source or known.cell_type not in ("", cell.cell_type):
                items.append(Item(cell, place, (("change", "edited"),)))
            elif cell.cell_id == snapshot.active_cell_id != self.state.active and not known.whole:
                items.append(Item(cell, place))
            elif _is_rerun(known, cell):
                reruns.append(cell)
            above = cell.cell_id
        return items, reruns


# --- what changed --------------------------------------------------------------------


def _kernel_changes(
    old: KernelInfo | None, new: KernelInfo | None, state: KernelState
) -> list[str]:
    if state.dead:
        return [tag("kernel", DEAD)]
    if old is None or new is None:
        return [kernel_text(new, state)] if old is not new else []
    words = [BUSY] if state.busy else []
    if old.kernel_id != new.kernel_id:
        named = one_line(f"{new.language} {new.language_version}")
        words.insert(0, f"another kernel ({named}) with its own variables")
    elif _restarted(old, new):
        words.insert(0, "was restarted: all variables are gone; shown outputs are from before")
    return [tag("kernel", "; ".join(words))] if words else []


def _restarted(old: KernelInfo | None, new: KernelInfo | None) -> bool:
    """Whether the earlier variables are gone."""
    if old is None or new is None:
        return old is not new
    return (old.kernel_id, old.start) != (new.kernel_id, new.start)


def _file_changes(
    old: dict[str, int],
    new: dict[str, int],
    scrub: Callable[[str], str],
    heads: Mapping[str, str],
) -> list[str]:
    changed = [(name, size) for name, size in new.items() if old.get(name) != size]
    gone = [f"{one_line(scrub(name))} is gone" for name in old if name not in new]
    lines = [*file_lines(changed, scrub, heads), *gone]
    total = len(changed) + len(gone)
    return [tag("files", bounded(lines, 1_200, "files", total))] if lines else []


def _variable_changes(old: dict[str, str], new: dict[str, str]) -> list[str]:
    changed = [line for name, line in new.items() if old.get(name) != line]
    gone = [f"{one_line(name)} is gone" for name in old if name not in new]
    lines = [*changed, *gone]
    return [tag("variables", bounded(lines, 1_000, "variables"))] if lines else []


def _length(parts: Sequence[str]) -> int:
    """Characters, including the lines around the parts."""
    return sum(len(part) + 1 for part in parts) + 150


def _known_cells(
    snapshot: Snapshot, whole: set[str], known: dict[str, KnownCell]
) -> dict[str, KnownCell]:
    """What the model knows of the cells after a description."""
    return {
        cell.cell_id: _known_cell(cell, cell.cell_id in whole or _still_whole(cell, known))
        for cell in snapshot.cells
    }


def _is_rerun(known: KnownCell, cell: CellView) -> bool:
    if known.outputs is None:
        return bool(known.run_id) and known.run_id != cell.run_id
    return known.outputs != _mark(cell.outputs)


def _rerun(cell: CellView, scrub: Callable[[str], str]) -> str:
    words = outputs_text(cell.outputs, scrub) or "none"
    return tag("outputs", words, cell=cell.cell_id, change="new", status=_status(cell))


def _status(cell: CellView) -> str:
    if any(output.get("output_type") == "error" for output in cell.outputs):
        return "error"
    return "ok" if cell.execution_count is not None else "running, or not run"


def _moved(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Cells whose move explains the new order: those outside the runs of cells that both share."""
    runs = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    steady = {cell_id for run in runs for cell_id in new[run.b : run.b + run.size]}
    others = {*old} - steady
    return [cell_id for cell_id in new if cell_id in others]


def _known_cell(cell: CellView, whole: bool) -> KnownCell:
    if is_private(cell):
        return KnownCell("", cell_type=cell.cell_type, private=True)
    return KnownCell(cell.source, whole, _mark(cell.outputs), cell.cell_type)


def _still_whole(cell: CellView, before: dict[str, KnownCell]) -> bool:
    cell_before = before.get(cell.cell_id)
    return cell_before is not None and cell_before.whole and cell_before.source == cell.source


def _mark(outputs: Iterable[Output]) -> str:
    """A digest of the outputs, without their execution counts."""
    lasting = [
        {k: v for k, v in output.items() if k not in ("execution_count", "transient")}
        for output in outputs
    ]
    return hashlib.blake2b(msgspec.json.encode(lasting), digest_size=12).hexdigest()
