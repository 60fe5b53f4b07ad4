"""Finds code pushed out of view: by blank lines, by wide gaps, or by sheer length.

Each finding names its lines and asks in every mode; in doubt it asks. Reads a bounded beginning of
the source, in linear time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby

from ...base.sentences import Sentence, together

_EMPTY_LINES = 20
"""Consecutive lines without code: about a cell's visible height."""
_STRETCH, _OF_STRETCH = 50, 40
"""Of 50 lines in a row, fewer than 40 may be blank, comments or repeated."""
_TEXT_LINES = 100
"""Lines of a string that is reported."""
_MOST_LINES, _MOST_CHARACTERS = 1000, 50_000
_WIDE = 100
"""Columns of blanks within a line or left of a statement."""
_LONGEST = 500
"""Characters of a line."""
_TAB = 8

_READABLE = re.compile(r"[^\W_]")
_GAP = re.compile(r"[ \t]{8,}|\t+")
_MAGIC = re.compile(r"^(\s*)[%!].*")
_LISTED = 5

Span = tuple[int, int]
"""First and last line, from 1."""


def out_of_sight(source: str) -> tuple[Sentence, ...]:
    """A sentence for each thing that pushes code out of view; () for ordinary code."""
    lines = source[:_MOST_CHARACTERS].split("\n")
    said = [*_lines_apart(lines), *_within_lines(lines), *_size(source)]
    # Parsing takes far longer than the rest, so only if nothing is found yet.
    return tuple(said or _as_python(lines))


def _size(source: str) -> Iterator[Sentence]:
    lines = source.count("\n") + 1
    if lines > _MOST_LINES or len(source) > _MOST_CHARACTERS:
        yield Sentence(
            "There are {lines:,} lines with {size:,} characters.", lines=lines, size=len(source)
        )


# --- lines -----------------------------------------------------------------------------


def _lines_apart(lines: Sequence[str]) -> Iterator[Sentence]:
    empty = [_is_empty(line) for line in lines]
    runs = [span for span in _runs(empty) if span[1] - span[0] + 1 >= _EMPTY_LINES]
    for first, last in runs[:_LISTED]:
        blank = not any(line.strip() for line in lines[first - 1 : last])
        yield _sentence(lines, (first, last), BLANK if blank else NO_CODE)
    if len(runs) > _LISTED:
        yield Sentence("{count} more ranges of lines contain no code.", count=len(runs) - _LISTED)
    thin = [
        bare or again or line.lstrip().startswith(("#", "//"))
        for bare, again, line in zip(empty, _repeats(lines), lines, strict=True)
    ]
    inside = {line for span in runs for line in span}
    for first, last in list(_dense(thin))[:_LISTED]:
        if not inside.intersection(range(first, last + 1)):
            yield _sentence(lines, (first, last), MOSTLY)


def _is_empty(line: str) -> bool:
    return line.strip() == "pass" or not _READABLE.search(line)


def _repeats(lines: Sequence[str]) -> Iterator[bool]:
    """Whether each line repeats one of the ten before it."""
    stripped = [line.strip() for line in lines]
    for index, line in enumerate(stripped):
        yield line in stripped[max(0, index - 10) : index]


def _runs(marks: Sequence[bool]) -> Iterator[Span]:
    line = 1
    for mark, group in groupby(marks):
        count = len(list(group))
        if mark:
            yield line, line + count - 1
        line += count


def _dense(marks: Sequence[bool]) -> Iterator[Span]:
    """Ranges in which most lines are marked; overlapping ones are merged."""
    sums = [0, *accumulate(marks)]
    starts = [
        start
        for start in range(len(marks) - _STRETCH + 1)
        if sums[start + _STRETCH] - sums[start] >= _OF_STRETCH
    ]
    covered = [False] * len(marks)
    end = 0
    for start in starts:
        for index in range(max(start, end), start + _STRETCH):
            covered[index] = True
        end = start + _STRETCH
    for first, last in _runs(covered):
        # Trim the unmarked lines at both ends.
        inner = [line for line in range(first, last + 1) if marks[line - 1]]
        yield inner[0], inner[-1]


BLANK = Sentence("Lines {first} to {last} are blank.")
NO_CODE = Sentence("Lines {first} to {last} contain no code.")
MOSTLY = Sentence("Lines {first} to {last} are mostly blank, comments or repeated.")
ONE_TEXT = Sentence("Lines {first} to {last} are one text.")
BELOW = Sentence("More code follows below.")
ABOVE = Sentence("The code is above them.")


def _sentence(lines: Sequence[str], span: Span, words: Sentence) -> Sentence:
    first, last = span
    follows = any(line.strip() for line in lines[last:])
    return together(Sentence(words, first=first, last=last), BELOW if follows else ABOVE)


# --- within lines ----------------------------------------------------------------------


def _within_lines(lines: Sequence[str]) -> Iterator[Sentence]:
    gaps, long = [], []
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST:
            long.append(number)
        if len(line) >= _WIDE // _TAB and _gaps(line) >= _WIDE:
            gaps.append(number)
    if gaps:
        yield _numbered(gaps, GAP, GAPS, _WIDE)
    if long:
        yield _numbered(long, LONG, LONG_ONES, _LONGEST)


def _gaps(line: str) -> int:
    """Columns of wide gaps before the line's last character."""
    return sum(len(gap.expandtabs(_TAB)) for gap in _GAP.findall(line.rstrip()))


GAP = Sentence("Line {lines} goes on after {limit} or more blanks.")
GAPS = Sentence("Lines {lines} go on after {limit} or more blanks.")
LONG = Sentence("Line {lines} has more than {limit} characters.")
LONG_ONES = Sentence("Lines {lines} have more than {limit} characters.")
FAR = Sentence("Line {lines} has a statement to the right of column {limit}.")
FAR_ONES = Sentence("Lines {lines} have a statement to the right of column {limit}.")


def _numbered(numbers: Sequence[int], one: Sentence, many: Sentence, limit: int) -> Sentence:
    listed = ", ".join(map(str, numbers[:_LISTED])) + (", …" if len(numbers) > _LISTED else "")
    return Sentence(one if len(numbers) == 1 else many, lines=listed, limit=limit)


# --- as Python reads it ----------------------------------------------------------------


def _as_python(lines: Sequence[str]) -> Iterator[Sentence]:
    try:
        tree = ast.parse("\n".join(_MAGIC.sub(r"\1pass", line) for line in lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    texts = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    ]
    tall = sorted({span for span in texts if span[1] - span[0] >= _TEXT_LINES})
    for span in tall[:_LISTED]:
        yield _sentence(lines, span, ONE_TEXT)
    far = sorted(set(_far(ast.walk(tree))))
    if far:
        yield _numbered(far, FAR, FAR_ONES, _WIDE)


def _far(nodes: Iterable[ast.AST]) -> Iterator[int]:
    return (
        node.lineno for node in nodes if isinstance(node, ast.stmt) and node.col_offset >= _WIDE
    )
