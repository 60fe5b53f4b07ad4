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


_GAP = re.compile(r"\s*[│┆┃]\s*|(?:^|\s+)\|(?:\s+|$)|\s{2,}")
_PARTS = re.compile(r"\n(?:[ \t]*|={9,})\n")
"""What separates tables."""
HEADS = 4
"""Lines that may be the heads of a table."""
NO_HEAD = re.compile(r"[:=]|(?<![\w.-])(?!(?:19|20)\d\d\b)\d|^\W*$")


def cells_of(line: str) -> Iterator[tuple[int, str]]:
    """The cells of a line of a table, each with where it begins."""
    place = 0
    for gap in [*_GAP.finditer(line), None]:
        last = gap.start() if gap is not None else len(line)
        if place < last:
            yield place, line[place:last]
        place = gap.end() if gap is not None else last


def _tables(text: str, title: list[str]) -> tuple[list[list[str]], list[str]]:
    """The parts of a text that an empty line or a double rule separates, as lines, and the title
    at its end. An empty line may also be below the title of a table, or below its head: the next
    part begins with the title, and all parts with the head until the next one. ``title``: that at
    the end of the cell's output before."""
    tables: list[list[str]] = []
    head: list[str] = []
    for part in _PARTS.split(text.strip("\n")):
        lines = part.split("\n")
        is_text = len(lines) < HEADS and not any(map(NO_HEAD.search, lines))
        if not NO_HEAD.search(lines[0]):
            head = []
        lines = [*title, *head, *lines]
        tables.append(lines)
        is_head = is_text and any(len(list(cells_of(line))) > 1 for line in lines)
        title = lines if is_text and not is_head else []
        head = lines if is_head else head
    return tables, title


def title_of(lines: Sequence[str], line: int, start: int, end: int) -> str:
    """The title of the column in which the line has these places; "" if it is in no table.
    ``lines``: those around it without an empty one between them."""
    head = next((one for one in lines[: min(line, HEADS)] if not NO_HEAD.search(one)), "")
    titles = (
        text.strip() for place, text in cells_of(head) if place < end and start < place + len(text)
    )
    return next(titles, "")


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
            title: list[str] = []
            for index, output in enumerate(cell.outputs):
                outputs += 1
                if outputs <= MOST_OUTPUTS and self._used < MOST_TEXT:
                    title = self._read(cell.cell_id, index, output, title)
        self._order = sorted(range(len(self.shown)), key=self._size)
        self._sizes = list(map(self._size, self._order))

    def _size(self, number: int) -> float:
        return abs(self.shown[number].number.value)

    def _read(self, cell_id: str, index: int, output: Output, title: list[str]) -> list[str]:
        text = _ends(text_of(output), min(MOST_OF_ONE, MOST_TEXT - self._used))
        self._used += len(text)
        commas = has_decimal_commas(text)
        tables, title = _tables(text, title)
        for lines in tables:
            for place, line in enumerate(lines):
                for number in scan(line, commas):
                    if len(self.shown) < MOST_NUMBERS:
                        self.shown.append(Shown(number, lines, place, cell_id, index))
        return title

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
