"""Values that a conversion lost."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...findings import Finding
from ..shared.check import Check, Fact, SeenRun
from ..shared.reading import calls_after, facts, listed, number, text, texts
from ..shared.source import Source, label, parsed

NAME = "Lost values"
_MARK = re.compile(
    r"['\"]?\s*(n/?a|nan|none|null|nil|missing|unknown|tbd|not available|[-?.*]*)\s*['\"]?", re.I
)
"""How people write that there is no value."""
_HAS_DIGIT = re.compile(r"\d")
KNOWS = {"combine_first", "fillna", "isna", "isnull", "notna"}
FILLS = {"combine_first", "fillna"}
"""Methods whose argument only fills what is missing elsewhere."""
INTO = {"not_a_number": "numbers", "not_a_date": "dates"}


def read(run: SeenRun) -> Iterator[Finding]:
    source = parsed(run.cell.source)
    if source is None:
        return
    for fact in facts(run, *INTO):
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


def _is_expected(source: Source, fact: Fact) -> bool:
    """Whether the code deals with what is missing."""
    node = source.at(fact.place)
    if node is None:
        return False
    parent = source.parents.get(node)
    fills = isinstance(parent, ast.Call) and label(parent.func) in FILLS and node in parent.args
    return fills or bool(KNOWS & calls_after(source, node))


CHECK = Check(NAME, after_run=read)
