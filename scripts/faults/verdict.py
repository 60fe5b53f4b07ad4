"""Judges a run by the notebook's file, the journal, the cells' own log of their runs, the page's
events, and the requests to the model."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import nbformat

from jupyter_codeinterp.wire.events import (
    Event,
    Note,
    StepDiscarded,
    StepStarted,
    TextDelta,
    TextDone,
    ThinkingDelta,
    ToolDone,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    read_event,
)
from jupyter_codeinterp.wire.messages import Message, Text, ToolResult, ToolUse
from tests.fake_anthropic import Exchange

from .page import Page
from .person import answered
from .story import STUCK, THEIRS, TYPED, Story, shown

TEXT_BEHIND = 0.25
"""Seconds of streamed text that may be missing after a ``kill -9``."""
STATEMENTS = {
    "may have had effects": r"may have had effects",
    "variables are gone": r"[Vv]ariables (?:are|may be) gone",
    "not confirmed": r"did not confirm this change|status=not_confirmed",
    "outputs not confirmed": r"did not confirm the outputs",
    "unsaved changes out of reach": r"disconnected window has unsaved changes",
    "not started": r"status=not_started",
    "no answer from the window": r"window does not answer",
}
"""Statements of the product about something that is, or may be, missing."""
OVERWRITE = "Lab asks before it overwrites"


@dataclass
class Verdict:
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    misplaced: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Descriptions of all other faults."""
    said: list[str] = field(default_factory=list)
    """Names of the product's statements in this run."""
    as_expected: bool = True
    """Whether the notebook and the conversation are as expected."""

    @property
    def failures(self) -> list[str]:
        named = {"lost": self.lost, "doubled": self.doubled, "misplaced": self.misplaced}
        told = [f"{name}: {what}" for name, those in named.items() for what in those]
        return [*told, *self.wrong]


@dataclass(frozen=True)
class Kill:
    """The kill of a server: the time, by the clock of the exchanges, and the turn."""

    time: float
    turn: int


@dataclass
class Journal:
    """A conversation as the disk has it."""

    events: list[tuple[int, Event]]
    messages: list[Message]

    @classmethod
    def read(cls, file: Path, session_id: str) -> Journal:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
            events = db.execute(
                "SELECT seq, data FROM events WHERE session_id = ? ORDER BY seq", (session_id,)
            ).fetchall()
            messages = db.execute(
                "SELECT data FROM messages WHERE session_id = ? ORDER BY id", (session_id,)
            ).fetchall()
        db.close()
        return cls(
            [(seq, read_event(data)) for seq, data in events],
            [msgspec.json.decode(data, type=Message) for (data,) in messages],
        )

    def statements(self) -> Iterator[str]:
        for _, event in self.events:
            if isinstance(event, Note):
                yield event.text
            elif isinstance(event, ToolDone):
                yield f"{event.summary}\n{event.detail}"
            elif isinstance(event, TurnEnded):
                yield event.message
        for message in self.messages:
            yield from (block.text for block in message.content if isinstance(block, Text))


def judge(
    story: Story,
    notebooks: Path,
    journal: Journal,
    pages: Sequence[Page],
    exchanges: Sequence[Exchange],
    kills: Iterable[Kill],
) -> Verdict:
    """``pages``: all pages of the run; the last one is still open."""
    verdict = Verdict()
    text = "\n".join(journal.statements())
    verdict.said = [name for name, words in STATEMENTS.items() if re.search(words, text)]
    _judge_notebook(verdict, story, notebooks / story.notebook, journal)
    _judge_runs(verdict, story, notebooks / story.log, journal)
    _judge_events(verdict, journal, pages)
    verdict.wrong += _calls_without_one_result(journal.messages)
    for kill in kills:
        verdict.lost += _text_behind(journal, exchanges, kill)
    for page in pages:
        verdict.wrong += page.wrong
    page = pages[-1]
    if page.asked_to_overwrite:
        verdict.said.append(OVERWRITE)
        if not (page.save_cut_off or page.cells[0]["source"] == TYPED):
            verdict.wrong.append("Lab asks at a save, as the file is another")
    if not answered(page):
        _judge_end(verdict, page, journal)
    return verdict


def _judge_end(verdict: Verdict, page: Page, journal: Journal) -> None:
    """Without an answer, the person must have been told why."""
    verdict.as_expected = False
    ended = page.ended
    words = ended.message if ended is not None else ""
    texts = [event.text for _, event in journal.events if isinstance(event, TextDone)]
    stuck = bool(texts) and texts[-1].startswith(STUCK)
    if verdict.said and (words or stuck):
        verdict.lost.clear()
    else:
        verdict.lost.append(f"the answer; it ended with {words or texts[-1:] or 'nothing'}")


# --- the notebook ------------------------------------------------------------------------


def _judge_notebook(verdict: Verdict, story: Story, file: Path, journal: Journal) -> None:
    book, why_not = read_notebook(file)
    if why_not:
        verdict.wrong.append(why_not)
        return
    expected = ["theirs", *(step.name for step in story.steps)]
    names = [_name(story, cell) for cell in book.cells]
    counts = Counter(names)
    verdict.lost += [f"the cell {name}" for name in expected if not counts[name]]
    verdict.doubled += [f"the cell {name}" for name in expected if counts[name] > 1]
    left = [name for name in names if name not in expected]
    verdict.wrong += [f"left in the notebook: {name}" for name in left]
    there = [name for name in dict.fromkeys(names) if name in expected]
    if there != [name for name in expected if counts[name]]:
        verdict.misplaced.append(", ".join(there))
    ids = {cell.id for cell in book.cells}
    for call in _carried_out(journal):
        if call.cell_id not in ids:  # The model has seen that, and has written another cell.
            verdict.lost.append(f"the cell {call.cell_id}: {call.title}, {call.status}")
    for step in story.steps:
        for cell in book.cells:
            if not step.is_code or cell.source != step.source:
                continue
            if shown(cell) != step.shows or cell.get("execution_count") is None:
                verdict.lost.append(f"outputs of {step.name}: {shown(cell)!r:.100}")


