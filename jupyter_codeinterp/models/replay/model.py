"""A recorded conversation as a model: recorded code, live execution.

Recordings name their tool calls (``RecordedStep``). ``{{name.cell}}`` is the live id of the cell
that the call of that name made or edited (in ``cell_id``, ``position`` and texts).

Outputs are never recorded. For each call, the recording has the status and a regular expression
for the quoted part of the result. Its named groups are filled in from the live result
(``{{name.group}}``, in texts only, so no output ever becomes code).

The request alone determines the next step: an object of this class has no state, and can play to
many sessions at once.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any, Literal, Union

import msgspec

from ... import demo
from ...journal.transcript import is_report
from ...view.untrusted import bare
from ...wire.messages import Message, Text, ToolResult, ToolUse, Usage, assistant, tool_uses
from ...wire.ports import ModelDone, ModelEvent, ModelInfo, ModelRequest, ModelText, ModelToolInput

# -------------------------------------------------------------------------------------------------
# The format of recordings: JSONL, first a ``RecordingHeader``, then one ``RecordedStep`` a line,
# an assistant message in the form of the Messages API.


class RecordingHeader(msgspec.Struct, frozen=True):
    """``questions`` are wordings of the recording's one question, the usual one first."""

    title: str
    version: Literal[1]
    questions: tuple[str, ...]


class ExpectedResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The outcome of a call that the recording requires. ``reads`` is a regular expression
    (multi-line) that must match in the result."""

    status: Literal["ok", "error"] = "ok"
    reads: str = ""


class RecordedStep(msgspec.Struct, frozen=True):
    """One assistant message; ``expect`` is by call name, ``ExpectedResult()`` if missing."""

    role: Literal["assistant"]
    content: tuple[Union[Text, ToolUse], ...]
    expect: dict[str, ExpectedResult] = {}


class Recording(msgspec.Struct, frozen=True):
    header: RecordingHeader
    steps: tuple[RecordedStep, ...]


def parse(text: bytes) -> Recording:
    """A recording of this package. Raises msgspec.DecodeError."""
    first, *others = text.splitlines()
    header = msgspec.json.decode(first, type=RecordingHeader)
    return Recording(header, tuple(msgspec.json.decode(line, type=RecordedStep) for line in others))


PACE = 40.0
"""Words a second: quick, but the eye can follow."""
_NOTES = re.compile(r"\A(?:\[[^\]\n]*\]\n)+")
CODE_CHUNK = 4
"""Characters of code that appear at once."""
CODE_SPEED = 2
"""Chunks of code for each word: 320 characters a second at the usual pace."""

CONNECT = "set `ANTHROPIC_API_KEY` before JupyterLab starts, or paste a key in the panel"


class Outcome(msgspec.Struct, frozen=True):
    """The live outcome of a recorded call. ``text``: of its tool result."""

    name: str
    title: str
    expected: ExpectedResult
    text: str

    @property
    def status(self) -> str:
        found = re.match(r"status=(\w+)", self.text)
        return found[1] if found else ""

    @property
    def cell(self) -> str:
        found = re.match(r"[^\n]*\bcell_id=(\S+)", self.text)
        return found[1] if found else ""

    @property
    def read(self) -> re.Match[str] | None:
        """The part of the result that the recording quotes."""
        return re.search(self.expected.reads, self.text, re.MULTILINE)

    @property
    def figures(self) -> dict[str, str]:
        found = self.read
        return {**(found.groupdict() if found else {}), "cell": self.cell}


class ReplayModel:
    """Plays a recording, by default the demo's. ``pace`` is in words a second; 0 plays without
    waiting."""

    def __init__(
        self, recording: Recording | None = None, *, pace: float = PACE, always_ask: bool = True
    ) -> None:
        recording = recording or parse(demo.read("growth.jsonl"))
        self.always_ask = always_ask
        self._header = recording.header
        self._steps = recording.steps
        self._pause = 1 / pace if pace else 0.0

    async def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, "Offline demo", 200_000, prices=(0.0, 0.0, 0.0, 0.0))

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return (await self.info(demo.MODEL),)

    async def aclose(self) -> None:
        """Do nothing: a recording has no connection."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        blocks = self._reply(request.messages)
        for index, block in enumerate(blocks):
            if isinstance(block, Text):
                for words in re.findall(r"\S+\s*|\s+", block.text):
                    yield ModelText(index, words)
                    await asyncio.sleep(self._pause)
            else:
                for partial in _growing(block.input):
                    yield ModelToolInput(index, block.id, block.name, partial)
                    await asyncio.sleep(self._pause / CODE_SPEED)
        message = assistant(*blocks)
        yield ModelDone(message, "tool_use" if tool_uses(message) else "end_turn", Usage())

    # --- the next step -------------------------------------------------------------

    def _reply(self, messages: Sequence[Message]) -> tuple[Text | ToolUse, ...]:
        asked = self._asked(messages)
        if asked is None:
            return (Text(self._what_it_is()),)
        since = messages[asked + 1 :]
        number = sum(message.role == "assistant" for message in since)
        if number >= len(self._steps):
            return (Text(self._what_it_is()),)
        outcomes = self._outcomes(since)
        step = self._steps[number]
        answers = all(isinstance(block, Text) for block in step.content)
        for outcome in outcomes:
            if _departs(outcome) or (answers and outcome.read is None):
                return (Text(_differs(outcome)),)
        notebook = "".join(part.text for part in messages[asked].content if isinstance(part, Text))
        return tuple(_live(block, outcomes, notebook) for block in step.content)

    def _asked(self, messages: Sequence[Message]) -> int | None:
        """Index of the person's newest message; None if the recording cannot answer it.

        The person's words end the message. Before them come notebook contents, results of a
        stopped turn, and notes (lines in square brackets).
        """
        for index in reversed(range(len(messages))):
            last = messages[index].content[-1]
            if messages[index].role == "user" and isinstance(last, Text):
                known = [_words(question) for question in self._header.questions]
                return index if _words(_NOTES.sub("", last.text)) in known else None
        return None

    def _outcomes(self, since: Sequence[Message]) -> tuple[Outcome, ...]:
        """Match recorded and live calls by their place in the conversation."""
        texts = {
            block.tool_use_id: bare(_result(block))
            for message in since
            for block in message.content
            if isinstance(block, ToolResult)
        }
        played = (message for message in since if message.role == "assistant")
        return tuple(
            Outcome(
                name=recorded.id,
                title=recorded.input.get("title", recorded.name),
                expected=step.expect.get(recorded.id, ExpectedResult()),
                text=texts.get(live.id, ""),
            )
            for step, message in zip(self._steps, played, strict=False)
            for recorded, live in zip(_calls(step), tool_uses(message), strict=True)
        )

    def _what_it_is(self) -> str:
        return (
            "The offline demo plays a recorded conversation and knows one question: "
            f"“{self._header.questions[0]}” To ask your own, {CONNECT}."
        )


