"""Tables that are CSV or TSV files, read through the contents manager. No kernel takes part."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import msgspec
from jupyter_core.utils import ensure_async
from tornado import web

from ...app.notebooks.siblings import read_file
from ...base.paths import normalize
from ...kernel.inside.columns import Column, whole_or_float
from ...kernel.inside.tables import Pages, Table
from .shapes import TableAnswer, TableAsked, answer_from, refusal

MAX_FILE = 20_000_000
"""Bytes."""
MAX_COLUMNS = 1_000
KEPT = 2
"""Parsed files that are kept."""
_NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|nan|NaN|[+-]?inf"
)
"""A number as spreadsheets write it; ``01234`` and ``2024_01`` are texts."""
MAX_NUMBER = 100
"""Characters."""
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


class CsvTable:
    """``columns``: a list of numbers or texts for each; None for an empty cell."""

    def __init__(self, labels: list[str], columns: list[list[Any]], rows: int) -> None:
        self.labels = labels
        self.columns = columns
        self.rows = rows


class FileTables:
    def __init__(self, contents: Any) -> None:
        """``contents``: jupyter_server's manager."""
        self._contents = contents
        self._kept: OrderedDict[str, tuple[Any, Pages]] = OrderedDict()

    async def of(self, asked: TableAsked) -> TableAnswer:
        """Raises CommandError ``table_…``."""
        path = normalize(asked.file)
        pages = await self._pages(path)
        sent = msgspec.to_builtins(asked)
        sent["name"] = "file"
        return answer_from(await asyncio.to_thread(pages.answer, sent))

    async def _pages(self, path: str) -> Pages:
        delimiter = _DELIMITERS.get(path[-4:].lower())
        if delimiter is None:
            raise refusal({"refused": "not_a_table", "detail": path})
        try:
            about = await ensure_async(self._contents.get(path, content=False, type="file"))
            state = (about["last_modified"], about.get("size"))
            kept, pages = self._kept.get(path, (None, None))
            if pages is not None and kept == state:
                return pages
            data = await read_file(self._contents, path, MAX_FILE)
        except (web.HTTPError, OSError):
            data = None
        if data is None:
            raise refusal({"refused": "no_file", "detail": path})
        table = await asyncio.to_thread(parsed, data, delimiter)
        pages = Pages({"file": table}, lambda: 0, _table_of)
        self._kept[path] = (state, pages)
        self._kept.move_to_end(path)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return pages


def parsed(data: bytes, delimiter: str) -> CsvTable:
    text = data.decode("utf-8-sig", "replace")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        records = [row for row in reader if row]
    except csv.Error as error:
        raise refusal({"refused": "failed", "detail": str(error)}) from None
    labels = records[0][:MAX_COLUMNS] if records else []
    body = records[1:]
    columns = []
    for place in range(len(labels)):
        texts = [row[place] if place < len(row) else "" for row in body]
        columns.append(_typed(texts))
    return CsvTable(labels, columns, len(body))


def _typed(texts: list[str]) -> list[Any]:
    """Convert to numbers if each text is empty or a number as spreadsheets write it."""
    if all(not text or is_number(text.strip(" ")) for text in texts):
        return [whole_or_float(text) if text else None for text in texts]
    return [text or None for text in texts]


def is_number(text: str) -> bool:
    return len(text) <= MAX_NUMBER and _NUMBER.fullmatch(text) is not None


def _table_of(value: CsvTable) -> Table:
    def column(place: int) -> Column:
        values = value.columns[place]
        is_text = type(next((one for one in values if one is not None), "")) is str

        def take(positions: Sequence[int]) -> list[Any]:
            return [values[position] for position in positions]

        label = value.labels[place][:120]
        kind = "text" if is_text else "number"
        return Column(label, kind, take, kind)

    return Table(value.rows, value.labels, column, lambda places: [one + 1 for one in places])
