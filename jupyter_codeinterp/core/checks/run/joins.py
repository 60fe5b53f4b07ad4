"""Joins that multiply rows, find few partners or use the wrong key, and groups that lose rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from ...findings import Finding
from ..shared import aggregated
from ..shared.check import Check, Fact, SeenRun
from ..shared.reading import (
    asks_of_missing,
    calls_after,
    calls_chained,
    code_at,
    facts,
    listed,
    number,
    text,
    texts,
)
from ..shared.source import Source, is_method_call, keyword, parsed, same, text_constant

NAME = "Join"
GROUPS = "Groups"
DISTINCT = {"nunique", "unique", "drop_duplicates"}
"""What code calls that does not mind repeated rows."""
ASKS = {"isna", "isnull", "notna", "notnull", "_merge", "is_null", "is_not_null"}
"""What code calls that asks which rows have a partner."""
KNOWS = {*ASKS, "fillna", "dropna", "drop_duplicates", "fill_null", "drop_nulls"}
"""What code calls that knows of missing partners."""

KEEPS_ROWS = {
    *("transform", "cumcount", "cumsum", "shift", "diff", "rank", "ffill", "bfill", "ngroup"),
}
"""What code calls on groups that gives a value for each row."""


def read(run: SeenRun) -> Iterator[Finding]:
    source = parsed(run.cell.source)
    if source is None:
        return
    for fact in facts(run, "joined"):
        found = _keys(source, fact) or _multiplied(source, fact) or _unmatched(source, fact)
        if found is not None:
            yield found
    for fact in facts(run, "group_lost"):
        keys, count, rows = texts(fact, "keys"), number(fact, "count"), number(fact, "rows")
        node = source.at(fact.place)
        if node is not None and KEEPS_ROWS & calls_chained(source, node):
            continue
        what = code_at(source, fact, "The grouping")
        words = (
            f"{what} leaves out {count:,} of {rows:,} rows, where {' or '.join(keys)} is missing."
        )
        known = any(asks_of_missing(source, key) for key in keys)
        yield Finding(GROUPS, words, fact.place, audience="model" if known else "person")
    for fact in facts(run, "rows_twice"):
        words = f"{code_at(source, fact, '`concat`')} puts {number(fact, 'count'):,} rows in twice."
        yield Finding(NAME, words, fact.place)
    for fact in facts(run, "column_twice"):
        one, other = (*texts(fact, "columns"), "", "")[:2]
        words = f"`concat` keeps `{one}` and `{other}` apart, so each has gaps."
        yield Finding(NAME, words, fact.place)


def _keys(source: Source, fact: Fact) -> Finding | None:
    """A key that only one side means, or more keys than one."""
    node = source.at(fact.place)
    if not isinstance(node, ast.Call):
        return None
    other = text(fact, "other_key")
    if other:
        words = f"It joins the ids of two tables; all values of `{other}` are ids of the other one."
        return Finding(NAME, words, fact.place)
    left_on, right_on = _constant(node, "left_on"), _constant(node, "right_on")
    refers = left_on.endswith(f"_{right_on}") or right_on.endswith(f"_{left_on}")
    if left_on and right_on and left_on != right_on and not (refers or _is_with_itself(node)):
        for name, columns in ((right_on, "left_columns"), (left_on, "right_columns")):
            if name in texts(fact, columns):
                words = f"It joins `{left_on}` to `{right_on}`, but both tables have `{name}`."
                return Finding(NAME, words, fact.place)
    named = any(keyword(node, word) for word in ("on", "left_on", "left_index", "how"))
    keys = texts(fact, "keys")
    lost = number(fact, "left") - number(fact, "left_matched")
    # In polars the second argument is `on`.
    named = bool(named or keyword(node, "on") or left_on or text(fact, "library"))
    if len(keys) > 1 and lost > 0 and not named:
        words = f"Without `on` it joins on all shared columns, {listed(keys)};"
        words += f" {lost:,} of {number(fact, 'left'):,} rows found no partner."
        return Finding(NAME, words, fact.place)
    return None


def _is_with_itself(node: ast.AST | None) -> bool:
    """``items.merge(items, …)``, as for pairs or for a manager of the same table."""
    if not isinstance(node, ast.Call):
        return False
    tables = [node.func.value] if is_method_call(node) and not _is_module(node.func.value) else []
    tables += [*node.args, *(word.value for word in node.keywords if word.arg == "right")]
    return len(tables) > 1 and same(tables[0], tables[1])


def _is_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("pd", "pandas")


def _constant(call: ast.Call, name: str) -> str:
    return text_constant(keyword(call, name))


def _multiplied(source: Source, fact: Fact) -> Finding | None:
    left, result = number(fact, "left"), number(fact, "result")
    right = number(fact, "right")
    missing = number(fact, "missing_keys")
    if missing:
        words = f"The join also matches rows without a key: {missing:,} rows have none."
        return Finding(NAME, words, fact.place)
    matched = number(fact, "left_matched")
    repeats = number(fact, "right_repeats")
    if not repeats or result <= (matched if texts(fact, "keys") else left):
        return None
    many = number(fact, "left_repeats") > 0
    node = source.at(fact.place)
    if not isinstance(node, ast.Call):
        return None
    after = calls_after(source, node)
    columns = (texts(fact, "left_columns"), texts(fact, "right_columns"), texts(fact, "keys"))
    once = {"drop_duplicates", "unique"} if text(fact, "library") else {"drop_duplicates"}
    if once & after or aggregated.compares(source, node, *columns[:2]):
        return None
    summed = aggregated.repeated(source, node, columns, many)
    knows = DISTINCT & after or _is_with_itself(node) or keyword(node, "validate") is not None
    if not summed and (knows or not many):
        return None
    words = f"The join made {result:,} rows of {left:,} and {right:,}"
    if summed:
        words += f", so `{summed}` is counted more than once."
    else:
        words += ": its keys repeat in both tables."
    return Finding(NAME, words, fact.place, texts(fact, "keys"))


def _unmatched(source: Source, fact: Fact) -> Finding | None:
    left, matched = number(fact, "left"), number(fact, "left_matched")
    keys, near = texts(fact, "keys"), texts(fact, "near")
    node, how = source.at(fact.place), fact.figures.get("how")
    if not keys or left <= matched or how not in ("inner", "left") or not left:
        return None
    lost = left - matched
    words = f"{lost:,} of {left:,} rows found no partner by {listed(keys)}"
    if near:
        words += f"; {near[0]} differs only in case or blanks."
        return Finding(NAME, words, fact.place, near)
    if not matched:
        words += f", as {listed(texts(fact, 'alone'))}."
        asks = node is not None and (_indicates(node) or ASKS & calls_after(source, node))
        audience: Literal["person", "model"] = "model" if asks else "person"
        return Finding(NAME, words, fact.place, texts(fact, "alone"), audience)
    if node is None or _knows(source, node):
        return None
    if how == "left" or lost * 2 >= left:
        words += f", as {listed(texts(fact, 'alone'))}."
        return Finding(NAME, words, fact.place, texts(fact, "alone"), "model")
    return None


def _knows(source: Source, node: ast.expr) -> bool:
    """Whether the code deals with rows that have no partner."""
    return _indicates(node) or bool(KNOWS & calls_after(source, node))


def _indicates(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and keyword(node, "indicator") is not None


CHECK = Check(NAME, after_run=read)
