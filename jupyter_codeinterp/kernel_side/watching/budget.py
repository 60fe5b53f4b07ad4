"""The time that watching a cell may cost. This file's text runs **in the kernel**.

Standard library only.
"""

from __future__ import annotations

import time

SECONDS = 0.018
"""For all that is done before, in and after a cell, of the thread's processor time: what others do
on a busy machine ends no look. One more step may be under way."""


class Budget:
    def __init__(self) -> None:
        self.spent = 0.0

    def deadline(self, share: float) -> float:
        """When this work must end so that ``share`` of the time is spent."""
        return time.thread_time() + SECONDS * share - self.spent
