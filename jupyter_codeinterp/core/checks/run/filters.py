"""Filters whose literal matches no row."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from ...findings import Finding
from ..shared.check import Check, Fact, SeenRun
from ..shared.source import (
    Source,
    assigned_name,
    code_at,
    facts,
    is_literal,
    is_looked_at,
    label,
    listed,
    number,
    parsed,
    text,
    texts,
    within,
)

NAME = "Filter"
FEW = 5
"""Most distinct values of a column that a sentence lists in full."""
TABLES = {"head", "tail", "to_string", "sort_values", "reset_index"}
"""Methods whose result is empty if the table is."""


def read(run: SeenRun) -> Iterator[Finding]:
    source = parsed(run.cell.source)
    if source is None:
        return
    empty = list(facts(run, "empty_filter"))
    explained: set[int] = set()
    for fact in facts(run, "no_match", "absent_values"):
        around = [one for one in empty if _is_part(source, fact, one)]
        explained.update(map(id, around))
        yield from _no_match(source, fact, bool(around))
    for fact in empty:
        node = source.at(fact.place)
        if id(fact) in explained or node is None:
            continue
        if not is_looked_at(source, node) and not _is_shown(source, node):
            words = f"{code_at(source, fact, 'A filter')} kept 0 of {number(fact, 'rows'):,} rows."
            yield Finding(NAME, words, fact.place, audience="model")
    for fact in facts(run, "nothing_excluded"):
        words = f"{code_at(source, fact, 'A filter')} excludes nothing; the column has"
        yield Finding(NAME, f"{words} {listed(texts(fact, 'near'))}.", fact.place)


def _is_shown(source: Source, node: ast.AST) -> bool:
    """Whether the code prints the table, so that its outputs show that it is empty."""
    name = assigned_name(source, node)
    for one in (node, *(source.names.get(name, ()) if name else ())):
        over = source.parents.get(one)
        while isinstance(over, ast.Attribute) and over.attr in TABLES:
            over = source.parents.get(source.parents[over])
        if isinstance(over, ast.Expr):
            return True
        if isinstance(over, ast.Call) and label(over.func) in ("print", "display"):
            return True
    return False


def _is_part(source: Source, fact: Fact, around: Fact) -> bool:
    """Whether the filter contains the comparison, or a variable that holds it."""
    if within(fact.place, around.place):
        return True
    node, outer = source.at(fact.place), source.at(around.place)
    statement = source.statement(node) if node is not None else None
    if outer is None or not isinstance(statement, ast.Assign):
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(outer))


def _no_match(source: Source, fact: Fact, is_empty: bool) -> Iterator[Finding]:
    if text(fact, "column") == "_merge":  # A join's indicator: all keys may have a partner.
        return
    node = source.at(fact.place)
    near, rows = _near(source, fact), number(fact, "rows")
    if node is None or not (near or (is_empty and is_literal(source, _operand(node)))):
        if fact.kind == "absent_values" and not _is_negated(source, node):
            yield _absent(source, fact, "model")
        return
    if is_looked_at(source, node) and not near:
        return
    if fact.kind == "absent_values":
        yield _absent(source, fact, "person")
        return
    words = f"`{source.text(node)}` matched 0 of {rows:,} rows"
    if near:
        words += f"; the column has {listed(near)}."
    elif number(fact, "distinct") <= FEW and texts(fact, "values"):
        words += f"; the values are {listed(texts(fact, 'values'))}."
    else:
        words += f"; values are {', '.join(texts(fact, 'values')[:3])}, \u2026"
    yield Finding(NAME, words, fact.place, texts(fact, "values"))


def _absent(source: Source, fact: Fact, audience: Literal["person", "model"]) -> Finding:
    absent, near = texts(fact, "absent"), _near(source, fact)
    count, wanted = number(fact, "count"), number(fact, "wanted")
    words = f"{count} of {wanted} values of `isin` are not in `{text(fact, 'column')}`"
    words += f": {listed(absent)}" + (f"; the column has {listed(near)}." if near else ".")
    return Finding(NAME, words, fact.place, texts(fact, "values"), audience)


def _near(source: Source, fact: Fact) -> tuple[str, ...]:
    """Values that resemble the literal, without those that the statement also names."""
    node = source.at(fact.place)
    statement = source.statement(node) if node is not None else None
    parts = ast.walk(statement) if statement is not None else ()
    written = {repr(part.value) for part in parts if isinstance(part, ast.Constant)}
    near = dict.fromkeys(texts(fact, "near"))
    return tuple(one for one in near if one not in written)


def _operand(node: ast.expr) -> ast.expr | None:
    """The right side of a comparison, or a call's first argument."""
    if isinstance(node, ast.Compare):
        return node.comparators[0] if len(node.comparators) == 1 else None
    return node.args[0] if isinstance(node, ast.Call) and node.args else None


def _is_negated(source: Source, node: ast.AST | None) -> bool:
    parent = source.parents.get(node) if node is not None else None
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Invert)


CHECK = Check(NAME, after_run=read)
