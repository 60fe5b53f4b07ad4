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
from ..history.prose import quoted
from ..history.transcript import Card, ModelText, PersonMessage, Step, turns, without_reports
from ..messages import Message, Text, ToolUse, tool_uses

_REPEATED = ("run_cell", "edit_cell", "add_markdown", "delete_cell")
"""Calls that a recording repeats. Of reading calls it keeps only ``read_notebook``, which must come
before a change."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}")
"""Differs from run to run."""
_NAME = re.compile(r"^\w[\w.]*", re.M)
_ERRORS = ("Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration")
"""Endings of exception names."""
_BODY = r"(?<=\n)[\s\S]+"
"""Matches a result without its line of facts."""
THE_END = "The recorded conversation ends here."


def recording(info: SessionInfo, events: Iterable[Event], messages: Iterable[Message]) -> str:
    """The conversation as the replay model plays it: a header and assistant messages, JSONL.

    A recording answers one question: the first. Its answer quotes later ones. ``messages`` are
    all of the session's, for the calls' inputs. Raises CommandError ``nothing_said``.
    """
    found = turns(events)
    question = next((turn.asked for turn in found if turn.asked), "")
    if not question:
        raise CommandError("nothing_said", "This conversation is still empty.")
    inputs = {call.id: call.input for message in messages for call in tool_uses(message)}
    script = _Script(inputs)
    for number, turn in enumerate(found):
        if number and turn.asked:
            script.say(quoted(turn.asked))
        for step in turn.steps:
            script.add(step)
    header = {"title": info.title, "version": 1, "questions": [question]}
    lines = [header, *script.lines()]
    return "".join(f"{msgspec.json.encode(line).decode()}\n" for line in lines)


class _Script:
    """Collects the steps of a recording. A step without a call would end the answer, so its text
    moves to the next step."""

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
            if isinstance(item, ModelText):
                self.say(item.text)
            elif isinstance(item, Card) and (call := self._call(item)) is not None:
                calls.append(call)
                expect[call.id] = _expected(item)
                if item.done is not None and item.done.cell_id:
                    self._names[item.done.cell_id] = call.id
        if calls:
            self._close(calls, expect)
        for item in step.items:
            if isinstance(item, PersonMessage):
                self.say(quoted(item.text))

    def lines(self) -> list[dict[str, Any]]:
        """All steps; the last one is text and ends the answer."""
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
        """The call to repeat; None to omit it. ``title`` comes first and the streamed ``source``
        last. The decided source replaces the model's. A draft that code proposed is omitted: the
        code will propose it again."""
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
        """A placeholder for the id of a cell that the recording makes; other ids stay."""
        name = self._names.get(cell_id)
        return f"{{{{{name}.cell}}}}" if name else cell_id

    def _linked(self, text: str) -> str:
        return re.sub(r"(?<=#cell:)[\w-]+", lambda found: self._place(found[0]), text)


def _expected(card: Card) -> dict[str, str]:
    """The result that the call must have for the recording to continue."""
    detail = without_reports(card.done.detail, card.done.notes) if card.done is not None else ""
    result = detail.partition("\n")[2]
    if card.status == "error":
        names = (match.group().rstrip(".") for match in _NAME.finditer(result))
        errors = [name for name in names if name.endswith(_ERRORS)]
        reads = f"^{re.escape(errors[-1])}" if errors else ""
        return {"status": "error", "reads": reads}
    # The result of an edited cell mentioned the edit, which will not happen again.
    alike = card.name != "read_notebook" and not card.edited
    if not alike or not result or _ADDRESS.search(result):
        return {"status": "ok"}
    words = " ".join(result.split())
    return {"status": "ok", "reads": _BODY, "digest": hashlib.sha256(words.encode()).hexdigest()}
