"""Reads the numbers in an output's text, with labels: the row and column in a table, the words
before the number in other text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from .numbers import Number, has_decimal_commas, scan

MOST_ROWS = 500
MOST_LINE = 400
LONGEST = 60
"""Characters of a label."""
_BORDERS = re.compile("[|\u2500-\u257f]")
_RULE = re.compile(r"[-\s=+:.\u2026]*")
_ABOUT_TABLE = re.compile(
    r"^[=#*-]{2,9} .{1,80} [=#*-]{2,9}$|(?:Name|dtype|Length|Freq|shape): |\[\d+ rows"
)
_PART = re.compile(r"(?:[^,;|\t ]| (?! ))+")
_QUOTED = re.compile(r"['\"]([^'\"]{1,60})['\"]\W{0,3}$")
_SHAPE = re.compile(r"^ *\S+(?: \S+)*  +|^[^\d:=]*|[\d.,]+|[\[\](){}]|'[^']{0,60}'(?!:)")
_KEY = re.compile(r"\s*([^\W\d_]\w*)(?: {1,4}|= {0,4})\d+(?![.,]?\d)")
_FIRST = re.compile(
    r"[\s(\[{]{0,9}(?:['\"]([^'\"]{1,60})['\"]|(?<=\()((?:19|20)\d\d))(?:,|: [\[{(])"
)
"""The name at the start of a row printed as a tuple or nested dictionary."""
_NEXT = re.compile(r"(?<=[)}\]]), (?=[('\"\[{])")
"""Between tuples or dictionaries in a line."""
_UNIT = re.compile(r"[^\W\d_]{1,3}(?!\w)")
_LINKS = re.compile(r"\b(?:at|by|for|from|in|of|to|with)$")
_GAP = re.compile(r"\S {2,}\S")
"""Wide blanks in a cell: the lines are no table."""
_ID = re.compile(
    r"(?:^|[\s_])(?:ids?|nr|num|number|code|key|index|zip|plz|phone|rank"
    r"|(?<!per.)(?:year|month|week|day|hour))$",
    re.IGNORECASE,
)
_EMPTY = frozenset(("", "nan", "none", "nat", "<na>", "...", "null", "inf", "-inf", "\u2014", "-"))
_YEAR = re.compile(r"(?:19|20)\d\d")
STATISTICS = frozenset(("mean", "std", "min", "max", "50", "count", "sum"))


class ValueLabel(msgspec.Struct, frozen=True):
    """``column`` names the label's group: a column, the heads of a table, or the words before
    numbers. ``is_entity``: Germany or 2024, not a measure such as revenue."""

    column: str
    text: str
    is_entity: bool


class Value(msgspec.Struct, frozen=True, gc=False):
    """A number of an output. ``row`` is its line, with the number from ``start`` to ``end``."""

    number: Number
    row: str
    start: int
    end: int
    labels: tuple[ValueLabel, ...]
    id_of: str = ""
    """What an id is of: “order” for a number of `order_id`; "" for a quantity."""


class _Grid(msgspec.Struct):
    """A table. ``lines``: the line of each row and the offsets of its cells."""

    heads: list[list[str]]
    rows: list[list[str]]
    lines: list[tuple[str, list[int]]]
    index: int = 0
    """The number of index columns."""


def values(text: str, name: str) -> Iterator[Value]:
    """The numbers of an output's text. ``name`` identifies the output."""
    commas = has_decimal_commas(text)
    text = _NEXT.sub(",\n", text)
    for place, block in enumerate(_blocks(text)):
        found, rest = _printed(block), len(block)
        # Lines may follow a table without a blank one.
        while found is None and len(block) - 4 < rest - 1 > 2:
            rest -= 1
            found = _printed(block[:rest])
        if found is not None:
            yield from _of_grid(found, f"{name}.{place}", commas)
        yield from _of_lines(block if found is None else block[rest:], name, commas)


