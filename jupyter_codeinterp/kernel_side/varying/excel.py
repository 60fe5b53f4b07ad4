"""Changes sheets of an Excel workbook in place. This file's text runs **in the kernel**; it needs
openpyxl there.

Formulas become the values that the workbook shows, as pandas reads them.
"""

from __future__ import annotations

import importlib
from typing import Any

from .picks import number_or_none, outliers_of, picked
from .refusal import CannotChange

MOST_CELLS = 500_000
"""Rows times columns of all sheets that are changed."""


def change_excel(path: str, about: dict[str, Any], kind: str, number: int) -> dict[str, int]:
    """``about``: ``names``, titles or numbers from 0, None for all, and ``head``, the rows above
    the data. Rows and columns that have an outlier, before the change. Raises CannotChange."""
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError:
        raise CannotChange("no_library", "openpyxl") from None
    book = openpyxl.load_workbook(path, data_only=True, keep_links=False)
    sheets = chosen(book.worksheets, about["names"])
    if sum(sheet.max_row * sheet.max_column for sheet in sheets) > MOST_CELLS:
        raise CannotChange("too_large")
    rows, most = 0, 0
    for sheet in sheets:
        body = rows_below(sheet, about["head"])
        if len(body) < 2:
            continue
        rows += len(body)
        columns = zip(*([number_or_none(value) for value, _ in row] for row in body))  # noqa: B905
        outliers = outliers_of(columns)
        most = max(most, len(outliers))
        if kind:
            order = picked(kind, number, len(body), outliers)
            rewrite(sheet, about["head"], len(body), [body[one] for one in order])
    if not rows:
        raise CannotChange("few_rows")
    if kind:
        book.save(path)
    return {"rows": rows, "outliers": most}


def chosen(sheets: list[Any], wanted: Any) -> list[Any]:
    if wanted is None:
        return sheets
    return [
        sheet for number, sheet in enumerate(sheets) if number in wanted or sheet.title in wanted
    ]


def rows_below(sheet: Any, head: int) -> list[Any]:
    """Values with their styles, row by row, without empty rows at the end."""
    found = [
        [(cell.value, getattr(cell, "_style", None)) for cell in row]
        for row in sheet.iter_rows(min_row=head + 1)
    ]
    while found and all(value is None for value, _ in found[-1]):
        found.pop()
    return found


def rewrite(sheet: Any, head: int, before: int, rows: list[Any]) -> None:
    """A date is a number with a date's style, so styles move along."""
    for place, row in enumerate(rows, head + 1):
        for column, (value, style) in enumerate(row, 1):
            cell = sheet.cell(place, column)
            if style is not None and hasattr(cell, "_style"):  # Not within merged cells.
                cell.value = value
                cell._style = style
    if len(rows) < before:
        sheet.delete_rows(head + 1 + len(rows), before - len(rows))
