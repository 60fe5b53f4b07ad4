"""A conversation as a record of Agent Trace 0.1: which lines of the notebook's file it wrote.

The format: https://github.com/cursor/agent-trace. It counts lines of the file from 1, so the file's
JSON is read with its positions.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import Any, Literal, NamedTuple

from ..commands import SessionInfo
from ..document.ops import Insert, SetSource, joined
from ..errors import CommandError
from ..events import Event, TurnStarted
from ..history.transcript import Card, turns
from ..stores import StoredOp

VERSION = "0.1"
_SPACE = " \t\n\r"
_decoder = json.JSONDecoder()


class _Author(NamedTuple):
    kind: Literal["ai", "mixed"]
    model: str


class _Lines(NamedTuple):
    """The lines of a cell's source in the file, and the source. Both ends belong to it."""

    cell_id: str
    source: str
    first: int
    last: int


def agent_trace(
    info: SessionInfo,
    events: Iterable[Event],
    ops: Iterable[StoredOp],
    file: str,
    path: str,
    version: str,
) -> str:
    """The record as one line of JSON. ``file``: the text of the notebook's file now; ``path``: how
    the record names it; ``version``: ours.

    Cells that the agent wrote and no one changed are its own (``ai``). Cells that it shares with a
    person are ``mixed``: whoever of them wrote first. Other cells are left out. Raises
    CommandError ``not_a_notebook`` for a file that is no JSON of a notebook.
    """
    authors = _Authors(events, ops)
    by_author: dict[_Author, list[dict[str, Any]]] = {}
    for lines in _cells(file):
        author = authors.of(lines.cell_id, lines.source)
        if author is not None and lines.source:
            digest = hashlib.sha256(lines.source.encode("utf-8", "replace")).hexdigest()
            part = {"start_line": lines.first, "end_line": lines.last}
            by_author.setdefault(author, []).append({**part, "content_hash": f"sha256:{digest}"})
    conversations = [
        {"contributor": {"type": author.kind, "model_id": _model_id(author.model)}, "ranges": found}
        for author, found in by_author.items()
    ]
    seed = f"{info.session_id} {hashlib.sha256(file.encode('utf-8', 'replace')).hexdigest()}"
    record = {
        "version": VERSION,
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, seed)),
        "timestamp": datetime.fromtimestamp(info.changed, timezone.utc).isoformat(),
        "tool": {"name": "jupyter_codeinterp", "version": version},
        "files": [{"path": path, "conversations": conversations}] if conversations else [],
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def _model_id(model: str) -> str:
    return (model if "/" in model else f"anthropic/{model}")[:250]


class _Authors:
    """Who wrote a cell, by what it contains: an undone change needs no special case."""

    def __init__(self, events: Iterable[Event], ops: Iterable[StoredOp]) -> None:
        found = list(events)
        models = {event.turn: event.model for event in found if isinstance(event, TurnStarted)}
        shared = {
            item.done.cell_id
            for turn in turns(found)
            for step in turn.steps
            for item in step.items
            if isinstance(item, Card) and item.edited and item.done is not None
        }
        self._wrote: dict[tuple[str, str], _Author] = {}
        self._added: dict[str, _Author] = {}
        for stored in ops:
            op, receipt = stored.op, stored.receipt
            if stored.turn <= 0 or receipt is None or receipt.status != "done":
                continue
            if isinstance(op, (Insert, SetSource)):
                both = op.cell_id in shared or not (
                    isinstance(op, Insert) or op.cell_id in self._added
                )
                author = _Author("mixed" if both else "ai", models.get(stored.turn, ""))
                self._wrote[op.cell_id, op.source] = author
                if isinstance(op, Insert) or op.cell_id in self._added:
                    self._added[op.cell_id] = author._replace(kind="mixed")

    def of(self, cell_id: str, source: str) -> _Author | None:
        """A cell that the agent added and somebody changed is shared."""
        return self._wrote.get((cell_id, source)) or self._added.get(cell_id)


# --- positions in JSON --------------------------------------------------------------------


def _cells(file: str) -> Iterator[_Lines]:
    try:
        found = [
            _cell(file, start)
            for name, cells, _ in _members(file, _skip(file, 0))
            if name == "cells"
            for start, _ in _items(file, cells)
        ]
    except (ValueError, IndexError, RecursionError):
        words = "Only a notebook that is saved as .ipynb can be traced by its lines."
        raise CommandError("not_a_notebook", words) from None
    line, at = 1, 0
    for cell_id, source, start, end in found:
        line += file.count("\n", at, start)
        last = line + file.count("\n", start, end)
        yield _Lines(cell_id, source, line, last)
        line, at = last, end


def _cell(file: str, start: int) -> tuple[str, str, int, int]:
    """Its id, its source, and where the lines of the source begin and end."""
    cell_id, source, begin, end = "", "", start, start
    for name, first, after in _members(file, start):
        if name == "id":
            cell_id = str(_decoder.raw_decode(file, first)[0])
        elif name == "source":
            source, begin, end = joined(_decoder.raw_decode(file, first)[0]), first, after
            parts = list(_items(file, first)) if file[first] == "[" else []
            if parts:
                begin, end = parts[0][0], parts[-1][1]
    return cell_id, source, begin, end


def _members(file: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The names of an object, and where their values begin and end. Raises ValueError."""
    if file[start] != "{":
        raise ValueError("no object")
    at = _skip(file, start + 1)
    while file[at] != "}":
        name, at = _decoder.raw_decode(file, at)
        first = _skip(file, _after(file, _skip(file, at), ":"))
        _, end = _decoder.raw_decode(file, first)
        yield name, first, end
        at = _next(file, end, "}")


def _items(file: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the items of an array begin and end. Raises ValueError."""
    if file[start] != "[":
        raise ValueError("no array")
    at = _skip(file, start + 1)
    while file[at] != "]":
        _, end = _decoder.raw_decode(file, at)
        yield at, end
        at = _next(file, end, "]")


def _next(file: str, end: int, closing: str) -> int:
    at = _skip(file, end)
    return at if file[at] == closing else _skip(file, _after(file, at, ","))


def _after(file: str, at: int, sign: str) -> int:
    if file[at] != sign:
        raise ValueError(f"no {sign}")
    return at + 1


def _skip(file: str, at: int) -> int:
    while file[at] in _SPACE:
        at += 1
    return at
