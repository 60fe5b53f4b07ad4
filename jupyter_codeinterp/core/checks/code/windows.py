"""Windows and ranges that end one too early or begin one too early."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import Source, dotted, keyword, label, parsed, same

NAME = "Window"
PERIODS = {1, 2, 7, 14, 21, 28, 30, 31, 60, 90, 91, 180, 365}
"""Days that people mean: to go back one less is right."""
Loop = tuple[ast.AST, ast.expr, ast.expr]
"""The loop, its variable, and what it runs over."""


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    for loop, variable, over in _loops(source):
        if isinstance(over, ast.Call) and isinstance(variable, ast.Name):
            words = _last_window(source, loop, variable.id, over)
            if not _looks_ahead(loop, variable.id):
                words = words or _last_value(source, over)
            words = words or _last_pair(source, loop, variable.id, over)
            if words:
                yield Finding(NAME, words, source.place(over))
    for node in source.nodes:
        if isinstance(node, ast.Compare):
            words = _one_day_more(source, node)
            if words:
                yield Finding(NAME, words, source.place(node))
        elif isinstance(node, ast.Subscript) and _ends_before_last(node.slice):
            words = f"`{source.text(node)}` leaves out the last one."
            yield Finding(NAME, words, source.place(node), audience="model")


def _loops(source: Source) -> Iterator[Loop]:
    for node in source.nodes:
        if isinstance(node, ast.For):
            yield node, node.target, node.iter
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            for part in node.generators:
                yield node, part.target, part.iter


def _is_range(call: ast.Call) -> bool:
    return dotted(call.func) in ("range", "np.arange", "numpy.arange")


def _length_less(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """``x`` and ``k`` of ``len(x) - k``."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return None
    call = node.left
    if isinstance(call, ast.Call) and dotted(call.func) == "len" and call.args:
        return call.args[0], node.right
    return None


def _last_window(source: Source, loop: ast.AST, name: str, call: ast.Call) -> str:
    """``x[i:i + k] for i in range(len(x) - k)``"""
    length = _length_less(call.args[-1]) if _is_range(call) and call.args else None
    if length is None:
        return ""
    for node in ast.walk(loop):
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
            continue
        part = node.slice
        if not isinstance(part.upper, ast.BinOp):
            continue
        begins = isinstance(part.lower, ast.Name) and part.lower.id == name
        if begins and same(node.value, length[0]) and same(part.upper.right, length[1]):
            return f"`{source.text(call)}` leaves out the last window of {source.text(length[1])}."
    return ""


def _last_value(source: Source, call: ast.Call) -> str:
    """``range(years.min(), years.max())``"""
    if not _is_range(call) or len(call.args) < 2:
        return ""
    first, last = call.args[:2]
    if _is_extreme(first, "min") and _is_extreme(last, "max"):
        return f"`{source.text(call)}` leaves out the last one, `{source.text(last)}`."
    return ""


def _looks_ahead(loop: ast.AST, name: str) -> bool:
    """Whether the loop also uses the one after, ``year + 1``."""
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and isinstance(node.left, ast.Name)
        and node.left.id == name
        and _is_one(node.right)
        for node in ast.walk(loop)
    )


def _is_extreme(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and label(node.func) == name


def _last_pair(source: Source, loop: ast.AST, name: str, call: ast.Call) -> str:
    """``x[i] - x[i - 1] for i in range(1, len(x) - 1)``"""
    if not _is_range(call) or len(call.args) != 2:
        return ""
    first, length = call.args[0], _length_less(call.args[1])
    if length is None or not _is_one(first) or not _is_one(length[1]):
        return ""
    used = [
        node.slice
        for node in ast.walk(loop)
        if isinstance(node, ast.Subscript) and same(node.value, length[0])
    ]
    ahead = any(
        isinstance(part, (ast.Slice, ast.Tuple))
        or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add))
        for part in used
    )
    back = any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) for part in used)
    if back and not ahead:
        return f"`{source.text(call)}` leaves out the last of `{source.text(length[0])}`."
    return ""


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _one_day_more(source: Source, node: ast.Compare) -> str:
    """``day >= last - Timedelta(days=7)`` has eight days."""
    bound = node.comparators[0]
    if not isinstance(node.ops[0], ast.GtE) or not isinstance(bound, ast.BinOp):
        return ""
    if not isinstance(bound.op, ast.Sub) or not isinstance(bound.right, ast.Call):
        return ""
    days = keyword(bound.right, "days")
    if not isinstance(days, ast.Constant) or not isinstance(days.value, int):
        return ""
    last = bound.left
    values = source.values_of(last.id) if isinstance(last, ast.Name) else [last]
    if _has_time(node.left) or any(_has_time(part) for part in source.values_of(label(node.left))):
        return ""  # Seven days to the minute.
    if len(values) != 1 or not _is_extreme(values[0], "max") or days.value + 1 in PERIODS:
        return ""
    return f"`{source.text(node)}` spans {days.value + 1} days, both ends included."


def _has_time(node: ast.AST) -> bool:
    words = set(label(node).lower().split("_"))
    return bool(words & {"time", "timestamp", "ts", "datetime", "at", "stamp"})


def _ends_before_last(node: ast.expr) -> bool:
    """``[-7:-1]``"""
    if not isinstance(node, ast.Slice) or node.step is not None:
        return False
    lower, upper = _negative(node.lower), _negative(node.upper)
    return upper == 1 and lower is not None and lower > 2


def _negative(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = node.operand.value if isinstance(node.operand, ast.Constant) else None
        return value if isinstance(value, int) else None
    return None


CHECK = Check(NAME, before_run=read)
