"""Kept answers: accepted by a person, and reused while prompt and values are the same."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec
from jupyter_core.paths import jupyter_data_dir

from ..base.sentences import from_journal, to_journal
from ..wire.events import (
    DraftDecided,
    DraftOpened,
    DraftWaiting,
    Event,
    QuestionAsked,
    RunStarted,
    StepDiscarded,
    StepStarted,
    TextDone,
    ToolDone,
)
from ..wire.messages import Message, Text, ToolResult, ToolUse, Usage, assistant
from ..wire.ports import ModelDone, ModelEvent, ModelInfo, ModelRequest, ModelText, ModelToolInput
from .asking.options import Options

# -------------------------------------------------------------------------------------------------
# An accepted answer: its texts, and the code that ran.


class Part(msgspec.Struct, frozen=True):
    """A text or a cell. ``reviewed``: the person decided on exactly this code."""

    kind: Literal["text", "code"]
    text: str
    title: str = ""
    reviewed: bool = False


class AcceptedAnswer(msgspec.Struct, frozen=True):
    """``time``: when the person accepted it, in seconds since 1970."""

    parts: tuple[Part, ...]
    time: float
    version: Literal[1] = 1


def answer_of(events: Iterable[Event], time: float) -> AcceptedAnswer | None:
    """The answer of a completed turn: its texts, and the cells that ran without an error. None if
    the person answered a question or rejected code, because the answer depends on that, too."""
    parts: list[Part] = []
    cells: dict[str, Part] = {}
    ran: set[str] = set()
    before_step = 0
    for event in events:
        if isinstance(event, StepStarted):
            before_step = len(parts)
        elif isinstance(event, StepDiscarded):
            del parts[before_step:]
        elif isinstance(event, TextDone):
            parts.append(Part("text", event.text))
        elif isinstance(event, DraftOpened):
            cells[event.call_id] = Part("code", "", event.title)
        elif isinstance(event, DraftWaiting):
            draft = event.draft
            cells[draft.call_id] = Part("code", draft.source, draft.title)
        elif isinstance(event, QuestionAsked) or _is_rejected(event):
            return None
        elif isinstance(event, DraftDecided) and event.call_id in cells:
            cells[event.call_id] = _decided(cells[event.call_id], event)
        elif isinstance(event, RunStarted):
            ran.add(event.call_id)
        elif isinstance(event, ToolDone) and event.status == "ok" and event.call_id in cells:
            cell = cells[event.call_id]
            if event.call_id in ran:
                parts.append(cell)
            elif event.name == "add_markdown":
                parts.append(Part("text", cell.text))
    return AcceptedAnswer(tuple(parts), time)


def _is_rejected(event: Event) -> bool:
    return isinstance(event, DraftDecided) and event.action == "reject" and event.by == "person"


def _decided(cell: Part, decided: DraftDecided) -> Part:
    source = cell.text if decided.source is None else decided.source
    return msgspec.structs.replace(cell, text=source, reviewed=decided.by == "person")


# -------------------------------------------------------------------------------------------------
# Keeps answers in the person's own data folder, one file each.
#
# A notebook cannot contain them: they come only from this person's decisions. So a kept answer may
# run without asking, for exactly the same prompt and folder.

MOST = 1_000
"""Number of kept answers; the least recently used are deleted first."""
_SUFFIX = ".json"


def key_of(*of: object) -> str:
    """The digest of everything that an answer depends on."""
    return hashlib.sha256(msgspec.json.encode(of, enc_hook=to_journal)).hexdigest()


class KeptAnswers:
    @property
    def folder(self) -> Path:
        return Path(jupyter_data_dir(), "codeinterp", "answers")

    def get(self, key: str) -> AcceptedAnswer | None:
        """The kept answer. None also if its file is unreadable, or writable by others."""
        file = self.folder / f"{key}{_SUFFIX}"
        try:
            if os.name == "posix" and file.stat().st_mode & 0o022:
                return None
            answer = msgspec.json.decode(
                file.read_bytes(), type=AcceptedAnswer, dec_hook=from_journal
            )
            os.utime(file)
        except (OSError, msgspec.MsgspecError):
            return None
        return answer

    def put(self, key: str, answer: AcceptedAnswer) -> None:
        """Keep an answer. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        new = self.folder / f"{key}.{os.getpid()}.new"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(answer, enc_hook=to_journal))
        new.replace(self.folder / f"{key}{_SUFFIX}")
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        kept = sorted(self.folder.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime)
        for file in kept[:-MOST]:
            file.unlink(missing_ok=True)


