"""What tables in files hold, from a few of their bytes: rows and the names of columns.

The files may be hostile: each reader takes bounded bytes, and may raise anything.
"""

from __future__ import annotations

import csv
import io
import logging
import os
import sqlite3
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree import ElementTree

from ..sandbox.shared import trees

MOST, SECONDS = 20, 0.5
"""Files, and the time for all of them."""
READ = 1_000_000
"""Bytes of a text file."""
PART = 200_000
"""Bytes of a Parquet footer, and of each XML part of a workbook."""
MOST_PARTS = 2_000
"""Of a workbook."""
COLUMNS, LONGEST = 30, 60
"""Names, and characters of one."""
DATABASES = (".db", ".db3", ".sqlite", ".sqlite3")
MOST_TABLES = 20
JOURNAL = {"sessions", "events", "messages", "ops"}
"""Tables of our journal, which is never read."""

log = logging.getLogger(__name__)


def heads(root: Path, folder: str, names: Iterable[str]) -> dict[str, str]:
    """Rows and columns in words that quote the files, by name. ``folder`` is below ``root``; no
    link is followed."""
    until = time.monotonic() + SECONDS
    found: dict[str, str] = {}
    for name in [name for name in names if Path(name).suffix.lower() in _KNOWN][:MOST]:
        path = f"{folder}/{name}" if folder else name
        if ".codeinterp" in path.split("/") or time.monotonic() > until:
            continue
        suffix = Path(name).suffix.lower()
        try:
            with trees.below(root, path) as (file, _):
                if suffix in DATABASES:
                    found[name] = _database(Path(os.path.realpath(root), path), until)
                    continue
                found[name] = _READERS[suffix](file)
        except Exception as error:
            log.debug("Cannot read %s: %r", name, error)
    return found


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _names(names: list[str]) -> str:
    more = len(names) - COLUMNS
    return ", ".join(map(_shown, names[:COLUMNS])) + (f" and {more:,} more" if more > 0 else "")


def _shown(name: str) -> str:
    """As Python writes it where blanks or signs would not show."""
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


def _parquet(file: BinaryIO) -> str:
    end = file.seek(-8, os.SEEK_END)
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or length > end:
        raise ValueError("no footer")
    file.seek(end - length)
    # Its fields: 2 the schema, a tree in order; 3 the rows; 4 what takes the room.
    footer = _struct(io.BytesIO(file.read(min(length, PART))), stop=4)
    root, *schema = footer[2]
    columns, place = [], 0
    for _ in range(root[5]):
        columns.append(schema[place][4].decode("utf-8", "replace"))
        left = 1
        while left:  # over what is nested in it
            left += schema[place].get(5, 0) - 1
            place += 1
    return f"{_rows(footer[3])}; columns {_names(columns)}"


