"""A conversation as a file to take along: Markdown to read, or a recording to play again.

Both are made from the session's events, in which nothing of a void step counts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal, Union

import msgspec

from .commands import SessionInfo
from .errors import CommandError
from .events import (
    DraftDecided,
    DraftOpened,
    Event,
    Note,
    QuestionAnswered,
    QuestionAsked,
    RunStarted,
    StepDiscarded,
    StepStarted,
    TextDelta,
    TextDone,
    ToolDone,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    TurnUndone,
)
from .messages import Message, Text, ToolUse, tool_uses

Format = Literal["markdown", "recording"]


@dataclass
class Card:
    """A tool call. ``source`` is what was decided on, "" while nothing was; ``ran`` whether it
    was sent to the kernel; ``done`` is None where the end is not in the journal."""

    call_id: str
    name: str
    title: str
    kind: str = ""
    source: str = ""
    ran: bool = False
    question: str = ""
    answer: str = ""
    done: Union[ToolDone, None] = None

    @property
    def status(self) -> str:
        return self.done.status if self.done is not None else "not_started"

    @property
    def result(self) -> str:
        """The text of the result without its first line, the facts for the model."""
        return self.done.detail.partition("\n")[2] if self.done is not None else ""


@dataclass
class Said:
    """Text of the model's; ``whole`` unless only parts of it are in the journal."""

    text: str
    whole: bool = True


@dataclass
class Line:
    """What happened besides."""

    text: str


Item = Union[Said, Card, Line]


@dataclass
class Step:
    items: list[Item] = field(default_factory=list)


@dataclass
class Turn:
    """``asked`` is "" where the person had the model try again."""

    asked: str
    steps: list[Step] = field(default_factory=list)


# --- what happened -----------------------------------------------------------------------


def turns(events: Iterable[Event]) -> list[Turn]:
    """The conversation, turn by turn and step by step. What comes before the first step of a
    turn, or after its last, is in a step of its own."""
    told: list[Turn] = []
    cards: dict[str, Card] = {}
    for event in events:
        if isinstance(event, TurnStarted):
            told.append(Turn(event.text, [Step()]))
        elif not told:
            continue
        elif isinstance(event, StepStarted):
            told[-1].steps.append(Step())
        elif isinstance(event, StepDiscarded):
            told[-1].steps[-1] = Step()
        elif isinstance(event, ToolStarted):
            card = cards[event.call_id] = Card(event.call_id, event.name, event.title)
            told[-1].steps[-1].items.append(card)
        elif call_id := getattr(event, "call_id", ""):
            if call_id in cards:
                _note(cards[call_id], event)
        else:
            _add(told[-1].steps[-1].items, event)
    return told


def _note(card: Card, event: Event) -> None:
    """What an event says of a card."""
    if isinstance(event, DraftOpened):
        card.kind, card.title = event.kind, event.title or card.title
    elif isinstance(event, DraftDecided) and event.action == "run":
        card.source = event.source
    elif isinstance(event, RunStarted):
        card.ran = True
    elif isinstance(event, QuestionAsked):
        card.question = event.question
    elif isinstance(event, QuestionAnswered):
        card.answer = event.answer
    elif isinstance(event, ToolDone):
        card.done, card.title = event, event.title or card.title


def _add(items: list[Item], event: Event) -> None:
    last = items[-1] if items else None
    if isinstance(event, TextDelta) and isinstance(last, Said) and not last.whole:
        last.text += event.text
    elif isinstance(event, (TextDelta, TextDone)):
        items.append(Said(event.text, whole=isinstance(event, TextDone)))
    elif isinstance(event, Note):
        items.append(Line(event.text))
    elif isinstance(event, TurnUndone):
        items.append(Line("The cells of a turn were put back."))
    elif isinstance(event, TurnEnded) and event.stop_reason != "end_turn":
        items.append(Line(event.message))


