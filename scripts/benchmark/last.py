"""The last figures, kept in the repository: what each run is compared with."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from .figures import Kept

FILE = Path(__file__).with_name("last.json")
Groups = dict[str, list[Kept]]
"""The figures of each measurement, by its name."""


def read() -> Groups:
    if not FILE.exists():
        return {}
    groups = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: [_figure(row) for row in rows] for name, rows in groups.items()}


def write(groups: Groups) -> None:
    """A line a figure, so that a change of one is a change of one line."""
    parts = []
    for name, figures in groups.items():
        rows = ",\n".join(f"    {json.dumps(_row(figure))}" for figure in figures)
        parts.append(f"  {json.dumps(name)}: [\n{rows}\n  ]")
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _row(figure: Kept) -> dict[str, object]:
    row = asdict(figure)
    row["bounds"] = [(of, limit, _short(value)) for of, limit, value in figure.bounds]
    return {name: _short(value) for name, value in row.items()}


def _short(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def _figure(row: dict[str, object]) -> Kept:
    bounds = row.pop("bounds")
    assert isinstance(bounds, list)
    return Kept(**row, bounds=tuple(map(tuple, bounds)))  # type: ignore[arg-type]
