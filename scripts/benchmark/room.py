"""Measures how long an op and a read block the event loop in a shared notebook of 1,000 cells."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from jupyter_ydoc import YNotebook

from jupyter_codeinterp.notebook.content import views
from jupyter_codeinterp.notebook.room.document import PART
from jupyter_codeinterp.notebook.room.shared import ORIGIN, SharedNotebook
from jupyter_codeinterp.wire.ops import BeginRun, Delete, FinishRun, Insert, Op, SetSource, digest
from tests.reference_window import notebook

from .figures import Bound, Figure

CELLS = 1000
ROUNDS = 20
READS = 5
OUT = {"output_type": "stream", "name": "stdout", "text": "a line of output\n" * 20}


def measure() -> list[Figure]:
    document = YNotebook()
    document.set(_notebook())
    shared = SharedNotebook(document, set())
    times = [
        _timed(document, partial(shared.apply, "s", seq, op)) for seq, op in enumerate(_ops(), 1)
    ]
    places = shared.places()
    parts = [places[start : start + PART] for start in range(0, len(places), PART)] * READS
    reads = [_timed(document, partial(_read, shared, part)) for part in parts]
    return [
        Figure("a room of 1,000 cells: applying an op", times, "ms", (Bound(50, "p99"),)),
        Figure("… reading it: a part of 50 cells", reads, "ms", (Bound(50, "p99"),)),
    ]


def _read(shared: SharedNotebook, places: list[int]) -> None:
    views({"cells": shared.read(places)})


def _ops() -> list[Op]:
    ops: list[Op] = []
    for number in range(ROUNDS):
        cell_id, source = f"n{number}", f"x = {number}\n" * 10
        near = f"c{1 + number * CELLS // ROUNDS}"
        ops += [
            Insert(cell_id, "raw", "", (near,)),
            SetSource(cell_id, source, ""),
            BeginRun(cell_id, digest(source), f"r{number}", trusted=True),
            FinishRun(cell_id, f"r{number}", (OUT,), number, trusted=True),
            SetSource(near, "x = 2", "x = 1\n" * 10),
            Delete(cell_id, source),
        ]
    return ops


def _timed(document: Any, work: Callable[[], object]) -> float:
    start = time.perf_counter()
    with document.ydoc.transaction(origin=ORIGIN):
        work()
    return (time.perf_counter() - start) * 1000


def _notebook() -> dict[str, Any]:
    book = notebook(*["x = 1\n" * 10] * CELLS)
    for cell in book["cells"]:
        cell["outputs"] = [OUT]
    return book
