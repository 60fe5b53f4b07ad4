"""Values that a conversion lost."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from ...findings import Finding
from ..shared.check import Check, Fact, SeenRun
from ..shared.source import Source, calls_after, facts, label, listed, number, parsed, text, texts

NAME = "Lost values"
_MARK = re.compile(
    r"['\"]?\s*(n/?a|nan|none|null|nil|missing|unknown|tbd|not available|[-?.*]*)\s*['\"]?", re.I
)
"""Common texts for a missing value."""
_HAS_DIGIT = re.compile(r"\d")
KNOWS = {"combine_first", "fillna", "isna", "isnull", "notna"}
FILLS = {"combine_first", "fillna"}
"""Methods whose argument only fills missing values."""
INTO = {"not_a_number": "numbers", "not_a_date": "dates"}


def read(run: SeenRun) -> Iterator[Finding]:
    source = parsed(run.cell.source)
    if source is None:
        return
    found = list(facts(run, *INTO))
    tries = Counter((fact.kind, text(fact, "column")) for fact in found)
    yield from map(_swapped, facts(run, "swapped_day"))
    for fact in found:
        if tries[fact.kind, text(fact, "column")] > 1 or _is_tried_again(source, fact):
            continue  # The code tries several formats: another one may read the rest.
        lost = tuple(one for one in texts(fact, "examples") if not _MARK.fullmatch(one))
        if not lost or _is_expected(source, fact):
            continue
        least = "at least " if fact.figures.get("more") else ""
        words = f"{least}{number(fact, 'count'):,} of {number(fact, 'rows'):,} values of"
        words += f" `{text(fact, 'column')}` could not be read as {INTO[fact.kind]} and are"
        words += f" missing now, such as {listed(lost)}."
        has_digits = any(map(_HAS_DIGIT.search, lost))
        words = words[0].upper() + words[1:]
        yield Finding(NAME, words, fact.place, lost, "person" if has_digits else "model")


def _swapped(fact: Fact) -> Finding:
    written, read_as = (*texts(fact, "examples"), "", "")[:2]
    least = "At least " if fact.figures.get("more") else ""
    words = f"{least}{number(fact, 'count'):,} of {number(fact, 'rows'):,} dates of"
    words += f" `{text(fact, 'column')}` are written year first, but `dayfirst=True` took the day"
    return Finding(NAME, f"{words} for the month: {written} became {read_as}.", fact.place)


def _is_tried_again(source: Source, fact: Fact) -> bool:
    """Whether the code also converts the same expression elsewhere."""
    node = source.at(fact.place)
    if not isinstance(node, ast.Call) or not node.args:
        return False
    tried = ast.dump(node.args[0])
    calls = (one for one in source.nodes if isinstance(one, ast.Call) and one.args)
    same = [one for one in calls if label(one.func) == label(node.func)]
    return sum(ast.dump(one.args[0]) == tried for one in same) > 1


def _is_expected(source: Source, fact: Fact) -> bool:
    """Whether the code handles missing values."""
    node = source.at(fact.place)
    if node is None:
        return False
    parent = source.parents.get(node)
    fills = isinstance(parent, ast.Call) and label(parent.func) in FILLS and node in parent.args
    return fills or bool(KNOWS & calls_after(source, node))


CHECK = Check(NAME, after_run=read)
