"""The format of recordings: a JSONL file whose first line is a ``Header``; each further line is a
``Step``, one assistant message in the shape of the Messages API.
"""

from __future__ import annotations

import re
from typing import Literal, Union

import msgspec

from ....core.errors import CodeInterpError
from ....core.messages import Text, ToolUse

NEWEST = 1
"""The version of the format that is known here."""
_CELL = re.compile(r"\{\{(\w+)\.cell\}\}")
_CHANGES = ("edit_cell", "delete_cell")
"""Tools that change the cell that their ``cell_id`` names."""


class Header(msgspec.Struct, frozen=True):
    """``questions`` are wordings of the one question that is answered, the usual one first."""

    title: str
    version: Literal[1]
    questions: tuple[str, ...]


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a call must come to for the recording to fit.

    ``reads`` is a regular expression (multi-line) that must be found in the result;
    ``digest`` the SHA-256 of what it found, each run of whitespace made one space.
    """

    status: Literal["ok", "error"] = "ok"
    reads: str = ""
    digest: str = ""


class Step(msgspec.Struct, frozen=True):
    """One assistant message; ``expect`` is by name of a call, ``Expected()`` if missing."""

    role: Literal["assistant"]
    content: tuple[Union[Text, ToolUse], ...]
    expect: dict[str, Expected] = {}


class Recording(msgspec.Struct, frozen=True):
    header: Header
    steps: tuple[Step, ...]

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
            words = f"The recording has version {version} of the format; {NEWEST} is known here."
            raise RecordingError("newer_recording", words)
        header = msgspec.json.decode(first, type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        words = f"This is no recording: its first line says so ({error})."
        raise RecordingError("no_recording", words) from None
    if not header.questions:
        raise RecordingError("no_recording", "This is no recording: it answers no question.")
    steps: list[Step] = []
    for number, line in enumerate(others, 2):
        try:
            steps.append(msgspec.json.decode(line, type=Step))
            _check(steps[-1])
        except (ValueError, RecursionError, re.error) as error:
            if number == len(others) + 1:
                words = f"The recording is cut off: line {number} is not whole ({error})."
                raise RecordingError("cut_off", words) from None
            words = f"This is no recording: line {number} is not a step of one ({error})."
            raise RecordingError("no_recording", words) from None
    return Recording(header, tuple(steps))


def _check(step: Step) -> None:
    """Raises ValueError for what could not be played."""
    for block in step.content:
        if isinstance(block, ToolUse) and not isinstance(block.input.get("title"), str):
            raise ValueError("a call has no title")
    for expected in step.expect.values():
        re.compile(expected.reads)


def check(recording: Recording) -> None:
    """What is asked of a recording that is not the package's: it is whole, and changes only
    cells that it makes. Raises RecordingError ``cut_off`` or ``not_its_own``."""
    steps = recording.steps
    if not steps or any(isinstance(block, ToolUse) for block in steps[-1].content):
        raise RecordingError("cut_off", "The recording is cut off: its answer has no end.")
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
                    f"The recording changes a cell that it has not made ({block.input['title']}). "
                    "Such a recording is not played: only cells of its own are changed."
                )
                raise RecordingError("not_its_own", words)
