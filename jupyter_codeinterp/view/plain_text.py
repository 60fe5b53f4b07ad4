"""Terminal output as bounded plain text, as a person finally sees it.

The text may be hostile, so every function takes linear time, and long text is cut before it is
read.
"""

from __future__ import annotations

import re

READ = 300_000
"""Characters of one text that are read: more than a run's outputs keep."""

_CSI = r"\x1b\[[0-?]*[ -/]*[@-~]"
_OSC = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_ESCAPE = re.compile(rf"{_CSI}|{_OSC}|\x1b[ -/]*[0-~]?")
_ERASES = ("\x1b[2K", "\r\x1b[K", "\r\x1b[0K")
"""Erase all of a line before them."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
CELL_LINK = re.compile(r'\[([^\[\]\n]*)\]\(#cell:([\w-]*)(?:[ \t]+"[^"\n]{0,300}")?\)')
"""A link of an answer to a cell: its text, the cell's id, and a title, as
``[7,412](#cell:ID "Kiel, revenue")``."""
_DATA_URI = re.compile(r"(data:[\w.+/-]+;base64,)[A-Za-z0-9+/=]{32,}")


def clean(text: str) -> str:
    """``text`` as a terminal shows it in the end: no colours, progress bars at their last
    state, no control characters, no base64 of data URIs, nothing that is not UTF-8."""
    text = cut(text, READ).replace("\r\n", "\n")
    if "\x1b" in text:
        text = _ESCAPE.sub("", "\n".join(map(_not_erased, text.split("\n"))))
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    text = _DATA_URI.sub(r"\1[…]", _CONTROL.sub("", text))
    return text.encode("utf-8", "replace").decode("utf-8")


def _not_erased(line: str) -> str:
    for erases in _ERASES:
        line = line.rpartition(erases)[2]
    return line


def _overwritten(line: str) -> str:
    """The line after its parts, separated by carriage returns, overwrite each other."""
    left: list[str] = []
    length = 0
    for part in reversed(line.split("\r")):
        if len(part) > length:
            left.append(part[length:])
            length = len(part)
    return "".join(left)


def cut(text: str, limit: int) -> str:
    """``text``, or its beginning and end with a line between that says how much is left out. At
    most ``limit`` characters."""
    if len(text) <= limit:
        return text
    head, foot = ends(text, max(0, limit - 50))
    left_out = len(text) - len(head) - len(foot)
    return f"{head}\n[… {left_out:,} characters left out …]\n{foot}"[:limit]


def ends(text: str, room: int, tail: int = 0) -> tuple[str, str]:
    """The first 60 % and the last 40 % of ``room`` characters of a longer ``text``.

    At least ``tail`` characters of the end, if they fit. Lines are kept whole where that
    costs less than a tenth.
    """
    end = min(room, max(room * 4 // 10, tail))
    head, foot = text[: room - end], text[len(text) - end :]
    newline = head.rfind("\n")
    if newline > len(head) * 9 // 10:
        head = head[:newline]
    newline = foot.find("\n") + 1
    if newline < end // 10 and end - newline >= tail:
        foot = foot[newline:]
    return head, foot
