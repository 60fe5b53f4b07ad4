"""Rows of the tables that a cell made or changed, and how many values are missing. This file's text
runs **in the kernel**.

Values of unknown types are never compared or printed. Standard library only.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from ..variables import is_one_of

ROWS = 10_000
"""Rows that are read; of a larger table, every so many."""
LEAST = 20
"""Rows. A smaller table is printed as a whole where it matters."""
MOST_TABLES = 3
MOST_COLUMNS = 20


def profiles(
    found: list[dict[str, Any]], after: dict[str, Any], namespace: dict[str, Any], deadline: float
) -> list[dict[str, Any]]:
    """Of the tables that are new or changed. ``found`` are the changes."""
    pandas = sys.modules.get("pandas")
    told: list[dict[str, Any]] = []
    for change in found:
        name = change["name"]
        value: Any = namespace.get(name) if name in after else None
        if pandas is None or not is_one_of(type(value), pandas, ("DataFrame",)):
            continue
        if len(value) < LEAST:
            continue
        if time.thread_time() > deadline or len(told) == MOST_TABLES:
            break
        told.append(profile(name, value, deadline))
    return told


def profile(name: str, frame: Any, deadline: float) -> dict[str, Any]:
    """``missing``: of columns that have gaps, the share of the rows that are read."""
    rows = len(frame)
    part = frame.iloc[:: -(-rows // ROWS) or 1]
    missing = []
    for position, label in enumerate(frame.columns[:MOST_COLUMNS].tolist()):
        if time.thread_time() > deadline:
            break
        gaps = int(part.iloc[:, position].isna().sum()) if type(label) is str else 0
        if gaps:
            missing.append([label[:60], gaps / len(part)])
    return {"name": name, "rows": rows, "sampled": len(part) < rows, "missing": missing}
