"""A turn's changes for review: source before and after, and state, by cell. Bounded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Union

import msgspec

from ..events import FileLeft
from .changes import Change

MOST_CELLS = 200
MOST_ABOVE = 50
MOST_SOURCE = 20_000
"""Characters of one source."""

State = Literal["open", "undone", "kept"]


class Reviewed(msgspec.Struct, frozen=True):
    """``before`` is None for an added cell, ``after`` for a removed one. ``outputs``: whether an
    undo restores outputs. ``cut``: whether a long source is cut. ``undoable``: whether the
    earlier state is known. ``above`` are the ids above it without the turn, nearest first.
    """

    cell_id: str
    kind: Literal["added", "edited", "removed"]
    cell_type: str
    before: Union[str, None]
    after: Union[str, None]
    outputs: bool
    undoable: bool
    state: State
    cut: bool = False
    above: tuple[str, ...] = ()


class FilesOffer(msgspec.Struct, frozen=True):
    """Files that an undo, or a redo, can bring back, and those that it would leave, each with the
    reason; ``more`` counts those not named."""

    files: tuple[str, ...] = ()
    left: tuple[FileLeft, ...] = ()
    more: int = 0


class TurnFiles(msgspec.Struct, frozen=True):
    """``why`` neither an undo nor a redo can bring back a file; "" if it can."""

    undo: FilesOffer = FilesOffer()
    redo: FilesOffer = FilesOffer()
    why: str = ""


class Review(msgspec.Struct, frozen=True):
    """``left_out`` counts the cells not listed. ``files``: None where the kernel has no overlay.
    ``refused``: why this person can bring back none; then ``files`` is None."""

    turn: int
    changes: tuple[Reviewed, ...]
    left_out: int = 0
    files: Union[TurnFiles, None] = None
    refused: str = ""


def review(turn: int, changes: Iterable[Change], states: Mapping[str, State]) -> Review:
    every = tuple(change for change in changes if not change.was_replaced)
    shown = tuple(_reviewed(c, states.get(c.cell_id, "open")) for c in every[:MOST_CELLS])
    return Review(turn, shown, len(every) - len(shown))


def _reviewed(change: Change, state: State) -> Reviewed:
    was = change.before
    before = was["source"] if was is not None else None
    after = None if change.kind == "removed" else change.source
    sources = [source for source in (before, after) if source is not None]
    return Reviewed(
        cell_id=change.cell_id,
        kind="edited" if change.kind == "moved" else change.kind,
        cell_type=change.cell_type or (was["cell_type"] if was is not None else ""),
        before=before if before is None else before[:MOST_SOURCE],
        after=after if after is None else after[:MOST_SOURCE],
        outputs=change.had_outputs,
        undoable=change.undoable,
        state=state,
        cut=any(len(source) > MOST_SOURCE for source in sources),
        above=change.above[:MOST_ABOVE],
    )
