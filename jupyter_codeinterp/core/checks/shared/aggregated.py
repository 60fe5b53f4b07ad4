"""Which columns the code adds up in what a join made, and whether it keeps only rows that fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from ...cell_code.parsing import base
from .reading import assigned_name
from .source import Source, column, is_method_call, text_constant

ADDS = ("sum", "cumsum", "mean")
AGGREGATES = ("agg", "aggregate")
EXPRESSIONS = ("agg", "select", "with_columns")
"""Methods of polars that take expressions."""
Columns = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Of the left table, of the right one, and the keys."""


def repeated(source: Source, node: ast.expr, columns: Columns, many: bool) -> str:
    """A column of the left table that the code adds up in what the join at ``node`` made; "" if
    there is none. ``many``: the join's keys repeat on the left side, too."""
    left, right, keys = columns
    name = assigned_name(source, node)
    for call in source.nodes:
        if not is_method_call(call) or not _begins_with(call, node, name):
            continue
        groups = set(_group_keys(call))
        for column_, how, beside in _added(call):
            if column_ not in left or (beside & set(right) and not many):
                continue  # A product with a column of the right table is that row's own.
            of_rows = how == "mean" and (groups & set(right) or groups & set(keys))
            if not of_rows or many:
                return column_
    return ""


def _begins_with(call: ast.Call, node: ast.expr, name: str) -> bool:
    return (bool(name) and _base(call) == name) or any(part is node for part in ast.walk(call.func))


def _base(node: ast.AST) -> str:
    """As ``base``, also of the first column in ``(m["fee"] * m["count"]).sum()``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)):
        if isinstance(node, ast.Call):
            node = node.func
        else:
            node = node.left if isinstance(node, ast.BinOp) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _added(call: ast.Call) -> Iterator[tuple[str, str, set[str]]]:
    """Each column that a call adds up, how, and the columns that it is multiplied by."""
    if not isinstance(call.func, ast.Attribute):
        return
    how, of = call.func.attr, call.func.value
    if how in ADDS:
        yield from ((name, how, beside) for name, beside in _selected(of))
    elif how in AGGREGATES:
        yield from _aggregated(call, of)
    if how in EXPRESSIONS:
        for part in (*call.args, *(word.value for word in call.keywords)):
            yield from _expressed(part)


def _expressed(node: ast.expr) -> Iterator[tuple[str, str, set[str]]]:
    """``pl.col("fee").sum()`` and ``pl.sum("fee")`` of polars."""
    for part in ast.walk(node):
        if not is_method_call(part) or part.func.attr not in ADDS:
            continue
        of, how = part.func.value, part.func.attr
        names = {_of_col(one) for one in ast.walk(of)} - {""}
        if isinstance(of, ast.Name) and of.id in ("pl", "polars"):
            names = {text_constant(part.args[0])} - {""} if part.args else set()
        yield from ((name, how, names - {name}) for name in sorted(names))


def _of_col(node: ast.AST) -> str:
    if is_method_call(node) and node.func.attr == "col" and node.args:
        return text_constant(node.args[0])
    return ""


def _selected(node: ast.expr) -> Iterator[tuple[str, set[str]]]:
    if isinstance(node, ast.BinOp):
        names = {column(part) for part in ast.walk(node)} - {""}
        yield from ((name, names - {name}) for name in sorted(names))
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.List):
        yield from ((text_constant(part), set()) for part in node.slice.elts)
    elif isinstance(node, ast.Attribute):
        yield node.attr, set()
    else:
        yield column(node), set()


def _aggregated(call: ast.Call, of: ast.expr) -> Iterator[tuple[str, str, set[str]]]:
    """``agg(total=("fee", "sum"))``, ``agg({"fee": "sum"})`` and ``["fee"].agg("sum")``."""
    pairs: list[tuple[ast.expr | None, ast.expr]] = []
    for word in call.keywords:
        if isinstance(word.value, ast.Tuple) and len(word.value.elts) == 2:
            pairs.append((word.value.elts[0], word.value.elts[1]))
    for argument in call.args[:1]:
        if isinstance(argument, ast.Dict):
            pairs += zip(argument.keys, argument.values, strict=True)
        else:
            for how in _named(argument):
                yield from ((name, how, beside) for name, beside in _selected(of))
    for key, function in pairs:
        for how in _named(function):
            yield text_constant(key), how, set()


def _named(node: ast.expr) -> Iterator[str]:
    for part in node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]:
        name = part.attr if isinstance(part, ast.Attribute) else text_constant(part)
        name = part.id if isinstance(part, ast.Name) else name
        if name in ADDS:
            yield name


def _group_keys(call: ast.Call) -> Iterator[str]:
    for node in ast.walk(call):
        if is_method_call(node) and node.func.attr in ("groupby", "group_by"):
            for argument in (*node.args, *(word.value for word in node.keywords)):
                yield from filter(None, map(text_constant, ast.walk(argument)))


def compares(source: Source, node: ast.expr, left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether the code compares a column of one table with one of the other in what the join made,
    as for intervals: then not every pair of rows counts."""
    name = assigned_name(source, node)
    for other in source.nodes:
        sides: list[set[str]] = []
        if isinstance(other, ast.Compare):
            sides = [_columns(part, name) for part in (other.left, *other.comparators)]
        elif is_method_call(other) and other.func.attr == "between":
            sides = [_columns(part, name) for part in (other.func.value, *other.args)]
        elif is_method_call(other) and other.func.attr == "query" and other.args:
            sides = _query(text_constant(other.args[0]))
        for one, two in pairwise(sides):
            crosses = (one & set(left) and two & set(right)) or (
                one & set(right) and two & set(left)
            )
            if crosses:
                return True
    return False


def _columns(node: ast.AST, name: str) -> set[str]:
    return {column(part) for part in ast.walk(node) if name and base(part) == name} - {""}


def _query(text: str) -> list[set[str]]:
    try:
        tree = ast.parse(text[:500], mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = next((part for part in ast.walk(tree) if isinstance(part, ast.Compare)), None)
    parts = (found.left, *found.comparators) if found is not None else ()
    return [{n.id for n in ast.walk(part) if isinstance(n, ast.Name)} for part in parts]
