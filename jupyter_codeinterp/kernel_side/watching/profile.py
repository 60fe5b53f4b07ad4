"""A few figures of each column of a table that a cell made or changed. This file's text runs **in
the kernel**.

Values of unknown types are never compared or printed: of a column of objects, only texts count.
Standard library only.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from typing import Any

from ..variables import is_one_of
from .changes import SAMPLES

SECONDS = 0.02
"""For all tables of a cell."""
ROWS = 10_000
"""Rows that are read; of a larger table, every so many."""
LEAST = 20
"""Rows. A smaller table is printed as a whole where it matters."""
MOST_TABLES = 3
MOST_COLUMNS = 8
TOP = 2


def profiles(
    found: list[dict[str, Any]],
    before: dict[str, Any],
    after: dict[str, Any],
    namespace: dict[str, Any],
) -> list[dict[str, Any]]:
    """Of the tables that are new or changed. ``found`` are the changes. A table that only has
    another name is not new."""
    pandas = sys.modules.get("pandas")
    known = [was["parts"] for was in before.values() if type(was["parts"]) is dict]
    deadline = time.perf_counter() + SECONDS
    told: list[dict[str, Any]] = []
    for change in found:
        name = change["name"]
        if pandas is None or name not in after or name not in namespace:
            continue
        value, parts = namespace[name], after[name]["parts"]
        is_table = is_one_of(type(value), pandas, ("DataFrame",))
        if not is_table or len(value) < LEAST or parts in known or time.perf_counter() > deadline:
            continue
        known.append(parts)
        told.append(profile(name, value, deadline))
        if len(told) == MOST_TABLES:
            break
    return told


def profile(name: str, frame: Any, deadline: float) -> dict[str, Any]:
    rows = len(frame)
    part = frame.iloc[:: max(1, math.ceil(rows / ROWS))]
    columns = []
    for position, label in enumerate(frame.columns[:MOST_COLUMNS].tolist()):
        if type(label) is str and len(label) <= SAMPLES * 2:
            if time.perf_counter() > deadline:
                break
            columns.append(dict(of_column(part.iloc[:, position]), name=label))
    return {"name": name, "rows": rows, "sampled": len(part) < rows, "columns": columns}


def of_column(series: Any) -> dict[str, Any]:
    """``missing`` is a share; numbers and dates have ``low``, ``middle`` and ``high``, texts the
    most frequent ones with their shares."""
    kind, size = series.dtype.kind, max(1, len(series))
    if kind == "O" or series.dtype.name in ("str", "string"):
        values = series.tolist()
        texts = Counter(value[:60] for value in values if type(value) is str)
        if not texts:
            return {"missing": 0.0}
        top = [[text, count / size] for text, count in texts.most_common(TOP)]
        gone = sum(1 for value in values if value is None or is_nan(value))
        return {"missing": gone / size, "top": top, "distinct": len(texts)}
    missing = float(series.isna().sum()) / size
    known = series.dropna()
    if kind not in "iufM" or not len(known):
        return {"missing": missing}
    three = (known.min(), known.median(), known.max())
    low, middle, high = (shortly(value, kind) for value in three)
    return {"missing": missing, "low": low, "middle": middle, "high": high}


def is_nan(value: Any) -> bool:
    return type(value) is float and value != value


def shortly(value: Any, kind: str) -> str:
    return str(value)[:10] if kind == "M" else f"{float(value):.4g}"
