"""The time that watching a cell may cost. This file's text runs **in the kernel**.

Standard library only.
"""

from __future__ import annotations

import time

SECONDS = 0.018
"""For all work before, in and after a cell, in the thread's processor time, so that a busy machine
does not shorten it. The last step may take longer."""


class Budget:
    def __init__(self) -> None:
        self.spent = 0.0

    def deadline(self, share: float) -> float:
        """The time (of ``thread_time``) at which ``share`` of the budget is spent."""
        return time.thread_time() + SECONDS * share - self.spent
