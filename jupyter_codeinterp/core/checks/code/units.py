"""Units that do not go together, as names give them: ``distance_km + walk_m``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import Source, dotted, label, parsed

NAME = "Units"
DIMENSIONS = {
    "length": ("km", "m", "cm", "mm", "mi", "mile", "miles", "ft", "feet"),
    "weight": ("kg", "g", "mg", "lb", "lbs", "oz", "tons"),
    "time": ("s", "sec", "secs", "seconds", "ms", "min", "mins", "minutes", "h", "hr", "hours"),
    "money": ("eur", "usd", "gbp", "chf", "jpy", "cad", "aud"),
    "temperature": ("celsius", "fahrenheit", "kelvin"),
}
SAME = {
    **dict.fromkeys(("sec", "secs", "seconds"), "s"),
    **dict.fromkeys(("mins", "minutes"), "min"),
    **dict.fromkeys(("hr", "hours"), "h"),
    **dict.fromkeys(("mile", "miles"), "mi"),
    **{"lbs": "lb", "feet": "ft"},
}
DIMENSION_OF = {unit: name for name, units in DIMENSIONS.items() for unit in units}
SPEEDS = {"kmh": ("km", "h"), "kph": ("km", "h"), "mph": ("mi", "h"), "mps": ("m", "s")}
PERCENT = ("pct", "percent", "percentage")
KEEPS = {"sum", "mean", "median", "min", "max", "std", "abs", "round", "fillna", "cumsum", "copy"}
"""Methods whose result has the unit of what they are called on."""


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    for node in source.nodes:
        words = _mixed(source, node) or _named(source, node) or _percent(source, node)
        words = words or _degrees(source, node)
        if words:
            yield Finding(NAME, words, source.place(node))


def unit_of(node: ast.AST) -> str:
    """The unit that an expression has by its names; "" if there is none, or it is converted."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return unit_of(node.func.value) if node.func.attr in KEEPS else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        units = {unit_of(node.left), unit_of(node.right)} - {""}
        return units.pop() if len(units) == 1 else ""
    return unit_in(label(node))


def unit_in(name: str) -> str:
    words = name.lower().split("_")
    last = SAME.get(words[-1], words[-1])
    if words[-1] in ("c", "f") and "temp" in words[0]:
        return {"c": "celsius", "f": "fahrenheit"}[words[-1]]
    return last if len(words) > 1 and last in DIMENSION_OF else ""


def _differ(one: str, other: str) -> bool:
    return one != other and bool(one and other) and DIMENSION_OF[one] == DIMENSION_OF[other]


def _mixed(source: Source, node: ast.AST) -> str:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left, right = node.left, node.right
    elif isinstance(node, ast.Compare) and len(node.comparators) == 1:
        left, right = node.left, node.comparators[0]
    else:
        return ""
    one, other = unit_of(left), unit_of(right)
    if not _differ(one, other) or any(_has_maximum(source, side) for side in (left, right)):
        return ""
    return f"`{source.text(node)}` puts {one} and {other} together without converting one."


def _has_maximum(source: Source, node: ast.AST) -> bool:
    """Whether ``y_min`` is a minimum, because the cell also has ``y_max``."""
    name = label(node)
    if not name.endswith("_min"):
        return False
    other = f"{name[:-3]}max"
    return any(label(part) == other for part in source.nodes)


def _named(source: Source, node: ast.AST) -> str:
    """A name with one unit for a value in another."""
    for name, value in _bindings(node):
        expected, unit = unit_in(name), unit_of(value)
        if _differ(expected, unit):
            return f"`{name}` is to be in {expected}, and `{source.text(value)}` is in {unit}."
        speed = SPEEDS.get(name.lower().split("_")[-1])
        if speed and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
            units = (unit_of(value.left), unit_of(value.right))
            if all(units) and units != speed:
                per = " per ".join
                return f"`{name}` is to be in {per(speed)}, and is in {per(units)}."
    return ""


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        yield label(node.targets[0]), node.value
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg, node.value


def _percent(source: Source, node: ast.AST) -> str:
    """A percentage that is multiplied, and that nothing divides by 100."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return ""
    sides = (node.left, node.right)
    names = [label(side) for side in sides]
    shares = [name for name in names if name.lower().split("_")[-1] in PERCENT]
    weighs = any({"weight", "weights", "w", "wt"} & set(n.lower().split("_")) for n in names)
    if len(shares) != 1 or weighs or any(isinstance(side, ast.Constant) for side in sides):
        return ""
    if any(isinstance(part, ast.Constant) for part in ast.walk(node) if _is_number(part)):
        return ""
    around: ast.AST | None = node
    while isinstance(around, (ast.expr, ast.keyword)):
        if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Div):
            return ""
        around = source.parents.get(around)
    return f"`{source.text(node)}` multiplies by a percentage, and nothing divides it by 100."


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _degrees(source: Source, node: ast.AST) -> str:
    if not isinstance(node, ast.Call) or not node.args:
        return ""
    if dotted(node.func).split(".")[-1] not in ("sin", "cos", "tan"):
        return ""
    words = label(node.args[0]).lower().split("_")
    if {"deg", "degrees", "degree"} & set(words):
        return f"`{source.text(node)}` takes radians, and gets degrees."
    return ""


CHECK = Check(NAME, before_run=read)
