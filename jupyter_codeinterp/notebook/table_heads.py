"""Describes tables in files from a few of their bytes, by rows and the names of columns, and
folders by the first names in them.

The files may be hostile: each reader takes bounded bytes, and may raise anything.
"""

from __future__ import annotations

import csv
import io
import logging
import os
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from ..sandbox.shared import trees
from .binary_heads import Sheets, excel, parquet

MOST, SECONDS = 20, 0.5
"""Maximum number of files, and of folders; seconds for all of them."""
READ = 1_000_000
"""Bytes of a text file."""
COLUMNS, LONGEST = 30, 60
"""Maximum number of names, and of characters of each."""
TEXTS = (".csv", ".tsv")
WORKBOOKS = (".xlsx", ".xlsm")
PARQUET = ".parquet"
MOST_LISTED = 1_000
"""Entries of a folder that are looked at."""
FIRST_NAMES, NAMES_LENGTH = 5, 120
"""Names in a folder that are shown, and roughly the characters of all of them."""

log = logging.getLogger(__name__)


def heads(root: Path, folder: str, names: Iterable[str]) -> dict[str, str]:
    """Rows and columns in words that quote the files, by name; of a folder, whose name ends with a
    slash, the first names in it. ``folder`` is below ``root``; no link is followed."""
    names, until = list(names), time.monotonic() + SECONDS
    found: dict[str, str] = {}
    tables = [name for name in names if name.lower().endswith((*TEXTS, *WORKBOOKS, PARQUET))][:MOST]
    folders = [name for name in names if name.endswith("/")][:MOST]
    for name in (*tables, *folders):
        path = f"{folder}/{name}" if folder else name
        if ".codeinterp" in path.split("/") or time.monotonic() > until:
            continue
        try:
            found[name] = _head(root, path)
        except Exception as error:
            log.debug("Cannot read %s: %r", name, error)
    return found


def _head(root: Path, path: str) -> str:
    if path.endswith("/"):
        with trees.listed(root, path.rstrip("/")) as entries:
            return _first_names(islice(entries, MOST_LISTED))
    with trees.below(root, path) as (file, _):
        if path.lower().endswith(TEXTS):
            return _text(file)
        if path.lower().endswith(WORKBOOKS):
            return _workbook(excel(file))
        count, columns = parquet(file)
        return f"{_rows(count)}; columns {_names(columns)}"


def _workbook(sheets: Sheets) -> str:
    first, *others = sheets.titles
    extent = f" {sheets.extent}" if sheets.extent else ""
    top = f", first row: {_names(sheets.first)}" if sheets.first else ""
    more = f"; other sheets: {_names(others)}" if others else ""
    return f"sheet {_shown(first)}{extent}{top}{more}"


def _first_names(entries: Iterable[os.DirEntry[str]]) -> str:
    """The first names of a folder without hidden ones, in order, subfolders with a slash."""
    visible = sorted((one for one in entries if one.name[0] != "."), key=lambda one: one.name)
    shown: list[str] = []
    for entry in visible[:FIRST_NAMES]:
        shown.append(_shown(entry.name) + ("/" if entry.is_dir(follow_symlinks=False) else ""))
        if len(", ".join(shown)) > NAMES_LENGTH:
            break
    return ", ".join([*shown, "…"] if len(visible) > len(shown) else shown)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _names(names: list[str]) -> str:
    more = len(names) - COLUMNS
    return ", ".join(map(_shown, names[:COLUMNS])) + (f" and {more:,} more" if more > 0 else "")


def _shown(name: str) -> str:
    """The name; quoted as in Python if it has blanks or signs that would not show."""
    plain = name and name.isprintable() and name == name.strip() and "  " not in name
    return name[:LONGEST] if plain else repr(name[:LONGEST])


def _text(file: BinaryIO) -> str:
    """CSV and TSV."""
    data, size = file.read(READ), os.fstat(file.fileno()).st_size
    text = _decoded(data)
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    columns, count = next(reader, []), 0
    try:
        for row in reader:
            count += bool(row)
        some = f"some {float(f'{count * size / max(1, len(data)):.2g}'):,.0f} rows (estimated)"
        rows = _rows(count) if size <= len(data) else some
    except csv.Error:
        rows = f"at least {_rows(count)}"
    split = "" if delimiter == "," or len(columns) < 2 else f"; separator {delimiter!r}"
    return f"{rows}{split}; columns {_names(columns)}" if columns else "empty"


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data[:-4].decode("utf-8-sig") + data[-4:].decode("utf-8", "replace")
    except UnicodeDecodeError:
        return data.decode("latin-1")
