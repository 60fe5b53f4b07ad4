"""Variables of the person that a run changed: a fact for the model."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding
from ..shared.check import Change, Check, SeenRun
from ..shared.reading import listed

NAME = "Changed variable"
HOW = {"removed": "deleted", "rebound": "replaced", "changed": "changed in place"}
MOST = 5


def read(run: SeenRun) -> Iterator[Finding]:
    changed = [one for one in run.changes if one.persons and one.how in HOW]
    for change in changed[:MOST]:
        words = f"The person's `{change.name}` was {HOW[change.how]}{_what(change)}."
        yield Finding(NAME, words, audience="model")


def _what(change: Change) -> str:
    parts = []
    if change.before and change.after and change.before != change.after:
        parts.append(f"{change.before} before, {change.after} now")
    for words, columns in (
        ("new columns", change.new_columns),
        ("other values in", change.changed_columns),
        ("without", change.lost_columns),
    ):
        if columns:
            parts.append(f"{words} {listed(columns[:MOST])}")
    return f": {'; '.join(parts)}" if parts else ""


CHECK = Check(NAME, after_run=read)
