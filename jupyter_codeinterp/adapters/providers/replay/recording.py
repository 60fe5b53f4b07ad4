"""The format of recordings: JSONL, first a ``Header``, then one ``Step`` a line, an assistant
message in the form of the Messages API."""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from ....core.messages import Text, ToolUse


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
    header: Header
    steps: tuple[Step, ...]


def parse(text: bytes) -> Recording:
    """A recording of this package. Raises msgspec.DecodeError."""
    first, *others = text.splitlines()
    header = msgspec.json.decode(first, type=Header)
    return Recording(header, tuple(msgspec.json.decode(line, type=Step) for line in others))
