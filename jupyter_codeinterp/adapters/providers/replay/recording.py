"""The format of recordings: JSONL, first a ``Header``, then one ``Step`` a line, an assistant
message in the form of the Messages API."""

from __future__ import annotations

import re
from typing import Literal, Union

import msgspec

from ....core.errors import CodeInterpError
from ....core.messages import Text, ToolUse

NEWEST = 1
"""The newest supported version of the format."""
LONGEST_PATTERN = 10_000
_CELL = re.compile(r"\{\{(\w+)\.cell\}\}")
_CHANGES = ("edit_cell", "delete_cell")
"""Tools that change the cell of their ``cell_id``."""


class Header(msgspec.Struct, frozen=True):
    """``questions`` are wordings of the one question, the usual one first."""

    title: str
    version: Literal[1]
    questions: tuple[str, ...]


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The outcome of a call that the recording requires.

    ``reads`` is a regular expression (multi-line) that must match in the result; ``digest`` the
    SHA-256 of the match, each run of whitespace made one space.
    """

    status: Literal["ok", "error"] = "ok"
    reads: str = ""
    digest: str = ""


class Step(msgspec.Struct, frozen=True):
    """One assistant message; ``expect`` is by call name, ``Expected()`` if missing."""

    role: Literal["assistant"]
    content: tuple[Union[Text, ToolUse], ...]
    expect: dict[str, Expected] = {}


class Recording(msgspec.Struct, frozen=True):
    """``always_ask``: no mode runs its code without a person. Recording files cannot set it."""

    header: Header
    steps: tuple[Step, ...]
    always_ask: bool = True

    @property
    def question(self) -> str:
        return self.header.questions[0]


class RecordingError(CodeInterpError):
    """``no_recording``, ``newer_recording``, ``cut_off`` or ``not_its_own``."""


class _Versioned(msgspec.Struct, frozen=True):
    version: int


def parse(text: bytes) -> Recording:
    """Raises RecordingError."""
    first, *others = text.splitlines() or [b""]
    try:
        version = msgspec.json.decode(first, type=_Versioned).version
        if version > NEWEST:
            words = (
                f"The recording has format version {version}. This program reads up to version "
                f"{NEWEST}."
            )
            raise RecordingError("newer_recording", words)
        header = msgspec.json.decode(first, type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        words = f"This is not a recording: its first line is not valid ({error})."
        raise RecordingError("no_recording", words) from None
    if not header.questions:
        raise RecordingError("no_recording", "This is not a recording: it answers no question.")
    steps: list[Step] = []
    for number, line in enumerate(others, 2):
        try:
            steps.append(msgspec.json.decode(line, type=Step))
            _check(steps[-1])
        except (ValueError, OverflowError, RecursionError, re.error) as error:
            if number == len(others) + 1:
                words = f"The recording is cut off: line {number} is incomplete ({error})."
                raise RecordingError("cut_off", words) from None
            words = f"This is not a recording: line {number} is not a valid step ({error})."
            raise RecordingError("no_recording", words) from None
    return Recording(header, tuple(steps))


def _check(step: Step) -> None:
    """Raises ValueError for a step that cannot be played."""
    for block in step.content:
        if isinstance(block, ToolUse) and not isinstance(block.input.get("title"), str):
            raise ValueError("a call has no title")
    for expected in step.expect.values():
        if len(expected.reads) > LONGEST_PATTERN:
            raise ValueError("a regular expression is too long")
        re.compile(expected.reads)


def check(recording: Recording) -> None:
    """Check an untrusted recording: it is complete, and changes only cells that it makes. Raises
    RecordingError ``cut_off`` or ``not_its_own``."""
    steps = recording.steps
    if not steps or any(isinstance(block, ToolUse) for block in steps[-1].content):
        raise RecordingError("cut_off", "The recording is cut off: its answer is incomplete.")
    own: set[str] = set()
    for step in steps:
        for block in step.content:
            if not isinstance(block, ToolUse):
                continue
            place = _CELL.fullmatch(str(block.input.get("cell_id", "")))
            if block.name not in _CHANGES or (place is not None and place[1] in own):
                own.add(block.id)
            else:
                words = (
                    "Cannot play this recording: it changes a cell that it did not create "
                    f"({block.input['title']})."
                )
                raise RecordingError("not_its_own", words)
