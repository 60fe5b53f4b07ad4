"""What the model has been told of the notebook, and what it must be told next.

In full once; afterwards only what changed since, whoever changed it, save the model
itself. One object a conversation: a new conversation is told everything anew.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any, Union

import msgspec

from ..document.ops import CellView, Output, Snapshot
from ..ports import KernelInfo
from .notebook_prompt import (
    Item,
    bounded,
    cells,
    file_lines,
    first_line,
    is_private,
    kernel_text,
    one_line,
    outputs_text,
    tag,
    variable_lines,
)

FIRST_LIMIT = 12_000
"""Characters of the first description: some 3,000 tokens."""
LATER_LIMIT = 4_000
"""Characters of each later one."""

MOST_RERUNS = 20
"""Cells whose new outputs are told, a line each."""

BRANCHED = (
    "[The person went back to this point of the conversation and goes on another way. What came "
    "after it the first time is not in this conversation: variables in the kernel, files, and "
    "cells that stand in the notebook may come of it.]"
)

_ESCAPED = "[In the text below <\\ stands for < where a tag could be mistaken for one of these.]"


class Told(msgspec.Struct, frozen=True):
    """A cell as the model knows it. ``source`` is "" for a private cell.

    ``whole``: the model has seen all of the source. ``outputs`` is their mark, None where
    the agent has run the cell since: the next description takes them as known.
    """

    source: str
    whole: bool = False
    outputs: Union[str, None] = None
    cell_type: str = ""
    private: bool = False


class State(msgspec.Struct):
    """All that a ``Context`` keeps; goes through JSON and back unchanged."""

    begun: bool = False
    cells: dict[str, Told] = {}
    order: list[str] = []
    active: str = ""
    files: dict[str, int] = {}
    kernel: Union[KernelInfo, None] = None
    variables: dict[str, str] = {}


class Context:
    def __init__(self, state: State | None = None, scrub: Callable[[str], str] = str) -> None:
        """``scrub`` takes keys out of what is told. (What is remembered is compared only.)"""
        self.state = state or State()
        self.scrub = scrub
        self.wishes = ""
        """What the model was told of the person's files of wishes."""

    # --- what the model learns elsewhere ---------------------------------------------

    def noted(self, cell_id: str, source: str | None) -> None:
        """The agent itself has given the cell this source (None: has deleted it)."""
        if source is None:
            self.state.cells.pop(cell_id, None)
        else:
            self.state.cells[cell_id] = Told(source, whole=True)

    def seen(self, cell: CellView) -> None:
        """A tool result has shown this cell to the model. (Never a private one.)"""
        if not is_private(cell):
            self.state.cells[cell.cell_id] = _told(cell, True)

    def seen_source(self, cell_id: str, source: str) -> None:
        """A tool result has shown this source of the cell to the model."""
        known = self.state.cells.get(cell_id, Told(source))
        self.state.cells[cell_id] = msgspec.structs.replace(known, source=source, whole=True)

    def source_seen(self, cell_id: str) -> str | None:
        """The source that the model last saw of the cell; None if it never saw all of it."""
        told = self.state.cells.get(cell_id)
        return told.source if told is not None and told.whole and not told.private else None

    # --- what it must be told --------------------------------------------------------

    def describe(
        self,
        snapshot: Snapshot,
        files: list[tuple[str, int]],
        kernel: KernelInfo | None,
        variables: list[dict[str, Any]] | None,
        own_cells: set[str],
    ) -> str:
        """Everything the first time, then what changed; "" if nothing did.

        ``files`` are names and sizes (bytes) in the notebook's folder; ``variables`` None
        where they cannot be read; ``own_cells`` are the agent's.
        """
        own_name = PurePosixPath(snapshot.path).name  # its size changes with every save
        known = {name: size for name, size in files if name != own_name}
        lines = None if variables is None else variable_lines(variables, self.scrub)
        if self.state.begun:
            text, whole = self._changes(snapshot, known, kernel, lines, own_cells)
        else:
            text, whole = self._everything(snapshot, known, kernel, lines, own_cells)
        self._remember(snapshot, known, kernel, lines, whole)
        text = self.scrub(text)
        return f"{_ESCAPED}\n{text}" if "<\\" in text else text

    def _remember(
        self,
        snapshot: Snapshot,
        files: dict[str, int],
        kernel: KernelInfo | None,
        variables: dict[str, str] | None,
        whole: set[str],
    ) -> None:
        known = self.state.cells
        if variables is None:
            variables = {} if _restarted(self.state.kernel, kernel) else self.state.variables
        self.state = State(
            begun=True,
            cells={
                cell.cell_id: _told(cell, cell.cell_id in whole or _still_whole(cell, known))
                for cell in snapshot.cells
            },
            order=[cell.cell_id for cell in snapshot.cells],
            active=snapshot.active_cell_id,
            files=files,
            kernel=kernel,
            variables=variables,
        )

    def _everything(
        self,
        snapshot: Snapshot,
        files: dict[str, int],
        kernel: KernelInfo | None,
        variables: dict[str, str] | None,
        own: set[str],
    ) -> tuple[str, set[str]]:
        parts = [kernel_text(kernel)]
        if files:
            parts.append(
                tag(
                    "files",
                    bounded(file_lines(files.items(), self.scrub), 3_000, "files", len(files)),
                )
            )
        if variables:
            lines = bounded(
                list(variables.values()), 2_500, "variables; inspect_variables has them"
            )
            parts.append(tag("variables", lines))
        elif variables is None and kernel is not None:
            parts.append(tag("variables", "not available"))
        room = FIRST_LIMIT - sum(len(part) + 1 for part in parts) - 500
        items = [Item(cell) for cell in snapshot.cells]
        shown, whole = cells(items, own, snapshot.active_cell_id, room, self.scrub)
        body = "\n".join(shown) or "The notebook is empty."
        parts.append(tag("cells", body, count=str(len(items)), active=snapshot.active_cell_id))
        return tag("context", "\n".join(parts), notebook=snapshot.path), whole

    def _changes(
        self,
        snapshot: Snapshot,
        files: dict[str, int],
        kernel: KernelInfo | None,
        variables: dict[str, str] | None,
        own: set[str],
    ) -> tuple[str, set[str]]:
        state = self.state
        parts = [
            *_kernel_changes(state.kernel, kernel),
            *self._order_changes(snapshot),
            *_file_changes(state.files, files, self.scrub),
        ]
        if variables is not None:
            before = {} if _restarted(state.kernel, kernel) else state.variables
            parts += _variable_changes(before, variables)
        items, reruns = self._cell_changes(snapshot)
        room = LATER_LIMIT - sum(len(part) + 1 for part in parts) - 150
        if reruns:
            lines = [_rerun(cell, self.scrub) for cell in reruns[:MOST_RERUNS]]
            share = room // 3 if items else room
            summaries = bounded(lines, share, "cells with new outputs", len(reruns))
            parts.append(summaries)
            room -= len(summaries) + 1
        shown, whole = cells(items, own, snapshot.active_cell_id, room, self.scrub)
        parts += shown
        return tag("changes", "\n".join(parts)) if parts else "", whole

    def _order_changes(self, snapshot: Snapshot) -> list[str]:
        """Cells that are gone or have moved, and the active cell if it is another."""
        parts = []
        now = [cell.cell_id for cell in snapshot.cells]
        above = dict(zip(now[1:], now, strict=False))
        there = set(now)
        removed = [one_line(cell_id) for cell_id in self.state.cells if cell_id not in there]
        if removed:
            parts.append(
                tag(
                    "removed",
                    bounded(removed, 400, "cells"),
                )
            )
        moved = [
            f"{one_line(cell_id)} now after {one_line(above[cell_id])}"
            if cell_id in above
            else f"{one_line(cell_id)} now first"
            for cell_id in _moved(self.state.order, now)
        ]
        if moved:
            parts.append(tag("moved", bounded(moved, 400, "cells")))
        active = snapshot.active_cell_id
        if active and active != self.state.active:
            parts.append(tag("active", one_line(active)))
        return parts

    def _cell_changes(self, snapshot: Snapshot) -> tuple[list[Item], list[CellView]]:
        """Cells to show again, and those of which only the outputs have changed."""
        items: list[Item] = []
        reruns: list[CellView] = []
        above = ""
        for cell in snapshot.cells:
            told = self.state.cells.get(cell.cell_id)
            if told is None:
                items.append(
                    Item(cell, (("change", "added"), ("after", above or "nothing: first")))
                )
            elif told.private != is_private(cell):
                change = "private now" if is_private(cell) else "no longer private"
                items.append(Item(cell, (("change", change),)))
            elif told.private:
                pass
            elif told.source != cell.source or told.cell_type not in ("", cell.cell_type):
                items.append(Item(cell, (("change", "edited"),)))
            elif cell.cell_id == snapshot.active_cell_id != self.state.active and not told.whole:
                items.append(Item(cell))
            elif told.outputs not in (None, _mark(cell.outputs)):
                reruns.append(cell)
            above = cell.cell_id
        return items, reruns


