"""Calls the hooks round a run of a cell, and puts their notes and findings into its result, for the
model and the card.

Both are untrusted text: for the model, without known keys, bounded, inert and between delimiters;
for people, lines of plain text. Notes of our own hooks are trusted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec

from ..base.off_loop import off_loop
from ..base.sentences import Sentence, as_it_is
from ..journal.transcript import FACTS, REPORT
from ..view.plain_text import clean, cut
from ..view.untrusted import bare, escaped
from ..wire.findings import Finding
from ..wire.messages import Text, ToolUse
from ..wire.ports import ExecutionDone
from . import expected, reported
from .approval import protected
from .approval.hooks import CellCode, CellOutputs, Checked, HookNote
from .expected import Contract
from .turn.results import Result, noted, with_words
from .turn.turn import Turn

REFUSED = "The check “{}” on this server blocked this run:"
LONGEST_NOTE = 2_000
"""Characters of a note for the model."""
LONGEST_LINE = 500
"""Characters of a note for people."""
LONGEST = 600
"""Characters of all findings of one run for the model."""
LONGEST_SENTENCE = 280
MOST_SHOWN = 5
"""Findings on a card."""
KEY = 16
"""Characters of a finding's key."""

# -------------------------------------------------------------------------------------------------
# Before a run.


async def before_run(turn: Turn, code: CellCode) -> Checked:
    """The hooks' results, with a note for each finding that a person reads."""
    found = await turn.hooks.before_run(code)
    findings = not_silenced(turn, found.findings, code.source)
    persons = (one for one in findings if one.audience == "person")
    notes = (*found.notes, *(HookNote(one.check, one.sentence) for one in persons))
    return msgspec.structs.replace(found, notes=notes, findings=tuple(findings))


def line(turn: Turn, note: HookNote) -> Sentence:
    """A note as a line for the card. Notes of our own hooks are unchanged."""
    if not note.by:
        return note.text
    words = _one_line(note.text, turn.scrub)
    words = words if len(words) <= LONGEST_LINE else as_it_is(cut(words, LONGEST_LINE))
    return Sentence("{check}: {words}", check=note.by, words=words)


def _one_line(words: Sentence, scrub: Callable[[str], str]) -> Sentence:
    """One line of plain text without keys."""
    return words.changed(lambda text: " ".join(clean(scrub(text)).split()))


def refused(turn: Turn, call: ToolUse, note: HookNote, title: Sentence, cell_id: str) -> Result:
    """The result of a run that a hook does not allow. ``cell_id``: "" for a new cell."""
    words, shown = REFUSED.format(note.by), _quoted(turn, note)
    return turn.results.not_run(call, words, title, cell_id, line(turn, note), shown)


def _quoted(turn: Turn, note: HookNote) -> str:
    return turn.untrusted.shown(cut(clean(turn.untrusted.scrub(note.text)), LONGEST_NOTE))


# -------------------------------------------------------------------------------------------------
# After a run.


async def after_run(
    turn: Turn,
    code: CellCode,
    done: ExecutionDone,
    result: Result,
    before: Sequence[Finding],
    contract: Contract | None,
    decided_by_person: bool,
) -> Result:
    """Tell all hooks of a finished run. ``before``: the findings from before the run; ``contract``:
    what the model expects. Returns the result with what they report."""
    is_python = code.language.lower() == "python"
    compared = (contract.name or "") if contract is not None else ""
    private = turn.private.__contains__
    report = reported.read(done.report if is_python else {}, code.source, private, compared)
    allowed = await _allowed(code) if decided_by_person else frozenset[str]()
    guarded = tuple(name for name in code.protected if name not in allowed)
    told = result.done
    code = msgspec.structs.replace(code, cell_id=told.cell_id, protected=guarded)
    outputs = CellOutputs(
        *(told.status, done.outputs, done.execution_count, done.elapsed),
        *(report.facts, report.changes),
    )
    checked = await turn.hooks.after_run(code, outputs)
    for note in checked.notes:
        result = result if note.by else noted(result, note.text)
    result = await reported.after_run(turn, code, done, result)
    if report.changes or not is_python:
        turn.changed_variables = True
    findings = [*before, *checked.findings]
    if contract is not None and is_python and told.status == "ok":
        # A person has allowed changes of protected variables, or reads of them in a finding.
        names = turn.document.protected
        changes = [change for change in report.changes if change.name not in names]
        differs = expected.findings(contract, report.result, changes)
        findings = [*before, *differs, *checked.findings]
    if found := [plain(turn, one) for one in not_silenced(turn, findings, code.source)]:
        result = with_findings(turn, result, found)
    return _with_notes(turn, result, [note for note in checked.notes if note.by])


async def _allowed(code: CellCode) -> frozenset[str]:
    """The protected variables that a person has let this code change."""
    if not code.protected:
        return frozenset()
    read = partial(protected.changed, code.source, code.protected)
    return frozenset(await off_loop(read, len(code.source), lambda: None) or ())


def _with_notes(turn: Turn, result: Result, notes: Sequence[HookNote]) -> Result:
    """The result with the notes of other packages' hooks."""
    if not notes:
        return result
    text = "\n".join(f"\n{REPORT.format(note.by)}\n{_quoted(turn, note)}" for note in notes)
    lines = tuple(line(turn, note) for note in notes)
    detail = f"{result.done.detail}\n{bare(text)}"
    content = (*result.block.content, Text(text))
    return Result(
        msgspec.structs.replace(result.block, content=content),
        msgspec.structs.replace(result.done, detail=detail, notes=lines),
    )


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
    evidence = tuple(str(_line(turn, as_it_is(text))) for text in finding.evidence)
    sentence = _line(turn, finding.sentence)
    return msgspec.structs.replace(finding, sentence=sentence, evidence=evidence)


def _line(turn: Turn, text: Sentence) -> Sentence:
    words = _one_line(text, turn.untrusted.scrub)
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
