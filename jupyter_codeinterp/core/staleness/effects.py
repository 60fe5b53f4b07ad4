"""What one statement reads and writes, with the columns of tables."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from ..cell_code.cell_names import PARSED, Names, changed_by, names_of
from ..cell_code.parsing import base, parse

_ABOUT_ALL = frozenset(
    ("T", "axes", "columns", "dtypes", "empty", "iloc", "index", "loc", "shape", "values")
)
"""Attributes of a table that depend on all its columns."""
_ADDS = frozenset(("append", "extend", "insert", "pop", "popleft", "popitem", "appendleft"))
"""Methods that change their object once more with each call."""

Columns = dict[str, frozenset[str] | None]
"""By name; None for the whole object."""


class Effects(msgspec.Struct, frozen=True):
    """``code``: the statement. ``adds``: the names that it changes further with each run, as
    ``x += 1`` does; other statements that change their own input give the same when they run
    twice, as ``df = df.dropna()`` does."""

    code: str
    names: Names
    reads: Columns
    changes: Columns
    adds: frozenset[str]


@lru_cache(maxsize=2_000)
def statements(source: str) -> tuple[Effects, ...]:
    """Of the cell's top; none of a cell that cannot be read."""
    found = parse(source, PARSED)
    return tuple(map(_effects, found[1].body)) if found else ()


def _effects(statement: ast.stmt) -> Effects:
    code = ast.unparse(statement)
    names = names_of(code)
    read, changed = _columns(statement)
    reads = {name: read.get(name) for name in names.reads}
    changes = {name: changed.get(name) for name in names.changes}
    return Effects(code, names, reads, changes, frozenset(_adds(statement)))


def _columns(statement: ast.stmt) -> tuple[Columns, Columns]:
    """Of each name the columns that are read and changed, where nothing else of it is."""
    read: Columns = {}
    changed: Columns = {}
    parts = {
        id(one.value): one
        for one in ast.walk(statement)
        if isinstance(one, (ast.Attribute, ast.Subscript)) and _column(one) is not None
    }
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            for name in changed_by(node, unused=True):
                _add(changed, name, None)
            # ``df.sum()`` calls a method: that is no column.
            parts.pop(id(getattr(node.func, "value", None)), None)
        elif isinstance(node, ast.AugAssign):
            target = node.target
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                _add(read, target.value.id, _column(target))
        elif isinstance(node, (ast.Subscript, ast.Attribute)):
            if not isinstance(node.ctx, ast.Load):
                _add(changed, base(node), _column(node))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            part = parts.get(id(node))
            if part is None:
                _add(read, node.id, None)
            else:
                loads = isinstance(part.ctx, ast.Load)
                _add(read, node.id, _column(part) if loads else frozenset())
    return read, changed


def _add(to: Columns, name: str, columns: frozenset[str] | None) -> None:
    known = to.get(name, frozenset())
    to[name] = None if known is None or columns is None else known | columns


def _column(node: ast.AST) -> frozenset[str] | None:
    """The columns in ``df["a"]``, ``df[["a", "b"]]`` and ``df.a``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        whole = node.attr in _ABOUT_ALL or not isinstance(node.ctx, ast.Load)
        return None if whole else frozenset((node.attr,))
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)):
        return None
    keys = node.slice.elts if isinstance(node.slice, ast.List) else [node.slice]
    texts = [one.value for one in keys if isinstance(one, ast.Constant)]
    found = frozenset(text for text in texts if isinstance(text, str))
    return found if len(found) == len(keys) else None


def _adds(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.AugAssign):
            yield base(node.target)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            own = {ast.unparse(target) for target in node.targets}
            for part in (node.value.left, node.value.right):
                if ast.unparse(part) in own:
                    yield base(part)
        elif isinstance(node, ast.Attribute) and node.attr in _ADDS:
            yield base(node)