# --- what changed --------------------------------------------------------------------


def _kernel_changes(old: KernelInfo | None, new: KernelInfo | None) -> list[str]:
    if not _restarted(old, new):
        return []
    if old is None or new is None:
        return [kernel_text(new)]
    if old.kernel_id != new.kernel_id:
        words = f"another kernel ({new.language} {new.language_version}): variables are its own"
    else:
        words = "was restarted: all variables are gone"
    return [tag("kernel", one_line(words))]


def _restarted(old: KernelInfo | None, new: KernelInfo | None) -> bool:
    """Whether variables that were there are there no more."""
    return _start(old) != _start(new)


def _start(kernel: KernelInfo | None) -> tuple[str, int] | None:
    return None if kernel is None else (kernel.kernel_id, kernel.start)


def _file_changes(
    old: dict[str, int], new: dict[str, int], scrub: Callable[[str], str]
) -> list[str]:
    changed = [(name, size) for name, size in new.items() if old.get(name) != size]
    gone = [f"{one_line(scrub(name))} is gone" for name in old if name not in new]
    lines = [*file_lines(changed, scrub), *gone]
    total = len(changed) + len(gone)
    return [tag("files", bounded(lines, 800, "files", total))] if lines else []


def _variable_changes(old: dict[str, str], new: dict[str, str]) -> list[str]:
    changed = [line for name, line in new.items() if old.get(name) != line]
    gone = [f"{one_line(name)} is gone" for name in old if name not in new]
    lines = [*changed, *gone]
    return [tag("variables", bounded(lines, 1_000, "variables"))] if lines else []