def _of_grid(grid: _Grid, name: str, commas: bool) -> Iterator[Value]:
    rows, heads, width = grid.rows, grid.heads, len(grid.rows[0])
    columns = list(zip(*rows, strict=True))
    numeric = list(map(_is_numeric, columns))
    first = next((place for place in range(grid.index, width) if numeric[place]), width)
    named = [
        next((head[place] for head in reversed(heads) if head[place]), "") for place in range(width)
    ]
    is_index = [
        place < grid.index or bool(heads and place == 0 and not named[0]) for place in range(width)
    ]
    ids = [_id_of(name, column) for name, column in zip(named, columns, strict=True)]
    # A pivot has its columns' name in the corner; statistics, such as ``describe``, as rows.
    is_pivot = grid.index > 0 and len(heads) > 1 and bool(heads[0][0])
    is_pivot = is_pivot or len(STATISTICS.intersection(columns[0])) > 2
    counts = is_index[0] and numeric[0] and not named[0]
    key = _key(columns, int(counts)) if counts or not is_index[0] else -1
    before = [""] * width
    for row, (line, starts) in zip(rows, grid.lines, strict=True):
        # An index shows a label once for all rows that share it.
        before = row = [
            before[place] if place < first and not cell else cell for place, cell in enumerate(row)
        ]
        labels = [
            ValueLabel((ids[place] or named[place]).lower() or f"{name}:{place}", cell, True)
            for place, cell in enumerate(row)
            if len(cell) <= LONGEST
            and (
                not numeric[place]
                or ids[place]
                or (named[place] and (is_index[place] or place == key))
            )
        ]
        for place, cell in enumerate(row):
            if is_index[place] or cell.lower() in _EMPTY:
                continue
            above = (
                ValueLabel(f"{name}:head{level}", head[place], is_pivot)
                for level, head in enumerate(heads)
                if head[place] and numeric[place] and place != key
            )
            about = (*labels, *above)
            for number in scan(cell, commas):
                start, end = starts[place] + number.start, starts[place] + number.end
                yield Value(number, line, start, end, about, ids[place])


def _key(columns: Sequence[Sequence[str]], place: int) -> int:
    """The first column if different whole numbers may name its rows: “store 3”; else -1."""
    cells = columns[place] if place < len(columns) else ()
    whole = all(cell.isdigit() and len(cell) < 7 for cell in cells)
    return place if whole and cells and len(set(cells)) == len(cells) else -1


def _id_of(name: str, cells: Sequence[str] = ()) -> str:
    """What the ids in a column of this name are of; "" if it has quantities."""
    if cells and all(map(_YEAR.fullmatch, cells)):
        return name or "year"
    return (_ID.sub("", name).strip("_ ") or name) if _ID.search(name) else ""


def _is_numeric(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells if cell.lower() not in _EMPTY]
    # “7a” and “7b” are names, “7 kg” and “8 kg” are not.
    units = {re.sub(r"[\d.,\s+-]", "", cell) for cell in known}
    if len(units) == 1 and all(re.fullmatch(r"[\d.,]+ [^\d]+", cell) for cell in known):
        return True
    return sum(map(_is_number, known)) * 2 > len(known) >= len(units) + (len(units) > 1)


def _is_number(cell: str) -> bool:
    """Whether the cell is one number, perhaps with a unit."""
    found = next(scan(cell), None)
    rest = cell[: found.start] + cell[found.end :] if found is not None else "0"
    return len(rest) <= 12 and not re.search(r"[\d:=]|[^\W\d_]{4}", rest)


def _blocks(text: str) -> Iterator[list[str]]:
    """Groups of lines, split at blank lines and at lines that announce or end a table."""
    block: list[str] = []
    is_after_blank = False
    for line in text.split("\n")[: 20 * MOST_ROWS]:
        line = _BORDERS.sub(" ", line[:MOST_LINE].removesuffix("\\")).rstrip()
        is_rule = _RULE.fullmatch(line) is not None
        announces = (line.endswith(":") and not is_rule) or bool(_ABOUT_TABLE.match(line))
        # A report has blank lines under its head and between its rows.
        is_row = bool(block) and _is_head(block[0]) and line[:1] == " " and not _is_head(line)
        ends = announces or (is_after_blank and not is_row)
        is_after_blank = not line.strip()
        if block and (ends or len(block) == MOST_ROWS):
            yield block
            block = []
        if announces:
            yield [line]
        elif not is_rule:
            block.append(line)
    if block:
        yield block