# --- from the recording to the live conversation -----------------------------------------


def _live(block: Text | ToolUse, outcomes: Sequence[Outcome], notebook: str) -> Text | ToolUse:
    """The block with live values. ``notebook`` is the notebook as the model saw it: no new cell
    goes after a demo cell that the person has removed from it."""
    if isinstance(block, Text):
        return Text(_filled(block.text, {o.name: o.figures for o in outcomes}))
    cells = {outcome.name: {"cell": outcome.cell} for outcome in outcomes}
    places: dict[str, Any] = {
        key: _filled(block.input[key], cells)
        for key in ("cell_id", "position")
        if key in block.input
    }
    live = {**block.input, **places}
    place = block.input.get("position", "{{")
    if "{{" not in place and place.partition(":")[2] not in notebook:
        del live["position"]
    return ToolUse(f"toolu_{uuid.uuid4().hex}", block.name, live)


def _filled(text: str, figures: dict[str, dict[str, str]]) -> str:
    """Fill in known names. Other braces stay: a text may be about templates."""

    def value(found: re.Match[str]) -> str:
        return figures.get(found[1], {}).get(found[2], found[0])

    return re.sub(r"\{\{(\w+)\.(\w+)\}\}", value, text)


def _result(block: ToolResult) -> str:
    """The result's text without findings and cautions, which a recording does not quote."""
    texts = (part.text for part in block.content if isinstance(part, Text))
    return "".join(text for text in texts if not is_report(text))


def _calls(step: RecordedStep) -> tuple[ToolUse, ...]:
    return tuple(block for block in step.content if isinstance(block, ToolUse))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _growing(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The input as it is written: nothing, then each property, the last one in chunks."""
    seen: dict[str, Any] = {}
    yield seen
    *others, (last, text) = arguments.items()
    for key, value in others:
        seen = {**seen, key: value}
        yield seen
    for end in range(CODE_CHUNK, len(text) + CODE_CHUNK, CODE_CHUNK):
        yield {**seen, last: text[:end]}


# --- where the live conversation departs from the recording ------------------------------


def _departs(outcome: Outcome) -> bool:
    """Whether the recording cannot go on after this result."""
    if outcome.status == "error" and outcome.read is None:
        return True
    return outcome.status != outcome.expected.status


def _differs(outcome: Outcome) -> str:
    place = f"[{outcome.title}](#cell:{outcome.cell})" if outcome.cell else f"“{outcome.title}”"
    return (
        f"**This run differs from the recording**: {place} had another result "
        f"(`status={outcome.status}`), because you decided otherwise, or the data or the code has "
        "changed. The recorded answer would describe other figures, so the recording stops here. "
        f"Ask again to restart it. For a model that can continue from here, {CONNECT}."
    )
