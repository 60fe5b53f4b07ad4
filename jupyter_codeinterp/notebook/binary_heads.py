"""Describes Parquet files and Excel workbooks from a few of their bytes.

The files may be hostile: each reader takes bounded bytes, and may raise anything.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple
from xml.etree import ElementTree

PART = 200_000
"""Bytes of a Parquet footer, and of each XML part of a workbook."""
MOST_PARTS = 2_000
"""Parts of a workbook."""


class Sheets(NamedTuple):
    """``extent``: the cells of the first sheet, such as "A1:B31"; "" if it does not say it.
    ``first``: the texts in its first row."""

    titles: list[str]
    extent: str
    first: list[str]


def parquet(file: BinaryIO) -> tuple[int, list[str]]:
    """The number of rows, and the names of the columns."""
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
    return footer[3], columns


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


def excel(file: BinaryIO) -> Sheets:
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
                extent = one.get("ref", "")[:30]
            elif one.tag == "row":
                cells = [cell for cell in one if cell.tag == "c"]
                break
        shared = cells and (one for one in _elements(book, "sharedStrings.xml") if one.tag == "si")
        texts = list(map(_inside, shared)) if any(c.get("t") == "s" for c in cells) else []
        first = [texts[int(_inside(c))] if c.get("t") == "s" else _inside(c) for c in cells]
    titles = [str(sheet.get("name", "")) for sheet in sheets]
    return Sheets(titles, extent, first)


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
