"""Joins that multiply rows, find few partners or use the wrong key, and groups that lose rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...cell_code.parsing import base
from ...findings import Finding
from ..shared.check import Check, Fact, SeenRun
from ..shared.reading import assigned_name, calls_after, code_at, facts, listed, number, text, texts
from ..shared.source import Source, column, keyword, parsed, text_constant

NAME = "Join"
GROUPS = "Groups"
ADDS = {"sum", "mean", "agg", "aggregate", "cumsum"}
DISTINCT = {"nunique", "unique", "drop_duplicates"}
"""What code calls that does not mind repeated rows."""
KNOWS = {"fillna", "isna", "isnull", "notna", "dropna", "_merge", "drop_duplicates"}
"""What code calls that knows of missing partners."""


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
        what = code_at(source, fact, "The grouping")
        words = (
            f"{what} leaves out {count:,} of {rows:,} rows, where {' or '.join(keys)} is missing."
        )
        yield Finding(GROUPS, words, fact.place)
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
    if left_on and right_on and left_on != right_on:
        for name, columns in ((right_on, "left_columns"), (left_on, "right_columns")):
            if name in texts(fact, columns):
                words = f"It joins `{left_on}` to `{right_on}`, but both tables have `{name}`."
                return Finding(NAME, words, fact.place)
    named = any(keyword(node, word) for word in ("on", "left_on", "left_index", "how"))
    keys = texts(fact, "keys")
    lost = number(fact, "left") - number(fact, "left_matched")
    if len(keys) > 1 and not keyword(node, "on") and not left_on and lost > 0 and not named:
        words = f"Without `on` it joins on all shared columns, {listed(keys)};"
        words += f" {lost:,} of {number(fact, 'left'):,} rows found no partner."
        return Finding(NAME, words, fact.place)
    return None


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
    summed = _summed(source, fact, texts(fact, "left_columns"))
    node = source.at(fact.place)
    distinct = node is not None and bool(DISTINCT & calls_after(source, node))
    if not summed and (distinct or not many):
        return None
    words = f"The join made {result:,} rows of {left:,} and {right:,}"
    if summed:
        words += f", so `{summed}` is counted more than once."
    else:
        words += ": its keys repeat in both tables."
    return Finding(NAME, words, fact.place, texts(fact, "keys"))


def _summed(source: Source, fact: Fact, columns: tuple[str, ...]) -> str:
    """A column of the repeated side that the code adds up in what the join made."""
    node = source.at(fact.place)
    if node is None:
        return ""
    name = assigned_name(source, node)
    for call in source.nodes:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr not in ADDS or not _begins_with(call, node, name):
            continue
        keys = _group_keys(call)
        for part in ast.walk(call):
            name_of = part.value if isinstance(part, ast.Constant) else column(part)
            if name_of in columns and part not in keys:
                return str(name_of)
    return ""


def _group_keys(call: ast.Call) -> set[ast.AST]:
    """The arguments of ``groupby`` as the source has them."""
    return {
        part
        for node in ast.walk(call)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr == "groupby"
        for argument in (*node.args, *(word.value for word in node.keywords))
        for part in ast.walk(argument)
    }


def _begins_with(call: ast.Call, node: ast.expr, name: str) -> bool:
    return (bool(name) and base(call) == name) or any(part is node for part in ast.walk(call.func))


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
        return Finding(NAME, words, fact.place, texts(fact, "alone"))
    if node is None or _knows(source, node):
        return None
    if how == "left" or lost * 2 >= left:
        words += f", as {listed(texts(fact, 'alone'))}."
        return Finding(NAME, words, fact.place, texts(fact, "alone"), "model")
    return None


def _knows(source: Source, node: ast.expr) -> bool:
    """Whether the code deals with rows that have no partner."""
    indicates = isinstance(node, ast.Call) and keyword(node, "indicator") is not None
    return indicates or bool(KNOWS & calls_after(source, node))


CHECK = Check(NAME, after_run=read)
