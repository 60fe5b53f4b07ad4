"""Joins that multiply rows, or leave keys without a partner."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from ...cell_code.parsing import base
from ...findings import Finding
from ..shared.check import Check, Fact, SeenRun
from ..shared.source import (
    Source,
    assigned_name,
    calls_after,
    facts,
    is_method_call,
    keyword,
    listed,
    number,
    parsed,
    same,
    texts,
)

NAME = "Join"
DISTINCT = {"nunique", "unique", "drop_duplicates"}
"""Methods that make repeated rows harmless."""
ASKS = {"isna", "isnull", "notna", "notnull", "_merge"}
"""Attributes that tell which rows have a partner."""


def read(run: SeenRun) -> Iterator[Finding]:
    source = parsed(run.cell.source)
    if source is None:
        return
    for fact in facts(run, "joined"):
        node = source.at(fact.place)
        if isinstance(node, ast.Call):
            found = _multiplied(source, fact, node) or _unmatched(source, fact, node)
            if found is not None:
                yield found


def _multiplied(source: Source, fact: Fact, node: ast.Call) -> Finding | None:
    left, right = number(fact, "left"), number(fact, "right")
    result, missing = number(fact, "result"), number(fact, "missing_keys")
    if missing:
        words = f"The join also matches rows without a key: {missing:,} rows have none."
        return Finding(NAME, words, fact.place)
    if result <= left or not fact.figures.get("repeats"):
        return None
    knows = (
        DISTINCT & calls_after(source, node)
        or keyword(node, "validate") is not None
        or _is_with_itself(node)
        or _compares(source, node)
    )
    words = f"The join made {result:,} rows of {left:,} and {right:,}: its keys repeat in both."
    audience: Literal["person", "model"] = "model" if knows else "person"
    return Finding(NAME, words, fact.place, texts(fact, "keys"), audience)


def _is_with_itself(node: ast.Call) -> bool:
    """``items.merge(items, …)``, which makes pairs."""
    tables = [node.func.value] if is_method_call(node) and not _is_module(node.func.value) else []
    tables += [*node.args, *(word.value for word in node.keywords if word.arg == "right")]
    return len(tables) > 1 and same(tables[0], tables[1])


def _compares(source: Source, node: ast.Call) -> bool:
    """Whether the code compares columns of the result, such as the ends of intervals, and so keeps
    only some pairs."""
    name = assigned_name(source, node)
    for other in source.nodes:
        if isinstance(other, ast.Compare):
            sides = [other.left, *other.comparators]
        elif is_method_call(other) and other.func.attr == "between":
            sides = [other.func.value, *other.args]
        else:
            continue
        if name and sum(base(side) == name for side in sides) > 1:
            return True
    return "query" in calls_after(source, node)


def _is_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("pd", "pandas")


def _unmatched(source: Source, fact: Fact, node: ast.Call) -> Finding | None:
    """A finding on keys of the left table without a partner, among the rows that were read."""
    left, rows, alone = number(fact, "left"), number(fact, "looked_at"), number(fact, "alone")
    how = fact.figures.get("how")
    if not left or not number(fact, "right") or how not in ("inner", "left"):
        return None
    if how == "inner" and not number(fact, "result"):
        rows = alone = left
    if not alone:
        return None
    of = f"{rows:,} rows" if rows == left else f"{rows:,} rows (a sample)"
    words = f"{alone:,} of {of} found no partner by {listed(texts(fact, 'keys'))}"
    near, examples = texts(fact, "near"), texts(fact, "examples")
    if near:
        words += f"; {near[0]} differs only in case or blanks."
        return Finding(NAME, words, fact.place, near)
    asks = keyword(node, "indicator") is not None or ASKS & calls_after(source, node)
    words += f", as {listed(examples)}." if examples else "."
    audience: Literal["person", "model"] = "model" if asks or alone < rows else "person"
    return Finding(NAME, words, fact.place, examples, audience)


CHECK = Check(NAME, after_run=read)
