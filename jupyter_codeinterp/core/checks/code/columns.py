"""Sums and means of columns that, by their name, are no amounts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import Source, column, label, parsed

NAME = "Column"
IDENTIFIER = re.compile(r"(?:.*_)?(?:id|zip|zip_?code|postcode|postal_code|phone|ssn|isbn)", re.I)
_RUNNING = re.compile(
    r"(?:cum|cumulative|ytd)_.*|running_(?:total|sum|count|amount|balance|sales|revenue).*"
    r"|.*_(?:cum|cumulative|to_date|ytd)",
    re.IGNORECASE,
)
LAST = {"last", "tail", "max", "nlargest", "drop_duplicates", "idxmax"}
"""What code calls that keeps one row of each running total."""
_RATE = re.compile(r"(?:.*_)?(?:pct|percent|percentage|rate|ratio|average|avg)", re.IGNORECASE)


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    for node in source.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, how = column(node.func.value), node.func.attr
        if how in ("sum", "mean", "median", "std") and IDENTIFIER.fullmatch(name):
            words = f"`{name}` is an identifier by its name, and `{how}` counts with it."
            yield Finding(NAME, words, source.place(node))
        elif how == "sum" and _RUNNING.fullmatch(name) and not _of_last(source, node.func.value):
            words = f"`{name}` is a running total by its name, so its sum counts amounts again."
            yield Finding(NAME, words, source.place(node))
        elif how == "sum" and _RATE.fullmatch(name):
            words = f"`{name}` is a rate by its name, and rates do not add up."
            yield Finding(NAME, words, source.place(node), audience="model")


def _of_last(source: Source, node: ast.AST) -> bool:
    """Whether it is a column of chosen rows: a filter, or the last ones of groups."""
    table = node.value if isinstance(node, (ast.Subscript, ast.Attribute)) else node
    values = [table]
    if isinstance(table, ast.Name):
        values += source.values_of(table.id)
    return any(_chooses(part) for value in values for part in ast.walk(value))


def _chooses(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, (ast.Compare, ast.BinOp)) or label(node.value) == "iloc"
    return isinstance(node, ast.Attribute) and node.attr in LAST


CHECK = Check(NAME, before_run=read)
