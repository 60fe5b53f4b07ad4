"""Figures written into code that a variable already holds. This file's text runs **in the
kernel**. Standard library only."""

from __future__ import annotations

import ast
import math
from typing import Any

from ..variables import is_among, user_variables

MOST = 5
MOST_VARIABLES = 2_000
DIGITS = 4
"""Fewer digits of a figure may be chance."""


def repeated(
    tree: ast.AST, namespace: dict[str, Any], hidden: dict[str, Any]
) -> list[dict[str, Any]]:
    """Facts: a number in the code, and the variable whose value it is, or is rounded."""
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    written = [node for node in constants if is_figure(node.value)]
    if not written:
        return []
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    found = []
    values = [
        (name, value)
        for name, value in user_variables(namespace, hidden)[-MOST_VARIABLES:]
        if is_among(type(value), (int, float)) and name not in own and math.isfinite(value)
    ]
    for node in written:
        name = next((name for name, value in values if same(node.value, value)), "")
        if name:
            at = [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]
            found.append({"kind": "repeated_value", "at": at, "figures": {"name": name}})
    return found[:MOST]


def is_figure(value: Any) -> bool:
    """Whether it is a number that nobody writes by chance: no year, no round number."""
    if not is_among(type(value), (int, float)):
        return False
    if isinstance(value, int):
        return 10**DIGITS <= value < 10**15 and value % 100 != 0
    digits = repr(value).replace(".", "").strip("0")
    return "e" not in digits and len(digits) >= DIGITS


def same(written: Any, value: Any) -> bool:
    if type(written) is int:
        return bool(value == written)
    decimals = len(repr(written).partition(".")[2])
    return bool(round(value, decimals) == written)
