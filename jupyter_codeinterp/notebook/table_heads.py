"""Describes tables in files from a few of their bytes, by rows and the names of columns, and
folders by the first names in them.

The files may be hostile: each reader takes bounded bytes, and may raise anything.
"""

from __future__ import annotations

import csv
import io
import logging
import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from ..sandbox.shared import trees

MOST, SECONDS = 20, 0.5
"""Maximum number of files, and of folders; seconds for all of them."""
READ = 1_000_000
"""Bytes of a text file."""
READ_OF_DATABASE = 50_000_000
"""Bytes. The rows of a larger database are not counted."""
_PAGE_SIZE, _COUNT = slice(16, 18), slice(28, 32)
"""Bytes of an SQLite file's header: the size of a page (1 for 65,536), and the number of pages."""
COLUMNS, LONGEST = 30, 60
"""Maximum number of names, and of characters of each."""
TEXTS = (".csv", ".tsv")
DATABASES = (".db", ".db3", ".sqlite", ".sqlite3")
MOST_TABLES = 20
MOST_LISTED = 1_000
"""Entries of a folder that are looked at."""
FIRST_NAMES, NAMES_LENGTH = 5, 120
"""Names in a folder that are shown, and roughly the characters of all of them."""
JOURNAL = {"sessions", "events", "messages", "ops"}
"""Tables of our journal, which is never read."""

log = logging.getLogger(__name__)


def heads(root: Path, folder: str, names: Iterable[str]) -> dict[str, str]:
    """Rows and columns in words that quote the files, by name; of a folder, whose name ends with a
    slash, the first names in it. ``folder`` is below ``root``; no link is followed."""
    names, until = list(names), time.monotonic() + SECONDS
    found: dict[str, str] = {}
    tables = [name for name in names if name.lower().endswith((*TEXTS, *DATABASES))][:MOST]
    folders = [name for name in names if name.endswith("/")][:MOST]
    for name in (*tables, *folders):
        path = f"{folder}/{name}" if folder else name
        if ".codeinterp" in path.split("/") or time.monotonic() > until:
            continue
        try:
            found[name] = _head(root, path, until)
        except Exception as error:
            log.debug("Cannot read %s: %r", name, error)
    return found


def _head(root: Path, path: str, until: float) -> str:
    if path.endswith("/"):
        with trees.listed(root, path.rstrip("/")) as entries:
            return _first_names(islice(entries, MOST_LISTED))
    with trees.below(root, path) as (file, _):
        is_database = path.lower().endswith(DATABASES)
        return _database(file, until) if is_database else _text(file)


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


def _database(file: BinaryIO, until: float) -> str:
    """Tables of an SQLite file. Views and virtual tables, which may run anything, are not read;
    counting ends at the time ``until``."""
    with TemporaryDirectory() as folder:
        # SQLite opens files by name, and code may have put a link there.
        path = Path(folder, "copy")
        path.write_bytes(_beginning(file))
        rest = bool(file.read(1))
        return _tables(f"{path.as_uri()}?mode=ro&immutable=1", until, counts=not rest)


def _beginning(file: BinaryIO) -> bytearray:
    """A database of at most ``READ_OF_DATABASE`` bytes. Of a larger one, SQLite reads the pages
    that are there if its header counts no more."""
    data = bytearray(file.read(READ_OF_DATABASE))
    if len(data) == READ_OF_DATABASE:
        size = int.from_bytes(data[_PAGE_SIZE], "big")
        data[_COUNT] = (len(data) // (65_536 if size == 1 else size)).to_bytes(4, "big")
    return data


def _tables(uri: str, until: float, counts: bool) -> str:
    with closing(sqlite3.connect(uri, uri=True)) as db:
        db.execute("PRAGMA trusted_schema=OFF")
        db.set_progress_handler(lambda: time.monotonic() > until, 1_000)
        found = "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite\\_%'"
        plain = " ESCAPE '\\' AND sql NOT LIKE 'create virtual%' LIMIT ?"
        names = [str(name) for (name,) in db.execute(found + plain, (10 * MOST_TABLES,))]
        if set(names) >= JOURNAL:
            raise ValueError("our journal")
        described = []
        for name in names[:MOST_TABLES]:
            columns = [str(row[1]) for row in db.execute(f"PRAGMA table_info({_quoted(name)})")]
            rows = ""
            with suppress(sqlite3.OperationalError):  # The time is up; count(*) would not notice.
                counted = f"SELECT coalesce(sum(1), 0) FROM {_quoted(name)}"
                rows = _rows(db.execute(counted).fetchone()[0]) if counts else ""
            described.append(f"{_shown(name)} ({': '.join(filter(None, (rows, _names(columns))))})")
    more = len(names) - len(described)
    others = f" and {more:,} more" if more else ""
    return f"tables {', '.join(described)}{others}" if described else "no tables"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
