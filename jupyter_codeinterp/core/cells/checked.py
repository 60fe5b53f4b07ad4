"""Puts what the checks found in a run into its result, for the model and the card.

A finding quotes values and code, so it is untrusted text: for the model, without known keys,
bounded, inert and between delimiters; for people, one line of plain text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Union

import msgspec

from ..checks import protected
from ..checks.run import expected
from ..checks.shared import tables
from ..checks.shared.check import Contract
from ..checks.shared.kernel_report import seen_run
from ..findings import Finding
from ..history.transcript import FACTS
from ..hooks import CellCode, CellOutputs
from ..model_view.plain_text import clean
from ..model_view.untrusted import escaped
from ..ports import ExecutionDone
from ..turn.results import Result, noted, with_words
from ..turn.turn import Turn

LONGEST = 600
"""Characters of all findings of one run for the model."""
LONGEST_SENTENCE = 280
MOST_SHOWN = 5
"""Findings on a card."""
HELD = "(expects: {} held)"
KEY = 16
"""Characters of a finding's key."""


class Expectation(msgspec.Struct, frozen=True):
    """``allowed``: protected variables that a person let this code change. ``contract``: what the
    model expects of the code's result."""

    allowed: frozenset[str]
    contract: Union[Contract, None] = None


async def after_run(
    turn: Turn,
    code: CellCode,
    done: ExecutionDone,
    result: Result,
    expectation: Expectation,
) -> Result:
    """Check a finished run. Returns the result with the findings."""
    is_python = code.language.lower() == "python"
    told = result.done
    run = seen_run(
        msgspec.structs.replace(code, cell_id=told.cell_id),
        CellOutputs(told.status, done.outputs, done.execution_count, done.elapsed),
        done.report if is_python else {},
        turn.asked,
        turn.private.__contains__,
        expectation.contract if is_python else None,
    )
    names = turn.document.protected
    guarded = tuple(name for name in names if name not in expectation.allowed)
    said = list(protected.findings(run.changes, guarded))
    # The person has allowed these changes or reads of them here.
    others = tuple(change for change in run.changes if change.name not in names)
    said += await turn.checks.after_run(msgspec.structs.replace(run, changes=others))
    found = [plain(turn, finding) for finding in not_silenced(turn, said, code.source)]
    if run.changes or not is_python:
        turn.changed_variables = True
    if held := expected.held(run):
        result = noted(result, HELD.format(held))
    report = done.report if is_python else {}
    clean_line = partial(_line, turn)
    is_private = turn.private.__contains__
    shown = result.text.partition("\n")[2]
    made = tables.lines(
        report, is_private, clean_line, turn.told_facts, turn.asked, code.source, shown
    )
    return with_findings(turn, result, found, made) if found or made else result


def not_silenced(turn: Turn, found: Iterable[Finding], source: str) -> list[Finding]:
    """The findings with their keys, without those that the person silenced in this notebook."""
    keyed = [msgspec.structs.replace(one, key=key_of(one, source)) for one in found]
    silenced = turn.store.silenced(turn.document.path) if keyed else frozenset()
    return [one for one in keyed if one.key not in silenced]


def key_of(finding: Finding, source: str) -> str:
    """A digest of the check's name and of the code at the finding's place, or of the sentence
    without numbers if it has no place. It stays the same for other data or line numbers."""
    place, lines = finding.place, source.split("\n")
    if place is None:
        about = re.sub(r"\d[\d.,]*", "", finding.sentence)
    else:
        code = lines[place.line - 1 : place.end_line]
        if code:
            code[-1] = code[-1][: place.end_column]
            code[0] = code[0][place.column :]
        about = "\n".join(code)
    written = f"{finding.check}\0{''.join(about.split())}"
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:KEY]


def plain(turn: Turn, finding: Finding) -> Finding:
    """The finding as lines of plain text without API keys."""
    evidence = tuple(_line(turn, text) for text in finding.evidence)
    sentence = _line(turn, finding.sentence)
    return msgspec.structs.replace(finding, sentence=sentence, evidence=evidence)


def _line(turn: Turn, text: str) -> str:
    words = " ".join(clean(turn.untrusted.scrub(text)).split())
    return words if len(words) <= LONGEST_SENTENCE else f"{words[: LONGEST_SENTENCE - 1]}\u2026"


def with_findings(
    turn: Turn, result: Result, found: list[Finding], made: Sequence[str] = ()
) -> Result:
    """The result with the findings. ``made``: lines about new and changed tables, added if they
    fit."""
    persons = sorted(found, key=lambda finding: finding.audience != "person")
    text = for_model(turn, persons, made)
    shown = tuple(one for one in persons if one.audience == "person")[:MOST_SHOWN]
    result = with_words(result, text)
    return Result(result.block, msgspec.structs.replace(result.done, findings=shown))


def for_model(turn: Turn, found: list[Finding], made: Sequence[str] = ()) -> str:
    """The findings, then the lines of ``made``, as many as ``LONGEST`` characters hold."""
    lines: list[str] = []
    for line in map(escaped, (*map(str, found), *made)):
        if len(_told(turn, [*lines, line])) <= LONGEST and line not in lines:
            lines.append(line)
    return _told(turn, lines)


def _told(turn: Turn, lines: list[str]) -> str:
    return f"{FACTS}\n{turn.untrusted.quoted(chr(10).join(lines))}"