def _is_head(line: str) -> bool:
    return line.startswith("  ") and next(scan(line), None) is None


def _printed(block: list[str]) -> _Grid | None:
    """The table that the lines show, separated or aligned; None if they are no table."""
    found = _separated(block) or _aligned(block)
    if found is None and len(block) > 2 and not re.search(r"\d", block[0]):
        # The name of a series' index may be longer than its labels.
        found = _aligned(block[1:])
        if found is not None and not found.heads and all(map(all, found.rows)):
            head = [block[0].strip()] + [""] * (len(found.rows[0]) - 1)
            found.heads, found.index = [head], max(1, found.index)
            return found
        return None
    return found


def _separated(block: list[str]) -> _Grid | None:
    """The table of lines of a CSV file with a head."""
    for separator in ",;\t":
        cells = [line.split(separator) for line in block]
        width = len(cells[0])
        is_even = width > 1 and len(cells) > 1 and all(len(row) == width for row in cells)
        if is_even and separator + " " not in block[0] and not re.search(r"\d", block[0]):
            starts = [
                [sum(map(len, row[:place])) + place for place in range(width)] for row in cells[1:]
            ]
            return _Grid(cells[:1], cells[1:], list(zip(block[1:], starts, strict=True)))
    return None


def _aligned(block: list[str]) -> _Grid | None:
    starts, ends = _columns(block)
    if len(starts) < 2 or len(block) < 2:
        return None
    for place in range(len(starts) - 2, -1, -1):
        # Heads and labels of two words.
        end, start = ends[place], starts[place + 1]
        having = [line for line in block if line[start : ends[place + 1]].strip()]
        is_near = start == end + 1 and all(line[end - 1] != " " != line[start] for line in having)
        is_empty = not any(line[starts[place] : end].strip() for line in block[1:])
        if is_empty or (is_near and len(having) < len(block) - 1):
            del starts[place + 1], ends[place]
    cells = [
        [line[a:b].strip().removesuffix(":") for a, b in zip(starts, ends, strict=True)]
        for line in block
    ]
    numeric = [_is_numeric(column[len(cells) // 2 :]) for column in zip(*cells, strict=True)]
    numeric[0] = numeric[0] and bool(cells[0][0])
    heads, index = _heads(cells, numeric)
    rows = cells[heads:]
    quantities = [place for place, known in enumerate(numeric) if known]
    if any(_GAP.search(cell) for row in rows for cell in row):
        return None
    blanks = sum(not row[place] for row in rows for place in quantities)
    most = len(rows) * len(quantities)
    if (
        not most
        or blanks * (5 if index else 2) > most
        or not all(
            row[place].lower() in _EMPTY
            or (_is_number(row[place]) and len(list(scan(row[place]))) == 1)
            for row in rows
            for place in quantities
        )
    ):
        return None
    for place, column in enumerate(zip(*rows, strict=True)):
        is_text = not heads and not numeric[place]
        if is_text and (
            len(set(column) - {""}) == 1
            or any(cell.endswith(",") or "=" in cell or ": " in cell for cell in column)
            or place > quantities[0]
        ):
            return None  # Names before each number: “epoch 2: loss 0.5”.
    lines = [(line, _begins(line, starts)) for line in block[heads:]]
    for head in cells[:heads]:
        # A head of several columns is printed once.
        for place in range(index + 1, len(head)):
            head[place] = head[place] or head[place - 1]
    return _Grid(cells[:heads], rows, lines, index)


def _heads(cells: list[list[str]], numeric: list[bool]) -> tuple[int, int]:
    """The number of head rows and of index columns."""
    first = numeric.index(True, 1) if True in numeric[1:] else 0
    first = next((place for place, cell in enumerate(cells[0]) if cell), 0) or first
    for place, row in enumerate(cells[:5]):
        # The names of the index have a line of their own.
        is_named = any(row[:first]) and next(scan(" ".join(row[:first])), None) is None
        if is_named and not any(row[first:]) and place + 1 < len(cells):
            return place + 1, first
    if not cells[0][0] and len(cells) > 1 and cells[1][0]:
        return 1, 1
    heads = 0
    while heads < min(3, len(cells)) and not any(next(scan(cell), None) for cell in cells[heads]):
        heads += 1
    return heads, 0


def _columns(block: Iterable[str]) -> tuple[list[int], list[int]]:
    """Where columns begin and end: every line has a blank between them."""
    spans = sorted(found.span() for line in block for found in re.finditer(r"\S+", line))
    starts: list[int] = []
    ends: list[int] = []
    for start, end in spans:
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends


def _begins(line: str, starts: Sequence[int]) -> list[int]:
    """Where the text of each cell begins."""
    return [start + len(line[start:]) - len(line[start:].lstrip()) for start in starts]


def _of_lines(block: Sequence[str], name: str, commas: bool) -> Iterator[Value]:
    """The numbers of lines that are no table, labelled with the words before them."""
    shapes = Counter(map(_shape, block))
    sections: list[tuple[int, ValueLabel]] = []
    for line in block:
        found = list(islice(scan(line, commas), 100))
        # Indented lines belong to the line above them: “Array A”.
        inset = len(line) - len(line.lstrip())
        sections = [one for one in sections if one[0] < inset]
        if not found and _words(line):
            sections.append((inset, ValueLabel(f"{name}:sections", _words(line), True)))
        # A year such as “2024” labels the next number.
        names = {one.start for one in found if _YEAR.fullmatch(one.text)}
        # In lines that differ only in names and numbers, the first number names the row: “epoch 2”.
        key = _KEY.match(line) or _FIRST.match(line)
        is_row = len(found) > 1 and shapes[_shape(line)] > 1
        is_row = is_row and (key is not None or found[0].start not in names)
        kind = f"{name}:{_shape(line) if is_row else 'words'}"
        lead = _lead(line, found[0], key, is_row, name) if found else None
        place = 0
        for one in found:
            labels, before = [label for _, label in sections], ""
            if is_row or one.start not in names:
                before = _before(line, place, one.start)
                unit = _UNIT.match(line, one.end)
                place = unit.end() if unit is not None else one.end
                is_key = is_row and lead is not None and one.text == lead.text
                is_lead = lead is not None and before == lead.text
                if before and not is_key and not (is_row and is_lead):
                    is_value = line[: one.start].rstrip().endswith((":", "="))
                    labels.append(
                        ValueLabel(kind, before, not (is_row or is_value) and _is_name(before))
                    )
                if lead is not None and (is_row or not is_lead):
                    labels.append(lead)
            yield Value(one, line, one.start, one.end, tuple(labels))


def _lead(
    line: str, first: Number, key: re.Match[str] | None, is_row: bool, name: str
) -> ValueLabel | None:
    """The label at the line's start, which holds for all its numbers."""
    if is_row and key is not None:
        if key.re is _KEY:
            return ValueLabel(key[1].lower(), first.text, True)
        return ValueLabel(f"{name}:rows" if key[1] else "year", key[1] or key[2], True)
    parts = [part for part in map(_words, re.split("  +", line[: first.start])) if part]
    words = _last(line[: first.start])
    text = parts[0] if len(parts) > 1 else words.rpartition(": ")[0] or words
    if not text or _QUOTED.search(line, 0, first.start):
        return None
    return ValueLabel(f"{name}:{'rows' if is_row else 'leads'}", text, is_row or _is_name(text))


def _before(line: str, start: int, end: int) -> str:
    """The words that name a number which begins at ``end``."""
    text = re.sub(r"\bnp\.\w+\($", "", line[start:end]).rstrip()
    quoted = _QUOTED.search(text)
    words = _last(text).rpartition(": ")[2]
    words = quoted[1] if quoted is not None else words
    return "" if _LINKS.search(words) else words.strip()


def _last(text: str) -> str:
    """The words of the last part of the text that has words."""
    return next(filter(None, map(_words, reversed(_PART.findall(text)))), "")


def _shape(line: str) -> str:
    """The line without its first name and numbers: equal for rows of the same form."""
    return _SHAPE.sub("", line)


def _is_name(text: str) -> bool:
    return text[0].isupper() and not any(word[0].islower() for word in text.split())


def _words(text: str) -> str:
    return text.strip(" \t:=-'\"{}()[]<>*$\u20ac\u00a3").strip()
