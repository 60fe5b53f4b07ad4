"""A person's decision on waiting code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Action = Literal["run", "edited", "discard", "stop", "nobody"]


@dataclass(frozen=True)
class Choice:
    """``source``: exactly the code to run; ``reason``: for the model, with a rejection."""

    action: Action
    source: str = ""
    reason: str = ""
