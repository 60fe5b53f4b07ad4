"""Reads the kernel's report on a run. The report is untrusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

import msgspec

from ...findings import Place
from ...hooks import CellCode, CellOutputs
from .check import Change, Contract, Fact, Result, SeenRun
from .source import Source, parsed

MOST_FACTS = 60
MOST_CHANGES = 200
LONGEST = 200
"""Characters of a text in a report."""
MOST_VALUES = 20
"""Values of a list in a report."""


class _Fact(msgspec.Struct, frozen=True):
    """``at``: line, column, last line and its end, in bytes of UTF-8, as Python counts."""

    kind: str
    at: Union[tuple[int, int, int, int], None] = None
    figures: dict[str, Any] = {}


class _Report(msgspec.Struct, frozen=True):
    facts: list[_Fact] = []
    changes: list[Change] = []
    result: Union[Result, None] = None


def seen_run(
    cell: CellCode,
    outputs: CellOutputs,
    report: dict[str, Any],
    asked: str = "",
    is_private: Callable[[str], bool] = lambda name: False,
    contract: Contract | None = None,
) -> SeenRun:
    """The run with the kernel's report, without private variables."""
    facts, changes, result = read(report, parsed(cell.source))
    shown = tuple(change for change in changes if not is_private(change.name))
    known = tuple(fact for fact in facts if not is_private(str(fact.figures.get("name", ""))))
    if contract is None or is_private(contract.name or ""):
        result = None
    return SeenRun(cell, outputs, known, shown, asked, contract, result)


def read(
    report: dict[str, Any], source: Source | None
) -> tuple[list[Fact], list[Change], Result | None]:
    """The facts, the changes and the result; empty if the report is malformed."""
    try:
        told = msgspec.convert(report, _Report, strict=True)
    except (msgspec.ValidationError, RecursionError):
        return [], [], None
    facts = [_fact(fact, source) for fact in told.facts[:MOST_FACTS]]
    result = None if told.result is None else _result(told.result)
    return facts, [_change(change) for change in told.changes[:MOST_CHANGES]], result


def _result(result: Result) -> Result:
    kinds, missing = (
        tuple(map(_bounded, some[:MOST_VALUES])) for some in (result.kinds, result.missing or ())
    )
    return Result(kinds, result.rows, None if result.missing is None else missing)


def _fact(fact: _Fact, source: Source | None) -> Fact:
    place: Place | None = None
    if (
        fact.at is not None
        and source is not None
        and 0 < fact.at[0] <= fact.at[2] <= len(source.lines)
    ):
        place = source.place_of_bytes(*fact.at)
    figures = {name[:LONGEST]: _bounded(value) for name, value in fact.figures.items()}
    return Fact(fact.kind[:LONGEST], place, figures)


def _change(change: Change) -> Change:
    texts = (text[:LONGEST] for text in (change.name, change.how, change.before, change.after))
    name, how, before, after = texts
    return Change(name, how, change.persons, before, after)


def _bounded(value: Any) -> Any:
    """A number, a text or a list of both, cut; None for anything else."""
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, list):
        plain = [one for one in value[:MOST_VALUES] if isinstance(one, (str, int, float))]
        return [_bounded(one) for one in plain]
    return value if isinstance(value, (int, float)) else None
