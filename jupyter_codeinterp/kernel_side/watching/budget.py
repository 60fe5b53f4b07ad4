"""The time that watching a cell may cost. This file's text runs **in the kernel**.

Standard library only.
"""

from __future__ import annotations

import time

SECONDS = 0.018
"""For all that is done before, in and after a cell. One more step may be under way."""


class Budget:
    def __init__(self) -> None:
        self.spent = 0.0

    def deadline(self, share: float) -> float:
        """When this work must end so that ``share`` of the time is spent."""
        return time.perf_counter() + SECONDS * share - self.spent
