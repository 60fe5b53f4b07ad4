"""Which sheets of an Excel workbook some code reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Union

import msgspec

from ..cell_code.cell_names import PARSED
from ..cell_code.parsing import parse

Name = Union[str, int]


class Sheets(msgspec.Struct, frozen=True):
    """``names``: titles, or numbers from 0; None for all. ``head``: rows above the data."""

    names: Union[tuple[Name, ...], None] = None
    head: int = 1


def sheets_read(sources: Sequence[str], file: str) -> Union[Sheets, None]:
    """What the cells read of a file with this name. None if they read it in a way that this does
    not follow, so that its rows cannot be told from its head."""
    names: list[Name] = []
    heads: set[int] = set()
    for call in _calls(sources):
        if not any(_text(one).endswith(file) for one in call.args[:1]):
            continue
        given = {one.arg: one.value for one in call.keywords}
        if "skipfooter" in given or "comment" in given or None in given:
            return None
        sheet = given.get("sheet_name", call.args[1] if len(call.args) > 1 else ast.Constant(0))
        above = _whole(given.get("skiprows"), 0)
        header = _whole(given.get("header"), 0)
        found = _names(sheet)
        if above is None or header is None or found is None:
            return None
        names += found
        heads.add(above + header + 1)
    if not heads:
        return Sheets()
    return Sheets(tuple(dict.fromkeys(names)), heads.pop()) if len(heads) == 1 else None


def _calls(sources: Sequence[str]) -> Iterator[ast.Call]:
    for source in sources:
        found = parse(source, PARSED)
        for node in ast.walk(found[1]) if found is not None else ():
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "read_excel"
            ):
                yield node


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _whole(node: Union[ast.expr, None], default: int) -> Union[int, None]:
    if node is None:
        return default
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and 0 <= value < 1_000 else None


def _names(node: ast.expr) -> Union[list[Name], None]:
    items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    values = [one.value if isinstance(one, ast.Constant) else None for one in items]
    found = [value for value in values if isinstance(value, (str, int))]
    return found if len(found) == len(items) else None
