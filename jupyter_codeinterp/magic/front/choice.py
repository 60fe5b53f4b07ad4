"""What a person may answer when code waits for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Action = Literal["run", "edited", "discard", "insert", "stop"]
RUN: Action = "run"
EDITED: Action = "edited"
DISCARD: Action = "discard"
INSERT: Action = "insert"
STOP: Action = "stop"


@dataclass(frozen=True)
class Choice:
    """``source`` is all that is to run."""

    action: Action
    source: str = ""
