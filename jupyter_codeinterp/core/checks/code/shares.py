"""Shares and growth over the wrong total."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from ...cell_code.parsing import base
from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import (
    MethodCall,
    Source,
    column,
    is_call_of,
    is_method_call,
    label,
    parsed,
    same,
)

NAME = "Denominator"
LATER = {"new", "current", "after", "end", "final", "latest", "this"}
EARLIER = {"old", "previous", "prev", "before", "start", "initial", "base", "last", "first"}


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    for node in source.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            words = _itself(source, node) or _growth(source, node) or _filtered(source, node)
            if words:
                yield Finding(NAME, words, source.place(node))
        elif isinstance(node, ast.Call) and _is_mean_of_means(node):
            words = f"`{source.text(node)}` weighs all groups alike, whatever their number of rows."
            yield Finding(NAME, words, source.place(node), audience="model")


def _itself(source: Source, node: ast.BinOp) -> str:
    calls = any(isinstance(part, ast.Call) for part in ast.walk(node.left))
    if calls and same(node.left, node.right):
        return f"`{source.text(node)}` divides a value by itself."
    return ""


def _growth(source: Source, node: ast.BinOp) -> str:
    """``(new - old) / new``"""
    change, total = node.left, node.right
    if not isinstance(change, ast.BinOp) or not isinstance(change.op, ast.Sub):
        return ""
    if not same(change.left, total):
        return ""
    later, earlier = (set(label(side).lower().split("_")) for side in (change.left, change.right))
    if later & LATER and earlier & EARLIER:
        return f"`{source.text(node)}` divides the growth by the later value."
    return ""


def _filtered(source: Source, node: ast.BinOp) -> str:
    """``x["passed"].sum() / len(x)`` where ``x`` is ``df[df["passed"]]``."""
    call, length = node.left, node.right
    if not is_method_call(call) or call.func.attr != "sum":
        return ""
    name = base(call)
    if not is_call_of(length, "len") or not length.args or base(length.args[0]) != name:
        return ""
    for value in source.values_of(name):
        if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Name):
            continue
        if column(value.slice) and column(value.slice) == column(call.func.value):
            words = f"`{name}` has only rows where `{column(call.func.value)}` is true,"
            return f"{words} so `{source.text(node)}` is 1."
    return ""


def _is_mean_of_means(call: ast.Call) -> bool:
    """``….groupby(…)….mean().mean()``"""
    inner = call.func.value if _is_mean(call) else None
    if inner is None or not _is_mean(inner):
        return False
    return any(
        isinstance(part, ast.Attribute) and part.attr == "groupby" for part in ast.walk(inner)
    )


def _is_mean(node: ast.AST) -> TypeGuard[MethodCall]:
    return is_method_call(node) and node.func.attr == "mean"


CHECK = Check(NAME, before_run=read)
