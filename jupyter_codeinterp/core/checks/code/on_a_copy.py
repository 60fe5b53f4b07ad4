"""A change of a copy: ``df[c].fillna(0, inplace=True)`` and ``df[mask][c] = 0``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import MethodCall, Source, is_method_call, is_true, keyword, parsed

NAME = "Change of a copy"
METHODS = {"fillna", "replace", "clip", "ffill", "bfill", "interpolate", "mask", "where"}
"""Those that change values in place. Others are used on dictionaries of tables, too."""


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    dictionaries = _dictionaries(source)
    for node in source.nodes:
        if _fills_a_copy(node, dictionaries):
            part = source.text(node.func.value)
            words = f"`inplace=True` on `{part}` may change only a copy of that column."
            yield Finding(NAME, words, source.place(node))
        elif isinstance(node, ast.Subscript) and _is_chained(node):
            words = f"`{source.text(node)} = …` selects twice, so it changes only a copy."
            yield Finding(NAME, words, source.place(node))


def _dictionaries(source: Source) -> set[str]:
    """Names that the cell binds to a dictionary."""
    found: set[str] = set()
    for node in source.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Dict, ast.DictComp)):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return found


def _fills_a_copy(call: ast.AST, dictionaries: set[str]) -> TypeGuard[MethodCall]:
    if not is_method_call(call) or call.func.attr not in METHODS:
        return False
    part = call.func.value
    if not isinstance(part, ast.Subscript) or not is_true(keyword(call, "inplace")):
        return False
    return not (isinstance(part.value, ast.Name) and part.value.id in dictionaries)


def _is_chained(node: ast.Subscript) -> bool:
    """``df[mask]["c"] = …``, ``df["c"][mask] = …`` and ``df.loc[mask]["c"] = …``."""
    inner = node.value
    if not isinstance(node.ctx, ast.Store) or not isinstance(inner, ast.Subscript):
        return False
    return (_is_mask(inner.slice) and _is_label(node.slice)) or (
        _is_label(inner.slice) and _is_mask(node.slice)
    )


def _is_mask(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.BitAnd, ast.BitOr))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("isin", "isna", "isnull", "notna", "between", "contains")
    return isinstance(node, ast.Compare) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)
    )


def _is_label(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


CHECK = Check(NAME, before_run=read)
