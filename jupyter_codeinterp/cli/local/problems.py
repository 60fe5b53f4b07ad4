"""What ends a command, in words, and the code that a shell gets."""

from __future__ import annotations

DONE = 0
FAILED = 1
"""The model or the code failed, or something here is wrong."""
USAGE = 2
"""Nothing was begun: what was asked for cannot be done."""
LIMIT = 3
INTERRUPTED = 130


class Problem(Exception):
    def __init__(self, words: str, code: int = FAILED) -> None:
        super().__init__(words)
        self.words = words
        self.code = code