def read_notebook(file: Path) -> tuple[Any, str]:
    """The notebook, and why it is not valid."""
    try:
        book = nbformat.reads(file.read_text(encoding="utf-8"), as_version=4)
        nbformat.validate(book)
    except (OSError, ValueError, nbformat.ValidationError) as error:
        return None, f"the notebook is not valid: {error!r:.200}"
    return book, ""


def _carried_out(journal: Journal) -> list[ToolDone]:
    """The calls that changed a cell, according to the conversation."""
    ends = [event for _, event in journal.events if isinstance(event, ToolDone)]
    kinds = ("ok", "error", "interrupted", "timeout")
    return [event for event in ends if event.cell_id and event.status in kinds]


def _name(story: Story, cell: Any) -> str:
    if cell.source in (THEIRS, TYPED):
        return "theirs"
    for step in story.steps:
        kind = "code" if step.is_code else "markdown"
        if cell.source == step.source and cell.cell_type == kind:
            return step.name
    return f"{cell.cell_type} {cell.source[:50]!r}"


# --- what has run ------------------------------------------------------------------------


def _judge_runs(verdict: Verdict, story: Story, log: Path, journal: Journal) -> None:
    """In one kernel each cell runs once (the failing one twice), unless the product said that it
    may have run before."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    unsure = {
        event.title.removeprefix("Step ")
        for _, event in journal.events
        if isinstance(event, ToolDone)
        and event.status in ("interrupted", "not_confirmed", "timeout")
    }
    for line, times in Counter(lines).items():
        name = line.split(" ")[0]
        most = 2 if any(step.name == name and step.first for step in story.steps) else 1
        if times > most and name not in unsure:
            verdict.doubled.append(f"the run of {name}: {times} times in one kernel")
        elif times > most:
            verdict.said.append("it may have run before")


# --- the conversation --------------------------------------------------------------------


def _judge_events(verdict: Verdict, journal: Journal, pages: Sequence[Page]) -> None:
    kept = dict(journal.events)
    for page in pages:
        for seq, event in page.told.items():
            if isinstance(event, (TextDelta, ThinkingDelta)):
                continue  # Merged, once the whole text is stored.
            if seq not in kept:
                verdict.lost.append(f"event {seq}, {type(event).__name__}")
            elif kept[seq] != event:
                verdict.doubled.append(f"the number {seq}, {type(event).__name__}")
    last = pages[-1].told
    for seq, event in kept.items():
        if seq not in last and not isinstance(event, (TextDelta, ThinkingDelta)):
            verdict.wrong.append(f"event {seq}, {type(event).__name__}, was never told")
    verdict.wrong += _cards_without_one_end(journal)
    kinds = [event.__struct_config__.tag for event in kept.values()]
    if kinds.count("turn_started") != kinds.count("turn_ended"):
        verdict.wrong.append("a turn has not exactly one end")


def _cards_without_one_end(journal: Journal) -> Iterator[str]:
    ends: dict[str, int] = {}
    for _, event in journal.events:
        if isinstance(event, ToolStarted):
            ends[event.call_id] = 0
        elif isinstance(event, ToolDone):
            ends[event.call_id] = ends.get(event.call_id, 0) + 1
        elif isinstance(event, StepDiscarded):
            ends = {call_id: times for call_id, times in ends.items() if times}
    for call_id, times in ends.items():
        if times != 1:
            yield f"the card {call_id} has {times} ends"


def _calls_without_one_result(messages: Sequence[Message]) -> Iterator[str]:
    """Calls without exactly one result, as the API sees them: consecutive messages of one side are
    one message."""
    sides = [
        (role, [block for message in group for block in message.content])
        for role, group in groupby(messages, key=lambda message: message.role)
    ]
    for place, (role, content) in enumerate(sides):
        calls = [block.id for block in content if isinstance(block, ToolUse)]
        if role != "assistant" or not calls:
            continue
        following = sides[place + 1][1] if place + 1 < len(sides) else []
        results = [b.tool_use_id for b in following if isinstance(b, ToolResult)]
        if results != calls:
            yield f"the calls {calls} have the results {results}"


def _text_behind(journal: Journal, exchanges: Sequence[Exchange], kill: Kill) -> Iterator[str]:
    """Text that the model had sent well before the kill and that is missing."""
    before = [exchange for exchange in exchanges if exchange.received < kill.time]
    if not before or (before[-1].finished and before[-1].finished < kill.time):
        return
    sent = "".join(piece for time, piece in before[-1].said if time < kill.time - TEXT_BEHIND)
    there, turn = "", 0
    for _, event in journal.events:
        if isinstance(event, TurnStarted):
            turn = event.turn
        if turn != kill.turn:
            continue
        if isinstance(event, StepStarted):
            there = ""
        elif isinstance(event, TextDelta):
            there += event.text
        elif isinstance(event, TextDone):
            there = event.text
    if not there.startswith(sent):
        yield f"{len(sent) - len(there)} characters of text that were there {TEXT_BEHIND} s before"
