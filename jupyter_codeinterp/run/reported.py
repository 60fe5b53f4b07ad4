"""Reads the kernel's report on a run: facts and the result; for the model, the names that exist in
place of a missing one, and failed shell commands.

The report is untrusted: it is bounded, and its names reach the model inert and between delimiters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Union

import msgspec

from ..base.off_loop import off_loop
from ..cell_code.cell_names import names_of
from ..cell_code.source import Source, parsed
from ..view.plain_text import clean, cut
from ..view.untrusted import escaped
from ..wire.findings import Place
from ..wire.ops import called
from ..wire.ports import ExecutionDone, KernelState
from .expected import ResultSeen
from .turn.hooks import CellCode, Fact
from .turn.results import Result, noted
from .turn.turn import Turn

LONGEST = 2_000
"""Characters of one run's report for the model."""
MOST_CELLS = 3
HEADING = "[What the kernel reports of this run:]"
LAST_ONLY = (
    "[Only the exit status of the last command counts in a shell cell; earlier ones may have "
    "failed. With `set -e` in its first line it stops at the first failure.]"
)
_SHELL = re.compile(r"%%(?:bash|sh|script[ \t]+(?:ba|da|k|z)?sh)\b(?!.*[ \t]-[a-z]*e)")
_STOPS = re.compile(r"^[ \t]*set[ \t]+-(?:[a-z]*e|o[ \t]+errexit)", re.MULTILINE)
NO_STATUS = "exit status {} of `{}`"

ESCAPED = (
    "The path has the signs {}: in a plain string a backslash begins an escape. Write the path "
    "with / or as r'…'."
)


# -------------------------------------------------------------------------------------------------
# Facts, for the hooks.

MOST_FACTS = 100
LONGEST_TEXT = 200
"""Characters of a text in a report."""
MOST_VALUES = 20
"""Values of a list in a report."""


class _Fact(msgspec.Struct, frozen=True):
    """``at``: line, column, last line and its end, in bytes of UTF-8, as Python counts."""

    kind: str
    at: Union[tuple[int, int, int, int], None] = None
    figures: dict[str, Any] = {}


class _Observed(msgspec.Struct, frozen=True):
    facts: list[_Fact] = []
    result: Union[ResultSeen, None] = None


class KernelReport(msgspec.Struct, frozen=True):
    """``result``: what the kernel saw of the result that the model expects."""

    facts: tuple[Fact, ...] = ()
    result: Union[ResultSeen, None] = None


def read(
    report: dict[str, Any],
    source: str,
    is_private: Callable[[str], bool] = lambda name: False,
    compared: str = "",
) -> KernelReport:
    """The report without private variables; empty if it is malformed. ``compared``: the variable
    that the model expects something of."""
    try:
        observed = msgspec.convert(report, _Observed, strict=True)
    except (msgspec.ValidationError, RecursionError):
        return KernelReport()
    code = parsed(source)
    facts = (_fact(fact, code) for fact in observed.facts[:MOST_FACTS])
    result = observed.result
    return KernelReport(
        tuple(fact for fact in facts if not is_private(str(fact.figures.get("name", "")))),
        None if result is None or is_private(compared) else _result(result),
    )


def _result(result: ResultSeen) -> ResultSeen:
    kinds, missing = (
        tuple(map(_bounded, some[:MOST_VALUES])) for some in (result.kinds, result.missing or ())
    )
    return ResultSeen(kinds, result.rows, None if result.missing is None else missing)


def _fact(fact: _Fact, source: Source | None) -> Fact:
    place: Place | None = None
    if (
        fact.at is not None
        and source is not None
        and 0 < fact.at[0] <= fact.at[2] <= len(source.lines)
    ):
        place = source.place_of_bytes(*fact.at)
    figures = {name[:LONGEST_TEXT]: _bounded(value) for name, value in fact.figures.items()}
    return Fact(fact.kind[:LONGEST_TEXT], place, figures)


