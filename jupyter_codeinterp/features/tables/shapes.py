"""Requests and answers about tables. All texts of an answer are untrusted."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

import msgspec
from msgspec import Meta

from ...base.errors import CommandError

MAX_ROWS = 200
MAX_COLUMNS = 50
MAX_TEXT = 200
"""Characters of a cell, a label or a filter."""

Natural = Annotated[int, Meta(ge=0, lt=2**53)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Op = Literal["contains", "=", "<", "<=", ">", ">=", "missing", "present"]


class Filter(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """``value`` is ignored by ``missing`` and ``present``."""

    column: Natural
    op: Op
    value: Text = ""


class Sort(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    column: Natural
    descending: bool = False


class TableAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One variable (``name``) of the notebook's kernel.

    ``start`` and ``rows``: the part of the rows that match all ``filters``, in the order of
    ``sort``. ``column``: the first of 50 columns. ``fresh``: sort and filter again.
    ``kernel``: of the last answer, if there was one.
    """

    notebook: str
    name: Annotated[str, Meta(max_length=100)]
    start: Natural = 0
    rows: Annotated[int, Meta(ge=0, le=MAX_ROWS)] = MAX_ROWS
    column: Natural = 0
    sort: Union[Sort, None] = None
    filters: Annotated[tuple[Filter, ...], Meta(max_length=8)] = ()
    fresh: bool = False
    kernel: Text = ""


class Head(msgspec.Struct, frozen=True):
    """The head of a column. ``kind`` decides the column's alignment and comparisons."""

    label: Text
    dtype: Text
    kind: Literal["number", "time", "truth", "text"]


Cells = Annotated[list[Union[Text, None]], Meta(max_length=MAX_ROWS)]
"""The cells of one column; None: missing."""


class Page(msgspec.Struct, frozen=True):
    """A part of a table.

    rows, columns    of the whole table
    found            rows that match the filters
    searched         rows that were compared within the time limit
    start, first     the first row (of ``found``) and column here
    heads, cells     one entry a column
    index            the row labels
    version          changes when the table may have changed
    """

    type: Text
    rows: Natural
    columns: Natural
    found: Natural
    searched: Natural
    start: Natural
    first: Natural
    heads: Annotated[list[Head], Meta(max_length=MAX_COLUMNS)]
    index: Annotated[list[Text], Meta(max_length=MAX_ROWS)]
    cells: Annotated[list[Cells], Meta(max_length=MAX_COLUMNS)]
    version: Text


class TableAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """``kernel`` changes when the kernel restarts or another one takes its place."""

    table: Union[Page, None] = None
    kernel: str = ""


def answer_from(reported: dict[str, Any], kernel: str) -> TableAnswer:
    """Validate what a kernel reports: it may report anything. Raises CommandError."""
    if "refused" in reported:
        raise refusal(reported)
    try:
        answer = msgspec.convert({**reported, "kernel": kernel}, TableAnswer)
    except msgspec.ValidationError:
        raise refusal({"refused": "failed"}) from None
    page = answer.table
    if page is not None and (
        len(page.heads) != len(page.cells)
        or any(len(column) != len(page.index) for column in page.cells)
    ):
        raise refusal({"refused": "failed"})
    return answer


_WORDS = {
    "busy": "The kernel is busy. Refresh when the cell has finished.",
    "slow": "The kernel needs more than a second for this. Refresh to see the result.",
    "other_language": "Tables are available for Python kernels only.",
    "gone": "There is no variable {detail!r} in the kernel. Run its cell, then refresh.",
    "restarted": "The kernel was restarted. {detail!r} is gone. Run its cell, then refresh.",
    "not_a_table": "{detail!r} is not a table.",
    "too_large_to_sort": "This column is too large to sort here. Sort it in a cell.",
    "not_comparable": "This column cannot be compared with {detail!r}.",
    "no_column": "The table has changed: it has no such column. Refresh.",
    "failed": "Couldn't read the table. {detail}",
}


def refusal(reported: dict[str, Any]) -> CommandError:
    """The error for a refusal that a kernel reports."""
    code, detail = reported.get("refused"), reported.get("detail", "")
    if not isinstance(code, str) or code not in _WORDS:
        code = "failed"
    shown = detail[:MAX_TEXT] if isinstance(detail, str) else ""
    return CommandError(f"table_{code}", _WORDS[code], detail=shown)
