"""Terminal output and HTML as plain text, the way a person sees them.

Every function is linear in its input: what it reads comes from code that may be hostile.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_CSI = r"\x1b\[[0-?]*[ -/]*[@-~]"
_OSC = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_ESCAPE = re.compile(rf"{_CSI}|{_OSC}|\x1b[ -/]*[0-~]?")
_MOVES = re.compile(r"\x08|\x1b\[\d*[AK]")
_TOKEN = re.compile(
    rf"\x1b\[(?P<count>\d*)(?P<move>[AK])|{_ESCAPE.pattern}|[\r\b\n]|[^\r\b\n\x1b]+"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DATA_URI = re.compile(r"(data:[\w.+/-]+;base64,)[A-Za-z0-9+/=]{32,}")

_HTML_LIMIT = 100_000
"""Characters of HTML that are read; a table beyond that is no reading matter."""


def clean(text: str) -> str:
    """``text`` as a terminal shows it in the end: no colours, progress bars at their last
    state, no control characters, no base64 of data URIs, nothing that is not UTF-8."""
    text = text.replace("\r\n", "\n")
    if _MOVES.search(text):
        text = _settle(text)
    elif "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    text = _DATA_URI.sub(r"\1[…]", _CONTROL.sub("", text))
    return text.encode("utf-8", "replace").decode("utf-8")


def _overwritten(line: str) -> str:
    """What is left of parts, divided by carriage returns, written over each other."""
    left = ""
    for part in reversed(line.split("\r")):
        left += part[len(left) :]
    return left


def _settle(text: str) -> str:
    """Play carriage returns, backspaces, cursor-up and erase-line; drop other escapes."""
    rows: list[list[str]] = []  # above the cursor
    below: list[list[str]] = []  # under it, after a cursor-up; the nearest last
    line: list[str] = []
    column = 0
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
                line[:column] = " " * min(column, len(line))
            if match["count"] != "1":
                del line[column:]
        elif token[0] != "\x1b":
            line.extend(" " * (column - len(line)))
            line[column : column + len(token)] = token
            column += len(token)
    return "\n".join("".join(row).rstrip() for row in [*rows, line, *reversed(below)])


_BREAKS = re.compile(
    "address|article|aside|blockquote|br|caption|d[dlt]|div|fig(ure|caption)|footer|form|h[1-6r]|"
    "header|li|main|nav|[ou]l|p|pre|section|summary|table|tbody|tfoot|thead|tr"
)
_SILENT = frozenset(("head", "noscript", "script", "style", "svg", "template", "title"))


class _Stripper(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent.append(tag)
        elif _BREAKS.fullmatch(tag):
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            while self._silent.pop() != tag:
                pass
        elif tag in ("td", "th"):
            self.parts.append("\t")
        elif _BREAKS.fullmatch(tag):
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(" ".join(data.split("\n")))


def strip_html(html: str) -> str:
    """The text of ``html``: one line a block or table row, cells parted by tabs."""
    stripper = _Stripper()
    stripper.feed(html[:_HTML_LIMIT])
    stripper.close()
    lines = (
        "\t".join(" ".join(cell.split()) for cell in line.split("\t")).strip()
        for line in "".join(stripper.parts).split("\n")
    )
    text = "\n".join(line for line in lines if line)
    return text if len(html) <= _HTML_LIMIT else f"{text}\n[the rest of the HTML was not read]"


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
