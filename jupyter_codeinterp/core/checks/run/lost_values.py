"""Values that became missing: conversions, mappings, dates, and tables that do not line up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...findings import Finding
from ..shared.check import Check, Fact, SeenRun
from ..shared.reading import (
    asks_of_missing,
    calls_after,
    code_at,
    facts,
    first,
    listed,
    number,
    text,
    texts,
)
from ..shared.source import Source, dotted, label, parsed

NAME = "Lost values"
DATES = "Dates"
_MARK = re.compile(
    r"['\"]?\s*(n/?a|nan|none|null|nil|missing|unknown|tbd|not available|[-?.*]*)\s*['\"]?", re.I
)
"""How people write that there is no value."""
_HAS_DIGIT = re.compile(r"\d")
KNOWS = {
    *("combine_first", "fillna", "isna", "isnull", "notna"),
    *("fill_null", "is_null", "is_not_null", "drop_nulls"),
}
FILLS = {"combine_first", "fillna"}
"""Methods whose argument only fills what is missing elsewhere."""


def read(run: SeenRun) -> Iterator[Finding]:
    source = parsed(run.cell.source)
    if source is None:
        return
    for fact in facts(run, *READERS):
        found = READERS[fact.kind](source, fact)
        if found is not None:
            yield found


def _is_expected(source: Source, fact: Fact) -> bool:
    """Whether the code deals with what is missing."""
    node = source.at(fact.place)
    if node is None:
        return False
    parent = source.parents.get(node)
    fills = isinstance(parent, ast.Call) and label(parent.func) in FILLS and node in parent.args
    return fills or bool(KNOWS & calls_after(source, node))


def _is_dropped(source: Source, fact: Fact) -> bool:
    """Whether the code asks for the rows without a value, or drops them, by the new column."""
    node = source.at(fact.place)
    statement = source.statement(node) if node is not None else None
    names = [label(one) for one in statement.targets] if isinstance(statement, ast.Assign) else []
    parent = source.parents.get(node) if node is not None else None
    if isinstance(parent, ast.keyword) and parent.arg:
        names.append(parent.arg)  # ``df.assign(kind=df.code.map(…))``
    return any(name and asks_of_missing(source, name) for name in names)


def _share(fact: Fact) -> str:
    return f"{number(fact, 'count'):,} of {number(fact, 'rows'):,} values"


def _mapped(source: Source, fact: Fact) -> Finding | None:
    near = texts(fact, "near")
    if not near and (_is_expected(source, fact) or _is_dropped(source, fact)):
        return None
    words = f"`map` has no entry for {_share(fact)} of `{text(fact, 'column')}`, as"
    words += f" {listed(texts(fact, 'examples'))}; they are missing now."
    return Finding(NAME, words, fact.place, texts(fact, "examples"))


def _converted(source: Source, fact: Fact) -> Finding | None:
    lost = [one for one in texts(fact, "examples") if not _MARK.fullmatch(one)]
    if not lost or _is_expected(source, fact):
        return None
    into = "numbers" if fact.kind == "not_a_number" else "dates"
    words = f"{_share(fact)} of `{text(fact, 'column')}` could not be read as {into} and are"
    words += f" missing now, such as {listed(tuple(lost))}."
    has_digits = any(map(_HAS_DIGIT.search, lost))
    return Finding(NAME, words, fact.place, tuple(lost), "person" if has_digits else "model")


def _outside_bins(source: Source, fact: Fact) -> Finding | None:
    if _is_expected(source, fact) or _is_dropped(source, fact):
        return None
    words = f"The bins of `cut` leave out {_share(fact)} of `{text(fact, 'column')}`, as"
    words += f" {listed(texts(fact, 'examples'))}; they are missing now."
    return Finding(NAME, words, fact.place, texts(fact, "examples"))


def _all_in_1970(source: Source, fact: Fact) -> Finding:
    words = f"All dates of `{text(fact, 'column')}` are in 1970: without `unit`, numbers such as"
    return Finding(DATES, f"{words} {first(fact, 'examples')} are nanoseconds.", fact.place)


def _still_text(source: Source, fact: Fact) -> Finding:
    words = f"`{text(fact, 'column')}` is text still: `parse_dates` could not read it, as"
    return Finding(DATES, f"{words} {listed(texts(fact, 'examples'))}.", fact.place)


def _day_or_month(source: Source, fact: Fact) -> Finding | None:
    if number(fact, "second_over_12") or number(fact, "first_over_12"):
        return None
    rows, either = number(fact, "rows"), number(fact, "either")
    words = f"{either:,} of {rows:,} dates, as {first(fact, 'examples')}, are read as month/day"
    day_first = fact.figures.get("sorted_day_first")
    if fact.figures.get("sorted_month_first"):
        if day_first:
            return Finding(DATES, f"{words}; day/month fits as well.", fact.place, audience="model")
        return None
    if day_first:
        return Finding(DATES, f"{words}, but only day/month puts the rows in order.", fact.place)
    return Finding(DATES, f"{words}; day/month fits as well.", fact.place, audience="model")


def _misaligned(source: Source, fact: Fact) -> Finding | None:
    rows, found = number(fact, "rows"), number(fact, "found")
    if found * 2 >= rows:
        return None
    words = f"`{text(fact, 'column')}` got {found:,} of {rows:,} values: its labels"
    words += f" {listed(texts(fact, 'labels'))} are not those of the table,"
    words += f" {listed(texts(fact, 'own'))}."
    return Finding(NAME, words, fact.place, audience="model" if found else "person")


def _no_label(source: Source, fact: Fact) -> Finding:
    words = f"{code_at(source, fact, '`reindex`')} found none of the labels, as"
    return Finding(NAME, f"{words} {listed(texts(fact, 'examples'))}.", fact.place)


def _skipped(source: Source, fact: Fact) -> Finding | None:
    """A share that leaves out rows without a value."""
    words = f"The shares leave out {_share(fact)} of `{text(fact, 'column')}`, which are missing."
    return Finding(NAME, words, fact.place)


def _sum_of_known(source: Source, fact: Fact) -> Finding | None:
    """A sum skips what is missing, and the number of rows does not."""
    node = source.at(fact.place)
    parent = source.parents.get(node) if node is not None else None
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ast.Div):
        return None
    total = parent.right
    counts_all = isinstance(total, ast.Call) and dotted(total.func) == "len"
    counts_all = counts_all or (isinstance(total, ast.Subscript) and label(total.value) == "shape")
    if parent.left is not node or not counts_all:
        return None
    words = f"`{source.text(parent)}` divides by all {number(fact, 'rows'):,} rows, but the sum"
    return Finding(NAME, f"{words} skips {number(fact, 'count'):,} missing values.", fact.place)


READERS = {
    "sum_of_known": _sum_of_known,
    "map_lost": _mapped,
    "not_a_number": _converted,
    "not_a_date": _converted,
    "outside_bins": _outside_bins,
    "all_in_1970": _all_in_1970,
    "still_text": _still_text,
    "day_or_month": _day_or_month,
    "misaligned": _misaligned,
    "no_label": _no_label,
    "shares_of_known": _skipped,
}
CHECK = Check(NAME, after_run=read)