def _rerun(cell: CellView, scrub: Callable[[str], str]) -> str:
    words = first_line(outputs_text(cell.outputs, scrub)) or "none"
    return tag("outputs", words, cell=cell.cell_id, change="new")


def _moved(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The fewest cells whose move explains the new order: those off the longest rise."""
    place = {cell_id: index for index, cell_id in enumerate(old)}
    common = [cell_id for cell_id in new if cell_id in place]
    ends: list[int] = []  # last place of the best rise of each length
    at: list[int] = []  # which cell that is, as an index of ``common``
    before: list[int] = []
    for index, cell_id in enumerate(common):
        length = bisect.bisect_left(ends, place[cell_id])
        before.append(at[length - 1] if length else -1)
        ends[length : length + 1] = [place[cell_id]]
        at[length : length + 1] = [index]
    steady: set[str] = set()
    index = at[-1] if at else -1
    while index >= 0:
        steady.add(common[index])
        index = before[index]
    return [cell_id for cell_id in common if cell_id not in steady]


def _told(cell: CellView, whole: bool) -> Told:
    if is_private(cell):
        return Told("", cell_type=cell.cell_type, private=True)
    return Told(cell.source, whole, _mark(cell.outputs), cell.cell_type)


def _still_whole(cell: CellView, known: dict[str, Told]) -> bool:
    told = known.get(cell.cell_id)
    return told is not None and told.whole and told.source == cell.source


def _mark(outputs: Iterable[Output]) -> str:
    """Equal for equal outputs, whatever the execution count."""
    lasting = [
        {k: v for k, v in output.items() if k not in ("execution_count", "transient")}
        for output in outputs
    ]
    return hashlib.blake2b(msgspec.json.encode(lasting), digest_size=12).hexdigest()
