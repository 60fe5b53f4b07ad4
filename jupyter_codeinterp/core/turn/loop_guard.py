"""Loop guard: notices a model that goes in circles, from what it calls and what came back."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from ..messages import ToolUse

REPEATS_BEFORE_NOTE = 2
"""The same tool, input and result this often running: the model is told."""

NOTE = (
    "Note: this gave the same result {count} times. Repeating it will not help. Try something "
    "different, or stop and tell the person what the obstacle is."
)


class LoopGuard:
    """One turn's calls. ``add`` answers ``go``, ``note`` (tell the model) or ``stop``.

    ``stop`` comes when the very thing that was noted happens once more.
    """

    def __init__(self) -> None:
        self.count = 0
        self._last = ""

    @property
    def note(self) -> str:
        return NOTE.format(count=self.count)

    @property
    def reason(self) -> str:
        """Why the turn is stopped, for the person."""
        return f"Stopped: the same step gave the same result {self.count} times."

    def add(self, call: ToolUse, result: str) -> Literal["go", "note", "stop"]:
        key = _key(call.name, call.input, result)
        self.count = self.count + 1 if key == self._last else 1
        self._last = key
        if self.count > REPEATS_BEFORE_NOTE:
            return "stop"
        return "note" if self.count == REPEATS_BEFORE_NOTE else "go"


def _key(name: str, arguments: dict[str, Any], result: str) -> str:
    """Tool, input and result, without what differs from run to run: ids, counts, times."""
    bare = re.sub(r"\b(cell_id|place|execution_count|elapsed)=\S+|\bIn ?\[\d+\]", "", result)
    given = {k: v for k, v in arguments.items() if k != "title"}
    return f"{name} {msgspec.json.encode(given, order='sorted').decode()} {bare}"