def _bounded(value: Any, deep: bool = True) -> Any:
    """A number, a text, a list of both or of such lists, cut; None for anything else."""
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    if isinstance(value, list):
        known = (str, int, float, list) if deep else (str, int, float)
        return [_bounded(one, False) for one in value[:MOST_VALUES] if isinstance(one, known)]
    return value if isinstance(value, (int, float)) else None


# -------------------------------------------------------------------------------------------------
# What a failure lacked, for the model.


class Absent(msgspec.Struct, frozen=True):
    """A missing name, key, column or file, as ``kernel/inside/absent.py`` reports it."""

    kind: str
    wanted: str
    of: str = ""
    there: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    count: int = 0
    what: str = "files"
    path: str = ""
    escapes: tuple[str, ...] = ()


class _Failures(msgspec.Struct, frozen=True):
    absent: Any = None
    statuses: tuple[tuple[int, str], ...] = ()


async def after_run(turn: Turn, code: CellCode, done: ExecutionDone, result: Result) -> Result:
    """The result with lines from the report."""
    if done.status == "ok" and hides_failures(code.source):
        result = noted(result, LAST_ONLY)
    try:
        report = msgspec.convert(done.report, _Failures)
        absent = msgspec.convert(report.absent, Absent) if report.absent else None
    except (msgspec.ValidationError, RecursionError):
        return result
    lines = [NO_STATUS.format(status, command) for status, command in report.statuses[:20]]
    defined: list[str] = []
    if absent is not None and absent.kind == "name":
        size = sum(len(cell.source) for cell in turn.notebook.snapshot.cells)
        found = _definers(turn, absent.wanted, await turn.kernel.state())
        defined = await off_loop(lambda: list(islice(found, MOST_CELLS)), size, list)
    if absent is not None and not _is_private(turn, absent):
        lines += defined or _lines(absent)
    if not lines:
        return result
    text = cut(clean(turn.untrusted.scrub("\n".join(lines))), LONGEST)
    return noted(result, f"{HEADING}\n{turn.untrusted.quoted(escaped(text))}")


def hides_failures(source: str) -> bool:
    """Whether this is a shell cell of several commands that goes on after a failure."""
    head, _, body = source.lstrip().partition("\n")
    lines = (line.strip() for line in body.split("\n"))
    commands = sum(1 for line in lines if line and line[0] != "#")
    return commands > 1 and _SHELL.match(head) is not None and _STOPS.search(body) is None


def _is_private(turn: Turn, absent: Absent) -> bool:
    """Whether the names may belong to a private variable, or to an unnamed copy of one."""
    unnamed = absent.kind in ("key", "attribute") and not absent.of
    return absent.of in turn.private or (unnamed and bool(turn.private))


def _lines(absent: Absent) -> Iterator[str]:
    of = f"`{absent.of}`" if absent.of else "The table"
    if absent.kind == "file":
        of = f"The folder {absent.of!r}" if absent.of else "The working folder"
        read = f" The path as Python read it: {absent.path}"
        yield f"{of} has no {absent.wanted!r}.{read if absent.path != repr(absent.wanted) else ''}"
    elif absent.kind != "name":
        yield f"{of} has no {absent.wanted}."
    if absent.escapes:
        yield ESCAPED.format(", ".join(absent.escapes))
    if absent.near:
        yield f"Nearest: {', '.join(absent.near)}"
    if absent.there:
        more = absent.count - len(absent.there)
        rest = f" and {more:,} more" if more > 0 else ""
        yield f"There are these {absent.what}: {', '.join(absent.there)}{rest}"


def _definers(turn: Turn, name: str, state: KernelState) -> Iterator[str]:
    """A line for each cell that defines the missing name."""
    for place, cell in enumerate(turn.notebook.snapshot.cells, 1):
        if cell.cell_type == "code" and name in names_of(cell.source).defines:
            count = cell.execution_count
            never = count is None or state.lacks(cell.source, count)
            failed = any(one.get("output_type") == "error" for one in cell.outputs)
            did = "failed" if failed else "last ran"
            ran = "has not run in this kernel" if never else f"{did} as [{count}]"
            yield f"{called(place).capitalize()} ({cell.cell_id}) defines `{name}` and {ran}."
