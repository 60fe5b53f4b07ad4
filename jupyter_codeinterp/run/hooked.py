"""Calls the hooks around a run of a cell, and puts their findings into its result, for the model
and the card.

What they say quotes untrusted text: for the model it is without known keys, bounded, inert and
between delimiters; for people, lines of plain text.
"""

from __future__ import annotations

import msgspec

from ..base.sentences import Sentence, as_it_is
from ..journal.transcript import FACTS
from ..view.plain_text import clean
from ..view.untrusted import escaped
from ..wire.findings import Finding
from ..wire.ports import ExecutionDone
from . import expected, reported
from .approval.code_warnings import CodeWarnings
from .expected import Contract
from .turn import hooks
from .turn.hooks import CellCode, CellOutputs, Refusal
from .turn.results import Result, with_words
from .turn.turn import Turn

LONGEST = 600
"""Characters of all findings of one run for the model."""
LONGEST_SENTENCE = 280
MOST_SHOWN = 5
"""Findings on a card, and notes of one hook there."""


async def before_run(turn: Turn, code: CellCode) -> CodeWarnings:
    """What hooks say of code before it runs, with their names."""
    lines: list[Sentence] = []
    ask = False
    for name, said in await hooks.before_run(turn.hooks, code):
        if isinstance(said, Refusal):
            return CodeWarnings(refusal=named(turn, name, said.reason))
        lines += (named(turn, name, text) for text in said.texts[:MOST_SHOWN])
        ask |= said.ask
    return CodeWarnings(tuple(lines), ask)


def named(turn: Turn, name: str, text: str) -> Sentence:
    """A hook's text as a line for people, with the hook's name."""
    words = _line(turn, as_it_is(text))
    return Sentence("{check}: {words}", check=name, words=words) if name else words


async def after_run(
    turn: Turn, code: CellCode, done: ExecutionDone, result: Result, contract: Contract | None
) -> Result:
    """The result with the kernel's report, and what the hooks find. ``contract``: what the model
    expects."""
    is_python = code.language.lower() == "python"
    compared = (contract.name or "") if contract is not None else ""
    private = turn.private.__contains__
    report = reported.read(done.report if is_python else {}, code.source, private, compared)
    found = await hooks.findings(turn.hooks, code, CellOutputs(done.outputs, report.facts))
    if contract is not None and is_python and result.done.status == "ok":
        found = [*expected.findings(contract, report.result), *found]
    result = await reported.after_run(turn, code, done, result)
    return with_findings(turn, result, [plain(turn, one) for one in found]) if found else result


def plain(turn: Turn, finding: Finding) -> Finding:
    """The finding as lines of plain text without API keys."""
    evidence = tuple(str(_line(turn, as_it_is(text))) for text in finding.evidence)
    sentence = _line(turn, finding.sentence)
    return msgspec.structs.replace(finding, sentence=sentence, evidence=evidence)


def _line(turn: Turn, text: Sentence) -> Sentence:
    scrub = turn.untrusted.scrub
    words = text.changed(lambda part: " ".join(clean(scrub(part)).split()))
    if len(words) <= LONGEST_SENTENCE:
        return words
    return as_it_is(f"{words[: LONGEST_SENTENCE - 1]}\u2026")


def with_findings(turn: Turn, result: Result, found: list[Finding]) -> Result:
    persons = sorted(found, key=lambda finding: finding.audience != "person")
    text = for_model(turn, persons)
    shown = tuple(one for one in persons if one.audience == "person")[:MOST_SHOWN]
    result = with_words(result, text)
    return Result(result.block, msgspec.structs.replace(result.done, findings=shown))


def for_model(turn: Turn, found: list[Finding]) -> str:
    """As many findings as ``LONGEST`` characters hold."""
    lines: list[str] = []
    for line in map(escaped, map(str, found)):
        if len(_quoted_lines(turn, [*lines, line])) <= LONGEST and line not in lines:
            lines.append(line)
    return _quoted_lines(turn, lines)


def _quoted_lines(turn: Turn, lines: list[str]) -> str:
    return f"{FACTS}\n{turn.untrusted.quoted(chr(10).join(lines))}"