# --- Markdown ----------------------------------------------------------------------------


def markdown(info: SessionInfo, events: Iterable[Event]) -> str:
    """The conversation to read: what was asked, said and run, and what came out of it."""
    date = datetime.fromtimestamp(info.created, timezone.utc)
    parts = [
        f"# {_plain(info.title) or 'Conversation'}",
        f"Notebook: {_code(' '.join(info.notebook.split()))}  \nDate: {date:%Y-%m-%d %H:%M} UTC",
    ]
    for turn in turns(events):
        if turn.asked:
            parts += ["## You", _quoted(_harmless(turn.asked)), "## Answer"]
        for step in turn.steps:
            parts += [text for item in step.items for text in _in_markdown(item)]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _in_markdown(item: Item) -> list[str]:
    if isinstance(item, Said):
        return [_harmless(item.text)]
    if isinstance(item, Line):
        return [f"*{_plain(item.text)}*"]
    words = item.status.replace("_", " ")
    parts = [f"### {_plain(item.title or item.name)} ({words})"]
    if item.question:
        parts += [_harmless(item.question), _quoted(_harmless(item.answer))]
    elif item.ran or (item.kind == "markdown" and item.status == "ok"):
        parts += [_fenced(item.source), _fenced(item.result) if item.result else ""]
    elif item.result:
        parts += [_fenced(item.result)]
    return parts


_CELL_LINK = re.compile(r"\[([^\]\n]*)\]\(#cell:[\w-]+\)")
_ACTIVE = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")
"""Begins HTML, or an image, which a viewer would fetch: a tag is shown, an image is a link."""


def _harmless(text: str) -> str:
    """Markdown that shows what it says and does nothing, whoever opens the file. In fenced
    code nothing is changed; a fence that is left open is closed. (One that is indented may
    end sooner than it seems: what is in it counts as text.)"""
    lines: list[str] = []
    fence = ""
    for line in text.strip().split("\n"):
        found = re.match(r"(`{3,}(?!.*`)|~{3,})", line)
        if fence:
            closes = found and found[1].startswith(fence) and not line.strip(fence[0] + " \t")
            fence = "" if closes else fence
            lines.append(line)
        elif found:
            fence = found[1]
            lines.append(line)
        else:
            lines.append(_ACTIVE.sub(r"\\\g<0>", _CELL_LINK.sub(r"\1", line)))
    return "\n".join([*lines, *([fence] if fence else [])])


def _fenced(text: str) -> str:
    """In a fence longer than any run of backticks inside."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}\n{text}\n{fence}" if not text.endswith("\n") else f"{fence}\n{text}{fence}"


def _code(text: str) -> str:
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _plain(text: str) -> str:
    """One line that Markdown takes as it is written."""
    return re.sub(r"([\\`*_\[\]<>#&|~])", r"\\\1", " ".join(text.split()))


# --- a recording -------------------------------------------------------------------------

_REPEATED = ("run_cell", "edit_cell", "add_markdown", "delete_cell")
"""Calls that a recording makes again. What was looked at is left out, but for the notebook,
which must be read before it can be changed."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}")
"""Is another in every run."""
_ERROR = re.compile(r"^(\w[\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)\b)", re.M)
_BODY = r"(?<=\n)[\s\S]+"
"""A regular expression for a result without its line of facts."""
THE_END = "The recorded conversation ends here."


def recording(info: SessionInfo, events: Iterable[Event], messages: Iterable[Message]) -> str:
    """The conversation as the replay model plays it: a header and assistant messages, JSONL.

    A recording answers one question. So the first one is its question, and what was asked
    later is quoted in the text of the answer. ``messages`` are all of the session's: they
    have the calls' inputs. Raises CommandError ``nothing_said``.
    """
    told = turns(events)
    question = next((turn.asked for turn in told if turn.asked), "")
    if not question:
        raise CommandError("nothing_said", "Nothing has been said in this conversation yet.")
    inputs = {call.id: call.input for message in messages for call in tool_uses(message)}
    script = _Script(inputs)
    for number, turn in enumerate(told):
        if number and turn.asked:
            script.say(_quoted(turn.asked))
        for step in turn.steps:
            script.add(step)
    header = {"title": info.title, "version": 1, "questions": [question]}
    lines = [header, *script.lines()]
    return "".join(f"{msgspec.json.encode(line).decode()}\n" for line in lines)