def _struct(data: io.BytesIO, stop: int = 1 << 15, depth: int = 0) -> dict[int, Any]:
    """A structure of Thrift's compact protocol, by the numbers of its fields, up to ``stop``.
    Raises IndexError at the end of the data, and ValueError."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _integer(data)
        if number >= stop:
            break
        kind = head & 15
        fields[number] = kind == 1 if kind in (1, 2) else _value(data, kind, depth + 1)
    return fields


def _value(data: io.BytesIO, kind: int, depth: int) -> Any:
    if depth > 10:
        raise ValueError("too deep")
    if kind <= 3:
        return data.read(1)[0]
    if kind <= 6:
        return _integer(data)
    if kind <= 8:
        length = 8 if kind == 7 else _varint(data)
        if len(text := data.read(length)) < length:
            raise IndexError
        return text
    if kind in (9, 10):
        head = data.read(1)[0]
        count = head >> 4 if head >> 4 < 15 else _varint(data)
        return [_value(data, head & 15, depth + 1) for _ in range(count)]
    if kind == 12:
        return _struct(data, depth=depth)
    raise ValueError(f"type {kind}")


def _varint(data: io.BytesIO) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = data.read(1)[0]
        value |= (byte & 127) << shift
        if byte < 128:
            return value
    raise ValueError("too long")


def _integer(data: io.BytesIO) -> int:
    value = _varint(data)
    return (value >> 1) ^ -(value & 1)


def _excel(file: BinaryIO) -> str:
    file.seek(-22, os.SEEK_END)
    end = file.read(22)
    if end[:4] != b"PK\5\6" or int.from_bytes(end[10:12], "little") > MOST_PARTS:
        raise ValueError("no end, or too many parts")
    with zipfile.ZipFile(file) as book:
        sheets = [one for one in _elements(book, "workbook.xml") if one.tag == "sheet"]
        relations = _elements(book, "_rels/workbook.xml.rels")
        targets = {one.get("Id"): one.get("Target", "") for one in relations}
        extent, cells = "", list[ElementTree.Element]()
        for one in _elements(book, targets[sheets[0].get("id")].removeprefix("/xl/")):
            if one.tag == "dimension":
                extent = f" {one.get('ref', '')[:30]}"
            elif one.tag == "row":
                cells = [cell for cell in one if cell.tag == "c"]
                break
        shared = cells and (one for one in _elements(book, "sharedStrings.xml") if one.tag == "si")
        texts = list(map(_inside, shared)) if any(c.get("t") == "s" for c in cells) else []
        first = [texts[int(_inside(c))] if c.get("t") == "s" else _inside(c) for c in cells]
    titles = [str(sheet.get("name", "")) for sheet in sheets]
    top = f", first row: {_names(first)}" if first else ""
    others = f"; other sheets: {_names(titles[1:])}" if titles[1:] else ""
    return f"sheet {_shown(titles[0])}{extent}{top}{others}"


def _database(path: Path, until: float) -> str:
    """Tables of an SQLite file. Views and virtual tables, which may run anything, are not read;
    counting ends at the time ``until``."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        db.execute("PRAGMA trusted_schema=OFF")
        db.set_progress_handler(lambda: time.monotonic() > until, 1_000)
        found = "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite\\_%'"
        plain = " ESCAPE '\\' AND sql NOT LIKE 'create virtual%' LIMIT ?"
        names = [str(name) for (name,) in db.execute(found + plain, (10 * MOST_TABLES,))]
        if set(names) >= JOURNAL:
            raise ValueError("our journal")
        told = []
        for name in names[:MOST_TABLES]:
            columns = [str(row[1]) for row in db.execute(f"PRAGMA table_info({_quoted(name)})")]
            rows = ""
            with suppress(sqlite3.OperationalError):  # The time is up; count(*) would not notice.
                counted = f"SELECT coalesce(sum(1), 0) FROM {_quoted(name)}"
                rows = _rows(db.execute(counted).fetchone()[0])
            told.append(f"{_shown(name)} ({': '.join(filter(None, (rows, _names(columns))))})")
    more = len(names) - len(told)
    others = f" and {more:,} more" if more else ""
    return f"tables {', '.join(told)}{others}" if told else "no tables"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _inside(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def _elements(book: zipfile.ZipFile, part: str) -> Iterator[ElementTree.Element]:
    """Elements of a part's beginning as they end, without name spaces."""
    with book.open(f"xl/{part}") as file:
        data = file.read(PART)
    if b"<!" in data or b"\0" in data:
        raise ValueError("a document type, or another encoding")
    parser: Any = ElementTree.XMLPullParser(["end"])
    parser.feed(data)
    for _, element in parser.read_events():
        element.tag = element.tag.rpartition("}")[2]
        for name in [name for name in element.attrib if "}" in name]:
            element.set(name.rpartition("}")[2], element.attrib[name])
        yield element


_READERS = {
    **dict.fromkeys((".csv", ".tsv"), _text),
    **dict.fromkeys((".xlsx", ".xlsm"), _excel),
    ".parquet": _parquet,
}
_KNOWN = {*_READERS, *DATABASES}
