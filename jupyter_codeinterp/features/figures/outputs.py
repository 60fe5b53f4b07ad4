"""The numbers in the outputs of cells, bounded; cells that this conversation ran come first."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ...view.html_text import strip_html
from ...view.plain_text import clean
from ...wire.ops import Output
from .numbers import Number, has_decimal_commas, scan

# -------------------------------------------------------------------------------------------------
# The text of an output as a person sees it, and excerpts of it.

MOST_HTML = 60_000
"""Characters read of an output's HTML."""
MOST_OF_ONE = 16_000
"""Characters read of one output: more than a model gets at once."""

_BARE = re.compile(r"<[\w.]+(?: object)?(?: at 0x[0-9a-fA-F]+)?>")


def text_of(output: Any) -> str:
    """An output's text as a person sees it. "" for pictures and tracebacks."""
    if not isinstance(output, dict):
        return ""
    kind = output.get("output_type")
    if kind == "stream":
        return _clean(_text(output.get("text")))
    if kind == "error":
        return _clean(_text(output.get("evalue"))[:MOST_OF_ONE])
    data = output.get("data")
    if not isinstance(data, dict) or any(str(media).startswith("image/") for media in data):
        return ""
    plain = _text(data.get("text/plain")).strip("\n")
    if plain and not (len(plain) < 200 and _BARE.fullmatch(plain)):
        return _clean(plain)
    texts = (_text(data.get(media)) for media in ("text/markdown", "text/latex"))
    return _clean(
        next(filter(None, texts), "") or strip_html(_text(data.get("text/html"))[:MOST_HTML])
    )


def _clean(text: str) -> str:
    head = text[: 4 * MOST_OF_ONE]
    has_controls = "\x1b" in head or "\r" in head or "\b" in head
    return clean(text[:MOST_OF_ONE]) if has_controls else text


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


Scrub = Callable[[str], str]


def excerpt(text: str, start: int, end: int, scrub: Scrub, room: int = 60) -> tuple[str, str, str]:
    """The text before, at and after a value. Words stay whole, so that ``scrub`` finds every
    key."""
    before, after = text[max(0, start - room) : start], text[end : end + room]
    if start > room:
        cut = re.search(r"\s", before)
        before = "…" + before[cut.start() :] if cut is not None else "…"
    if end + room < len(text):
        cut_at = max(after.rfind(" "), after.rfind("\t"))
        after = after[: cut_at + 1] + "…" if cut_at >= 0 else "…"
    whole = f"{before}{text[start:end]}{after}"
    if scrub(whole) != whole:
        return "", scrub(text[start:end]), ""
    return before, text[start:end], after


_GAP = re.compile(r"\s{2,}|\s*[│┆┃|]\s*")
_NO_HEAD = re.compile(r"[:=]|(?<![\w.-])(?!(?:19|20)\d\d\b)\d|^\W*$")


def title_of(lines: Sequence[str], line: int, start: int, end: int) -> str:
    """The title of the column in which the line has these places; "" if it is in no table.
    ``lines``: those around it without an empty one between them."""
    head = next((one for one in lines[: min(line, 4)] if not _NO_HEAD.search(one)), "")
    place = 0
    for gap in [*_GAP.finditer(head), None]:
        last = gap.start() if gap is not None else len(head)
        if place < end and start < last:
            return head[place:last].strip()
        place = gap.end() if gap is not None else last
    return ""


MOST_TEXT = 100_000
"""Characters read of all outputs."""
MOST_OUTPUTS = 500
MOST_NUMBERS = 4_000


class OutputCell(msgspec.Struct, frozen=True):
    """``ran``: whether this conversation ran the cell."""

    cell_id: str
    outputs: tuple[Output, ...]
    ran: bool = True


class Shown(msgspec.Struct, frozen=True, gc=False):
    """A number and the output that shows it."""

    number: Number
    lines: Sequence[str]
    line: int
    cell_id: str
    output: int


class Outputs:
    """The numbers in the outputs of some cells, by size."""

    def __init__(self, cells: Sequence[OutputCell]) -> None:
        self.shown: list[Shown] = []
        self._used = 0
        outputs = 0
        for cell in sorted(cells, key=lambda cell: not cell.ran):
            for index, output in enumerate(cell.outputs):
                outputs += 1
                if outputs <= MOST_OUTPUTS and self._used < MOST_TEXT:
                    self._read(cell.cell_id, index, output)
        self._order = sorted(range(len(self.shown)), key=self._size)
        self._sizes = list(map(self._size, self._order))

    def _size(self, number: int) -> float:
        return abs(self.shown[number].number.value)

    def _read(self, cell_id: str, index: int, output: Output) -> None:
        text = _ends(text_of(output), min(MOST_OF_ONE, MOST_TEXT - self._used))
        self._used += len(text)
        commas = has_decimal_commas(text)
        for part in re.split(r"\n[ \t]*\n", text):
            lines = part.split("\n")
            for place, line in enumerate(lines):
                for number in scan(line, commas):
                    if len(self.shown) < MOST_NUMBERS:
                        self.shown.append(Shown(number, lines, place, cell_id, index))

    def between(self, low: float, high: float, most: int = 50) -> Iterator[Shown]:
        """Numbers whose absolute value is in this range."""
        first, last = bisect_left(self._sizes, low), bisect_right(self._sizes, high)
        for number in sorted(self._order[first : min(last, first + 2_000)])[:most]:
            yield self.shown[number]


def _ends(text: str, most: int) -> str:
    """The beginning and end of a long text, in whole lines."""
    if len(text) <= most:
        return text
    head, tail = most * 6 // 10, most * 4 // 10
    before = text[: text.rfind("\n", 0, head) + 1 or head]
    return f"{before}\n\n{text[text.find(chr(10), len(text) - tail) + 1 or len(text) - tail :]}"
