"""What tables in files hold, from a few of their bytes: rows and the names of columns.

The files may be hostile. Each reader takes bounded bytes, parses no document type, and may raise
anything.
"""

from __future__ import annotations

import csv
import io
import logging
import os
import time
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree import ElementTree

from .rule_file import within

MOST = 20
"""Files."""
SECONDS = 0.5
"""For all files."""
READ = 1_000_000
"""Bytes of a text file."""
PART = 200_000
"""Bytes of a Parquet footer, and of each XML part of a workbook."""
MOST_ENTRIES = 2_000
"""Parts of a workbook."""
COLUMNS = 30
LONGEST = 60
"""Characters of a name."""

log = logging.getLogger(__name__)


def heads(root: Path, folder: str, names: Iterable[str]) -> dict[str, str]:
    """Rows and columns in words, by the file's name. ``folder`` is below ``root``, which no link
    may leave. The words quote the files."""
    until = time.monotonic() + SECONDS
    found: dict[str, str] = {}
    for name in [name for name in names if _suffix(name) in _READERS][:MOST]:
        path = within(root, f"{folder}/{name}" if folder else name)
        if path is None or time.monotonic() > until:
            continue
        try:
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            with os.fdopen(os.open(path, flags), "rb") as file:
                found[name] = _READERS[_suffix(name)](file)
        except Exception as error:
            log.debug("Cannot read %s: %r", name, error)
    return found


def _suffix(name: str) -> str:
    return Path(name).suffix.lower()


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _names(names: list[str]) -> str:
    shown = ", ".join(map(_shown, names[:COLUMNS]))
    more = len(names) - COLUMNS
    return f"{shown} and {more:,} more" if more > 0 else shown


def _shown(name: str) -> str:
    """As Python writes it where blanks or signs would not show."""
    plain = name.isprintable() and name == name.strip() and "  " not in name
    return name[:LONGEST] if plain and name else repr(name[:LONGEST])


# --- CSV and TSV -----------------------------------------------------------------------


def _text(file: BinaryIO) -> str:
    data = file.read(READ)
    size = os.fstat(file.fileno()).st_size
    text = _decoded(data)
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    columns = next(reader, [])
    count = -1 if size > len(data) else 0  # The last row that was read may be a part.
    try:
        for row in reader:
            count += bool(row)
        estimate = max(0, count) * size // max(1, len(data))
        some = f"some {float(f'{estimate:.2g}'):,.0f} rows (estimated)"
        rows = _rows(count) if size <= len(data) else some
    except csv.Error:
        rows = f"at least {_rows(max(0, count))}"
    return f"{rows}; columns {_names(columns)}" if columns else "empty"


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data[:-4].decode("utf-8-sig") + data[-4:].decode("utf-8", "replace")
    except UnicodeDecodeError:
        return data.decode("latin-1")


# --- Parquet ---------------------------------------------------------------------------


def _parquet(file: BinaryIO) -> str:
    end = file.seek(0, os.SEEK_END) - 8
    file.seek(end)
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or length > end:
        raise ValueError("no footer")
    file.seek(end - length)
    # Its fields: 2 the schema, a tree in order; 3 the rows; 4 what takes the room.
    footer = _Compact(file.read(min(length, PART))).struct(stop=4)
    root, *schema = footer[2]
    return f"{_rows(footer[3])}; columns {_names(list(_top(root[5], schema)))}"


def _top(count: int, schema: list[dict[int, Any]]) -> Iterator[str]:
    """The names of the first level."""
    place = 0
    for _ in range(count):
        yield schema[place][4].decode("utf-8", "replace")
        left = 1
        while left:
            left += schema[place].get(5, 0) - 1
            place += 1


class _Compact:
    """Thrift's compact protocol, as far as a footer needs it. Raises IndexError at the end of the
    data, and ValueError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self, stop: int = 1 << 15, depth: int = 0) -> dict[int, Any]:
        """Its fields by number, up to the field ``stop``."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            if number >= stop:
                break
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > 10:
            raise ValueError("too deep")
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind in (7, 8):
            return self._take(8 if kind == 7 else self._varint())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth=depth)
        raise ValueError(f"type {kind}")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("too long")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _take(self, count: int) -> bytes:
        self._at += count
        if self._at > len(self._data):
            raise IndexError
        return self._data[self._at - count : self._at]


# --- Excel -----------------------------------------------------------------------------

_BOOK = "xl/workbook.xml"
_RELATIONS = "xl/_rels/workbook.xml.rels"
_TEXTS = "xl/sharedStrings.xml"


def _excel(file: BinaryIO) -> str:
    file.seek(-22, os.SEEK_END)
    end = file.read(22)
    if end[:4] != b"PK\5\6" or int.from_bytes(end[10:12], "little") > MOST_ENTRIES:
        raise ValueError("no end, or too many parts")
    with zipfile.ZipFile(file) as book:
        sheets = [one for one in _elements(book, _BOOK) if one.tag == "sheet"]
        parts = {one.get("Id"): one.get("Target", "") for one in _elements(book, _RELATIONS)}
        target = parts[sheets[0].get("id")]
        part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        extent, row = "", None
        for one in _elements(book, part):
            if one.tag == "dimension":
                extent = f" {one.get('ref', '')[:30]}"
            elif one.tag == "row":
                row = one
                break
        cells = [] if row is None else [one for one in row if one.tag == "c"]
        wanted = {int(_inside(one)) for one in cells if one.get("t") == "s"}
        texts = dict(_shared(book, wanted)) if wanted else {}
        first = [texts[int(_inside(c))] if c.get("t") == "s" else _inside(c) for c in cells]
    titles = [str(sheet.get("name", "")) for sheet in sheets]
    others = f"; other sheets: {_names(titles[1:])}" if titles[1:] else ""
    top = f", first row: {_names(first)}" if first else ""
    return f"sheet {_shown(titles[0])}{extent}{top}{others}"


def _shared(book: zipfile.ZipFile, wanted: set[int]) -> Iterator[tuple[int, str]]:
    found = (one for one in _elements(book, _TEXTS) if one.tag == "si")
    for number, one in zip(range(max(wanted) + 1), found, strict=False):
        if number in wanted:
            yield number, _inside(one)


def _inside(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def _elements(book: zipfile.ZipFile, part: str) -> Iterator[ElementTree.Element]:
    """Elements of a part as they end, without name spaces."""
    with book.open(part) as file:
        data = file.read(PART)
    if b"<!" in data or b"\0" in data:
        raise ValueError("a document type, or another encoding")
    parser: Any = ElementTree.XMLPullParser(["end"])
    parser.feed(data)
    for _, element in parser.read_events():
        if isinstance(element, ElementTree.Element):
            element.tag = element.tag.rpartition("}")[2]
            for name in [name for name in element.attrib if "}" in name]:
                element.set(name.rpartition("}")[2], element.attrib[name])
            yield element


_READERS = {
    ".csv": _text,
    ".tsv": _text,
    ".parquet": _parquet,
    ".xlsx": _excel,
    ".xlsm": _excel,
}
