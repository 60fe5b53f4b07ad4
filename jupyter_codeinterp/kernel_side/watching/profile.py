"""Oddities in the columns of tables that a cell made or changed. This file's text runs **in the
kernel**.

Every count is of all rows; columns that take too long are skipped. Values of unknown types are
never compared or printed. Standard library only.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

from ..variables import is_one_of, key_text
from .changes import numbers
from .values import NUMBER, SAMPLE, is_missing, is_text, sample

ROWS = 200_000
"""Larger tables are skipped."""
LEAST = 20
"""Rows. Smaller tables are skipped: a cell can print them whole."""
MOST_TABLES = 3
MOST_COLUMNS = 60
MOST_FACTS = 12
"""Facts of one table."""


def profiles(
    found: list[dict[str, Any]],
    after: dict[str, Any],
    namespace: dict[str, Any],
    deadline: float,
    loops: frozenset[str] = frozenset(),
) -> list[dict[str, Any]]:
    """Oddities of new and changed tables, except loop variables. ``found``: the changes. Of a
    changed table only new columns count."""
    pandas = sys.modules.get("pandas")
    listed: list[dict[str, Any]] = []
    for change in found:
        name = change["name"]
        value: Any = namespace.get(name) if name in after and name not in loops else None
        if pandas is None or not is_one_of(type(value), pandas, ("DataFrame",)):
            continue
        if not LEAST <= len(value) <= ROWS:
            continue
        if time.thread_time() > deadline or len(listed) == MOST_TABLES:
            break
        facts = list(odd(value, change.get("new_columns"), deadline))[:MOST_FACTS]
        if facts and all((len(value), facts) != (one["rows"], one["odd"]) for one in listed):
            listed.append({"name": name, "rows": len(value), "odd": facts})
    return listed


def odd(frame: Any, new: list[str] | None, deadline: float) -> Iterator[list[Any]]:
    """Each ``[column, kind, count, example]``. ``new``: the columns that count, None for all."""
    labels = frame.columns[:MOST_COLUMNS].tolist()
    before: dict[Any, tuple[str, Any]] = {}
    for place, label in enumerate(labels):
        if type(label) is not str or (new is not None and key_text(label) not in new):
            continue
        if time.thread_time() > deadline:
            return
        if label != label.strip():
            yield [label[:60], "blanks", 0, ""]
        values = frame.iloc[:, place]
        gaps = int(values.isna().sum())
        if gaps:
            yield [label[:60], "missing", gaps, ""]
        if is_text(values):
            yield from odd_texts(label, values)
        elif getattr(values.dtype, "kind", "") in "iufb":
            yield from odd_numbers(label, values, before)


def odd_texts(label: str, values: Any) -> Iterator[list[Any]]:
    """Numbers stored as text, and a text that all rows share."""
    few = [value for value in sample(values)[:SAMPLE] if not is_missing(value)]
    if not few or not all(type(value) is str for value in few):
        return
    if all(map(NUMBER.fullmatch, few)):
        yield [label[:60], "text", 0, few[0][:40]]
    elif len(set(few)) == 1 and len(few) == len(values):
        yield [label[:60], "constant", 0, few[0][:40]]


def odd_numbers(label: str, values: Any, before: dict[Any, Any]) -> Iterator[list[Any]]:
    """Infinities, constant columns, and columns equal to an earlier one."""
    array = values.to_numpy()
    if array.dtype.kind == "f":
        infinite = int(sys.modules["numpy"].isinf(array).sum())
        if infinite:
            yield [label[:60], "infinite", infinite, ""]
    if array.dtype.kind not in "iufb":
        return
    if (array == array[0]).all():
        yield [label[:60], "constant", 0, str(array[0].item())[:40]]
        return
    same, other = before.setdefault(numbers(array), (label, array))
    if same != label and bool((array == other).all()):
        yield [label[:60], "equal", 0, same[:60]]
