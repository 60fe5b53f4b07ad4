"""Exit codes, and the exception that ends a command with one."""

from __future__ import annotations

DONE = 0
FAILED = 1
"""The model or the code failed, or there was an internal error."""
USAGE = 2
"""Wrong usage: nothing was started."""
LIMIT = 3
INTERRUPTED = 130


class Problem(Exception):
    def __init__(self, words: str, code: int = FAILED) -> None:
        super().__init__(words)
        self.words = words
        self.code = code
