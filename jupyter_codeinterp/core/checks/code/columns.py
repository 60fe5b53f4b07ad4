"""Sums and means of columns that, by their name, are no amounts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import column, parsed

NAME = "Column"
_IDENTIFIER = re.compile(r"(?:.*_)?(?:id|zip|zip_?code|postcode|postal_code|phone|ssn|isbn)", re.I)
_RUNNING = re.compile(r"(?:cum|cumulative|running|ytd)_.*|.*_(?:cum|cumulative|to_date|ytd)", re.I)
_RATE = re.compile(r"(?:.*_)?(?:pct|percent|percentage|rate|ratio|average|avg)", re.IGNORECASE)


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    for node in source.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, how = column(node.func.value), node.func.attr
        if how in ("sum", "mean", "median", "std") and _IDENTIFIER.fullmatch(name):
            words = f"`{name}` is an identifier by its name, and `{how}` counts with it."
            yield Finding(NAME, words, source.place(node))
        elif how == "sum" and _RUNNING.fullmatch(name):
            words = f"`{name}` is a running total by its name, so its sum counts amounts again."
            yield Finding(NAME, words, source.place(node))
        elif how == "sum" and _RATE.fullmatch(name):
            words = f"`{name}` is a rate by its name, and rates do not add up."
            yield Finding(NAME, words, source.place(node), audience="model")


CHECK = Check(NAME, before_run=read)
