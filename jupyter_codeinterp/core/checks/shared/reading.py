"""Questions about code that several checks ask: what a name holds, and where a value goes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from ...cell_code.parsing import base
from ...findings import Place
from .check import Fact, SeenRun
from .source import Source, dotted

MOST = 12
LOOKS = ("empty", "any", "all", "isna", "isnull", "notna", "shape", "size")
"""What code asks of a table or a column to find out whether something is there."""


def facts(run: SeenRun, *kinds: str) -> Iterator[Fact]:
    """At most ``MOST`` of these kinds."""
    return islice((fact for fact in run.facts if fact.kind in kinds), MOST)


def number(fact: Fact, name: str) -> int:
    value = fact.figures.get(name)
    return value if isinstance(value, int) else 0


def text(fact: Fact, name: str) -> str:
    value = fact.figures.get(name)
    return value if isinstance(value, str) else ""


def texts(fact: Fact, name: str) -> tuple[str, ...]:
    value = fact.figures.get(name)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def listed(values: tuple[str, ...]) -> str:
    """``'a', 'b' and 'c'``"""
    return " and ".join(filter(None, (", ".join(values[:-1]), *values[-1:])))


def code_at(source: Source, fact: Fact, otherwise: str) -> str:
    node = source.at(fact.place)
    return f"`{source.text(node)}`" if node is not None else otherwise


def within(inner: Place | None, outer: Place | None) -> bool:
    if inner is None or outer is None:
        return False
    start, end = (inner.line, inner.column), (inner.end_line, inner.end_column)
    return (outer.line, outer.column) <= start and end <= (outer.end_line, outer.end_column)


def assigned_name(source: Source, node: ast.AST) -> str:
    """The variable that the statement around an expression assigns."""
    statement = source.statement(node)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def is_literal(source: Source, node: ast.expr | None) -> bool:
    """Whether it is written in the code, or a variable that is set to such a value."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return all(isinstance(part, ast.Constant) for part in node.elts)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Name):
        values = source.values_of(node.id)
        return (
            len(values) == 1
            and not isinstance(values[0], ast.Name)
            and is_literal(source, values[0])
        )
    return False


def is_looked_at(source: Source, node: ast.AST) -> bool:
    """Whether the code asks whether there is anything, and so expects that there may be nothing."""
    parent = source.parents.get(node)
    if _asks(node, parent):
        return True
    name = assigned_name(source, node)
    names = source.names.get(name, ()) if name else ()
    return any(_asks(other, source.parents.get(other)) for other in names)


def _asks(node: ast.AST, parent: ast.AST | None) -> bool:
    if isinstance(parent, ast.Attribute) and parent.value is node:
        return parent.attr in LOOKS
    return isinstance(parent, ast.Call) and node in parent.args and dotted(parent.func) == "len"


def calls_after(source: Source, node: ast.AST) -> set[str]:
    """Names of methods that the code calls on an expression, or later on what it is assigned
    to."""
    found = set(_chained(source, node))
    statement = source.statement(node)
    if isinstance(statement, ast.Assign):
        target = ast.unparse(statement.targets[0])
        for owner, other in source.attributes.get(base(statement.targets[0]), ()):
            is_part = owner == target or owner.startswith((f"{target}.", f"{target}["))
            if is_part and other.lineno > statement.lineno:
                found.add(other.attr)
    return found


def _chained(source: Source, node: ast.AST) -> Iterator[str]:
    parent = source.parents.get(node)
    while isinstance(parent, (ast.Attribute, ast.Call, ast.Subscript)):
        if isinstance(parent, ast.Attribute):
            yield parent.attr
        node, parent = parent, source.parents.get(parent)
