"""A conversation as a recording: assistant messages that the replay model plays again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ..commands import SessionInfo
from ..errors import CommandError
from ..events import Event
from ..messages import Message, Text, ToolUse, tool_uses
from .prose import quoted
from .transcript import Asked, Card, Said, Step, turns

_REPEATED = ("run_cell", "edit_cell", "add_markdown", "delete_cell")
"""Calls that a recording makes again. What was looked at is left out, but for the notebook,
which must be read before it can be changed."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}")
"""Is another in every run."""
_NAME = re.compile(r"^\w[\w.]*", re.M)
_ERRORS = ("Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration")
"""How the names of exceptions end."""
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
            script.say(quoted(turn.asked))
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
        for item in step.items:
            if isinstance(item, Asked):
                self.say(quoted(item.text))

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
        names = (match.group().rstrip(".") for match in _NAME.finditer(card.result))
        errors = [name for name in names if name.endswith(_ERRORS)]
        reads = f"^{re.escape(errors[-1])}" if errors else ""
        return {"status": "error", "reads": reads}
    # Of an edited cell the model was told that it had been edited: this time it is not.
    alike = card.name != "read_notebook" and not card.edited
    if not alike or not card.result or _ADDRESS.search(card.result):
        return {"status": "ok"}
    words = " ".join(card.result.split())
    return {"status": "ok", "reads": _BODY, "digest": hashlib.sha256(words.encode()).hexdigest()}
