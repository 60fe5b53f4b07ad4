"""From what the kernel tells of a rehearsal, which is untrusted, to what people and models read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..cells.collector import OUTPUT_TYPES, Collector, OutputLimits
from ..document.ops import Output
from ..events import Reach, RehearsedHow, VariableChange
from ..visible import visible_line
from . import endings

LIMITS = OutputLimits(text=20_000, more_text=500, output=1_000_000, run=2_000_000, outputs=50)
MOST_CHANGES = 20
MOST_REACHED = 10
LONGEST = 200
HOW: dict[str, str] = {"added": "new", "removed": "deleted", "rebound": "", "changed": "in place"}

Scrub = Callable[[str], str]


class Rehearsal(msgspec.Struct, frozen=True):
    """``words`` say why there is no result, or how it ended, where that needs words. Where they
    have a name that code or the kernel gave, ``own_words`` are the same without it."""

    how: RehearsedHow
    words: str = ""
    own_words: str = ""
    outputs: tuple[Output, ...] = ()
    changes: tuple[VariableChange, ...] = ()
    reached: tuple[Reach, ...] = ()
    seconds: float = 0.0


class _Change(msgspec.Struct):
    name: str
    how: str
    before: str = ""
    after: str = ""
    value: str = ""
    new_columns: list[str] = []
    changed_columns: list[str] = []
    lost_columns: list[str] = []


class _Reach(msgspec.Struct):
    what: str
    name: str


class _Answer(msgspec.Struct):
    """As ``kernel_side/forks/rehearse.py`` answers."""

    how: str
    messages: list[tuple[str, dict[str, Any]]] = []
    native: str = ""
    seconds: float = 0.0
    success: bool = False
    stopped: bool = False
    changes: list[_Change] = []
    reached: list[_Reach] = []


def no_rehearsal(code: str, detail: str = "", scrub: Scrub = str) -> Rehearsal:
    words = endings.refused(code, _line(detail, scrub))
    own = endings.refused(code, endings.WITHOUT_NAME)
    return Rehearsal("refused", words, own if detail and own != words else "")


def read(answer: dict[str, Any], limit: float, scrub: Scrub = str) -> Rehearsal:
    """``limit`` are the seconds that the code had."""
    if "refused" in answer:
        return no_rehearsal(str(answer["refused"]), str(answer.get("detail", "")), scrub)
    try:
        told = msgspec.convert(answer, _Answer)
    except (msgspec.ValidationError, RecursionError):
        return _unreadable()
    reached = tuple(
        Reach(one.what, _line(one.name, scrub))
        for one in told.reached[:MOST_REACHED]
        if one.what in endings.REACHES
    )
    how = _how(told)
    words, own = _words(how, reached, limit), _words(how, (), limit)
    try:
        outputs = _outputs(told, how)
    except (AttributeError, KeyError, TypeError, ValueError):
        return _unreadable()
    return Rehearsal(
        how,
        words,
        own if own != words else "",
        outputs,
        tuple(
            VariableChange(_line(one.name, scrub), _line(_described(one), scrub))
            for one in told.changes[:MOST_CHANGES]
        ),
        reached,
        min(max(0.0, told.seconds), limit),  # JSON may have Infinity
    )


def _unreadable() -> Rehearsal:
    return Rehearsal("refused", endings.NO_RESULT)


def _how(told: _Answer) -> RehearsedHow:
    if told.how == "ended":
        return "done" if told.success else "stopped" if told.stopped else "error"
    for known in ("timeout", "stalled", "too_much", "interrupted"):
        if told.how == known:
            return known
    return "crashed"


def _words(how: str, reached: tuple[Reach, ...], limit: float) -> str:
    if how == "stopped":
        last = reached[-1] if reached else None
        does = endings.reach(last.what, last.name) if last else "reach outside"
        return endings.ENDED[how].format(does)
    return endings.ENDED[how].format(f"{limit:g}")


def _outputs(told: _Answer, how: str) -> tuple[Output, ...]:
    collector = Collector(LIMITS)
    for kind, content in told.messages:
        # Where it stops, the error is ours.
        known = kind in OUTPUT_TYPES or kind == "clear_output"
        if known and not (how == "stopped" and kind == "error"):
            collector.add(kind, content, len(msgspec.json.encode(content)))
    if told.native:
        collector.add("stream", {"name": "stdout", "text": told.native}, len(told.native))
    return collector.outputs


def _described(change: _Change) -> str:
    """As ``int 1 → int 2``, or ``DataFrame of 2 rows …: new column 'b'``."""
    how = HOW.get(change.how, "")
    if change.how in ("rebound", "changed") and change.before != change.after:
        text = f"{change.before} → {change.after}"
    else:
        text = change.after or change.before
    if change.value and change.value not in text:
        text = f"{text} {change.value}".strip()
    columns = [
        f"{label} {', '.join(names)}"
        for label, names in (
            ("new", change.new_columns),
            ("changed", change.changed_columns),
            ("lost", change.lost_columns),
        )
        if names
    ]
    detail = f": {'; '.join(columns)}" if columns else ""
    return " ".join(part for part in (how, f"{text}{detail}") if part)


def _line(text: str, scrub: Scrub) -> str:
    return scrub(visible_line(text[: 4 * LONGEST]))[:LONGEST]
