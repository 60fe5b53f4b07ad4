"""Terminal output as bounded plain text, as a person finally sees it.

The text may be hostile, so every function takes linear time, and long text is cut before it is
read.
"""

from __future__ import annotations

import re

READ = 300_000
"""Characters of one text that are read: more than a run's outputs keep."""
PLAYED = 50_000
"""Characters in which cursor moves are played, one character at a time."""

_CSI = r"\x1b\[[0-?]*[ -/]*[@-~]"
_OSC = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_ESCAPE = re.compile(rf"{_CSI}|{_OSC}|\x1b[ -/]*[0-~]?")
_MOVES = re.compile(r"\x08|\x1b\[\d*[AK]")
_TOKEN = re.compile(
    rf"\x1b\[(?P<count>\d*)(?P<move>[AK])|{_ESCAPE.pattern}|[\r\b\n]|[^\r\b\n\x1b]+"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
CELL_LINK = re.compile(r'\[([^\[\]\n]*)\]\(#cell:([\w-]*)(?:[ \t]+"[^"\n]{0,300}")?\)')
"""A link of an answer to a cell: its text, the cell's id, and a title, as
``[7,412](#cell:ID "Kiel, revenue")``."""
_DATA_URI = re.compile(r"(data:[\w.+/-]+;base64,)[A-Za-z0-9+/=]{32,}")


def clean(text: str) -> str:
    """``text`` as a terminal shows it in the end: no colours, progress bars at their last
    state, no control characters, no base64 of data URIs, nothing that is not UTF-8."""
    text = cut(text, READ).replace("\r\n", "\n")
    if _MOVES.search(text):
        text = _settle(cut(text, PLAYED))
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    text = _DATA_URI.sub(r"\1[…]", _CONTROL.sub("", text))
    return text.encode("utf-8", "replace").decode("utf-8")


def _overwritten(line: str) -> str:
    """The line after its parts, separated by carriage returns, overwrite each other."""
    left: list[str] = []
    length = 0
    for part in reversed(line.split("\r")):
        if len(part) > length:
            left.append(part[length:])
            length = len(part)
    return "".join(left)


def _settle(text: str) -> str:
    """Play carriage returns, backspaces, cursor-up and erase-line; drop other escapes.

    A short escape can erase or extend a long line. Text with too many of these keeps its escapes.
    """
    rows: list[list[str]] = []  # lines above the cursor
    below: list[list[str]] = []  # lines below it, after a cursor-up; the nearest last
    line: list[str] = []
    column = 0
    patience = 10_000 + 4 * len(text)  # characters that may be erased or padded
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "\n":
            rows.append(line)
            line, column = below.pop() if below else [], 0
        elif token == "\r":
            column = 0
        elif token == "\b":
            column = max(0, column - 1)
        elif match["move"] == "A":
            for _ in range(min(int(match["count"][:4] or 1), len(rows))):
                below.append(line)
                line = rows.pop()
        elif match["move"] == "K":
            if match["count"] in ("1", "2"):
                blanked = min(column, len(line))
                patience -= blanked
                line[:blanked] = " " * blanked
            if match["count"] != "1":
                del line[column:]
        elif token[0] != "\x1b":
            blanked = max(0, column - len(line))
            # Text in the middle of a line overwrites, so the line keeps its length.
            patience -= blanked
            line.extend(" " * blanked)
            line[column : column + len(token)] = token
            column += len(token)
        if patience < 0:
            return text
    return "\n".join("".join(row).rstrip() for row in [*rows, line, *reversed(below)])


def cut(text: str, limit: int, tail: int = 0) -> str:
    """``text``, or its beginning and end with a line between that says how much is left out.

    At most ``limit`` characters; for ``tail`` see ``ends``.
    """
    if len(text) <= limit:
        return text
    head, foot = ends(text, max(0, limit - 50), tail)
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