class _Script:
    """The steps of a recording, as they grow. A step without a call would end the answer:
    its text goes before that of the next."""

    def __init__(self, inputs: Mapping[str, dict[str, Any]]) -> None:
        self._inputs = inputs
        self._names: dict[str, str] = {}
        """The call that made or last edited a cell, by the cell's id."""
        self._texts: list[str] = []
        self._steps: list[dict[str, Any]] = []
        self._count = 0

    def say(self, text: str) -> None:
        if text.strip():
            self._texts.append(self._linked(text.strip()))

    def add(self, step: Step) -> None:
        calls: list[ToolUse] = []
        expect: dict[str, Any] = {}
        for item in step.items:
            if isinstance(item, Said):
                self.say(item.text)
            elif isinstance(item, Card) and (call := self._call(item)) is not None:
                calls.append(call)
                expect[call.id] = _expected(item)
                if item.done is not None and item.done.cell_id:
                    self._names[item.done.cell_id] = call.id
        if calls:
            self._close(calls, expect)

    def lines(self) -> list[dict[str, Any]]:
        """All steps; the last one is the answer's end, in words."""
        if not self._texts:
            self.say(THE_END)
        self._close((), {})
        return self._steps

    def _close(self, calls: Sequence[ToolUse], expect: dict[str, Any]) -> None:
        text = [Text("\n\n".join(self._texts))] if self._texts else []
        step = {"role": "assistant", "content": [*text, *calls]}
        self._steps.append({**step, "expect": expect} if expect else step)
        self._texts = []

    def _call(self, card: Card) -> ToolUse | None:
        """The call again, None if it is left out. ``title`` stands first, what is written
        letter by letter last; what was decided on goes before what the model wrote.
        (A draft that code has put forward is no call, and will be put forward again.)"""
        given = self._inputs.get(card.call_id)
        if given is None or card.status not in ("ok", "error"):
            return None
        if card.name == "read_notebook":
            return self._named(card, {})
        if card.name not in _REPEATED:
            return None
        places = {
            key: self._place(str(given[key]))
            for key in ("cell_id", "after_cell_id")
            if given.get(key)
        }
        if card.name == "delete_cell":
            return self._named(card, places)
        return self._named(card, {**places, "source": card.source or str(given.get("source", ""))})

    def _named(self, card: Card, rest: dict[str, Any]) -> ToolUse:
        self._count += 1
        return ToolUse(f"call{self._count}", card.name, {"title": card.title or card.name, **rest})

    def _place(self, cell_id: str) -> str:
        """The live id of a cell that the recording makes; others are the notebook's own."""
        name = self._names.get(cell_id)
        return f"{{{{{name}.cell}}}}" if name else cell_id

    def _linked(self, text: str) -> str:
        return re.sub(r"(?<=#cell:)[\w-]+", lambda found: self._place(found[0]), text)


def _expected(card: Card) -> dict[str, str]:
    """What the call must come to again for the recording to go on."""
    if card.status == "error":
        errors = _ERROR.findall(card.result)
        reads = f"^{re.escape(errors[-1])}" if errors else ""
        return {"status": "error", "reads": reads}
    if card.name == "read_notebook" or not card.result or _ADDRESS.search(card.result):
        return {"status": "ok"}
    words = " ".join(card.result.split())
    return {"status": "ok", "reads": _BODY, "digest": hashlib.sha256(words.encode()).hexdigest()}
