"""Why data in a kernel cannot be changed or copied. This file's text runs **in the kernel**."""

from __future__ import annotations


class CannotChange(Exception):
    """``code``: ``no_library``, ``too_large``, ``few_rows`` or ``not_a_table``; ``detail`` names
    what it is about."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