# -------------------------------------------------------------------------------------------------
# A kept answer as a model: the conversation, checks and limits treat it like any other.

KEPT = "Kept answer of {taken}; no model was asked. %%ai --again asks it again."
FAILED = "The kept code did not run to its end. `%%ai --again` asks the model again."


class KeptModel:
    """A model that replays a kept answer. ``failed``: a cell failed, so the rest was left out."""

    always_ask = False

    def __init__(self, answer: AcceptedAnswer) -> None:
        self._steps = _steps(answer.parts)
        self._reviewed = {part.text for part in answer.parts if part.reviewed}
        self.failed = False
        taken = datetime.fromtimestamp(answer.time)
        self.words = KEPT.format(taken=f"{taken:%Y-%m-%d %H:%M}")

    def approved(self, source: str) -> bool:
        """Whether the person decided on exactly this code, for this prompt."""
        return source in self._reviewed

    async def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, "Kept answer", 200_000, prices=(0.0, 0.0, 0.0, 0.0))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.failed = _has_failed(request.messages[-1])
        step = self._steps.pop(0) if self._steps and not self.failed else [Part("text", FAILED)]
        blocks: list[Text | ToolUse] = []
        for part in step:
            if part.kind == "text":
                blocks.append(Text(part.text))
                yield ModelText(len(blocks) - 1, part.text)
            else:
                given = {"title": part.title, "source": part.text}
                blocks.append(ToolUse(f"toolu_{uuid.uuid4().hex}", "run_cell", given))
                yield ModelToolInput(len(blocks) - 1, blocks[-1].id, "run_cell", given)  # type: ignore[union-attr]
        calls = any(part.kind == "code" for part in step)
        yield ModelDone(assistant(*blocks), "tool_use" if calls else "end_turn", Usage())


def _steps(parts: Sequence[Part]) -> list[list[Part]]:
    """Each step ends with a cell; the last one has texts only."""
    steps: list[list[Part]] = [[]]
    for part in parts:
        steps[-1].append(part)
        if part.kind == "code":
            steps.append([])
    return steps if steps[-1] else [*steps[:-1], [Part("text", "Done.")]]


def _has_failed(message: Message) -> bool:
    return any(isinstance(block, ToolResult) and block.is_error for block in message.content)


# -------------------------------------------------------------------------------------------------
# The kept answer of one prompt: finds it, and keeps a new one.


class Keeping:
    """An answer is valid for the same prompt, values, options and folder. Answers under ``-y`` are
    valid only under ``-y``, because nobody has reviewed their code."""

    def __init__(self, text: str, options: Options) -> None:
        said = (options.model, options.form, options.context)
        runs = (options.yes, options.question, options.planned, options.cell)
        self._key = key_of(str(Path.cwd()), text, said, runs)
        self._again = options.again
        self._answers = KeptAnswers()

    def model(self) -> KeptModel | None:
        answer = None if self._again else self._answers.get(self._key)
        return None if answer is None else KeptModel(answer)

    def take(
        self, events: list[Event], scrub: Callable[[str], str], note: Callable[[str], None]
    ) -> None:
        """Keep the answer of a completed turn, unless it contains a known key."""
        answer = answer_of(events, time.time())
        if answer is None or any(scrub(part.text) != part.text for part in answer.parts):
            return
        try:
            self._answers.put(self._key, answer)
        except OSError as error:
            note(
                f"Could not keep this answer: {error.strerror}. The next run asks the model again."
            )
