"""Finds code pushed out of view: by blank lines, by wide gaps, or by sheer length.

Each finding names its lines and asks in every mode; in doubt it asks. Reads a bounded beginning of
the source, in linear time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby

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


def out_of_sight(source: str) -> tuple[str, ...]:
    """A sentence for each thing that pushes code out of view; () for ordinary code."""
    lines = source[:_MOST_CHARACTERS].split("\n")
    said = [*_lines_apart(lines), *_within_lines(lines), *_size(source)]
    # Parsing takes far longer than the rest, so only if nothing is found yet.
    return tuple(said or _as_python(lines))


def _size(source: str) -> Iterator[str]:
    lines = source.count("\n") + 1
    if lines > _MOST_LINES or len(source) > _MOST_CHARACTERS:
        yield f"There are {lines:,} lines with {len(source):,} characters."


# --- lines -----------------------------------------------------------------------------


def _lines_apart(lines: Sequence[str]) -> Iterator[str]:
    empty = [_is_empty(line) for line in lines]
    runs = [span for span in _runs(empty) if span[1] - span[0] + 1 >= _EMPTY_LINES]
    for first, last in runs[:_LISTED]:
        blank = not any(line.strip() for line in lines[first - 1 : last])
        yield _sentence(lines, (first, last), "are blank" if blank else "contain no code")
    if len(runs) > _LISTED:
        yield f"{len(runs) - _LISTED} more ranges of lines contain no code."
    thin = [
        bare or again or line.lstrip().startswith(("#", "//"))
        for bare, again, line in zip(empty, _repeats(lines), lines, strict=True)
    ]
    inside = {line for span in runs for line in span}
    for first, last in list(_dense(thin))[:_LISTED]:
        if not inside.intersection(range(first, last + 1)):
            yield _sentence(lines, (first, last), "are mostly blank, comments or repeated")


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


def _sentence(lines: Sequence[str], span: Span, words: str) -> str:
    first, last = span
    if any(line.strip() for line in lines[last:]):
        return f"Lines {first} to {last} {words}. More code follows below."
    return f"Lines {first} to {last} {words}. The code is above them."


# --- within lines ----------------------------------------------------------------------


def _within_lines(lines: Sequence[str]) -> Iterator[str]:
    gaps, long = [], []
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST:
            long.append(number)
        if len(line) >= _WIDE // _TAB and _gaps(line) >= _WIDE:
            gaps.append(number)
    if gaps:
        yield f"{_numbered(gaps, 'goes', 'go')} on after {_WIDE} or more blanks."
    if long:
        yield f"{_numbered(long, 'has', 'have')} more than {_LONGEST} characters."


def _gaps(line: str) -> int:
    """Columns of wide gaps before the line's last character."""
    return sum(len(gap.expandtabs(_TAB)) for gap in _GAP.findall(line.rstrip()))


def _numbered(numbers: Sequence[int], one: str, many: str) -> str:
    if len(numbers) == 1:
        return f"Line {numbers[0]} {one}"
    listed = ", ".join(map(str, numbers[:_LISTED]))
    return f"Lines {listed}{', …' if len(numbers) > _LISTED else ''} {many}"


# --- as Python reads it ----------------------------------------------------------------


def _as_python(lines: Sequence[str]) -> Iterator[str]:
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
        yield _sentence(lines, span, "are one text")
    far = sorted(set(_far(ast.walk(tree))))
    if far:
        yield f"{_numbered(far, 'has', 'have')} a statement to the right of column {_WIDE}."


def _far(nodes: Iterable[ast.AST]) -> Iterator[int]:
    return (
        node.lineno for node in nodes if isinstance(node, ast.stmt) and node.col_offset >= _WIDE
    )
