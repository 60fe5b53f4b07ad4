"""What tables beside a notebook hold, read from a few bytes of files that may be hostile."""

from __future__ import annotations

import base64
import io
import os
import sqlite3
import time
import zipfile
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jupyter_codeinterp.adapters.table_heads import COLUMNS, JOURNAL, _database, heads

FOOTER = (  # Of a file with the columns region, ' DIR', nested {a, b: [x]} and y, and three rows.
    "FQQZnDUAGAZzY2hlbWEVCAAVDCUCGAZyZWdpb24lAEwcAAAAFQQlAhgEIERJUgA1AhgGbmVzdGVkFQQAFQQlAhgBYQA1"
    "AhgBYhUCFQZMPAAAADUEGARsaXN0FQIAFQQlAhgHZWxlbWVudAAVCiUCGAF5ABYGGRwZXCYAHBUMGSUGABkYBnJlZ2lv"
    "bhUMFgYWUBZiJghJHBUAFQAVAgA8FgYZBhkmAAYAAAAmABwVBBklBgAZGAQgRElSFQwWBhZiFmwmakkcFQAVABUCADwp"
)
BOOK = '<b xmlns:r="u"><sheets><sheet name="Q1 &amp; Q2" r:id="a"/><sheet name="B" r:id="b"/>'
RELATIONS = '<R><Relationship Id="a" Target="worksheets/sheet7.xml"/></R>'
SHEET = (
    '<worksheet xmlns="n"><dimension ref="A1:B31"/><sheetData><row><c t="s"><v>1</v></c>'
    '<c t="inlineStr"><is><t> DIR</t></is></c></row><row>'
)
TEXTS = "<sst><si><t>no</t></si><si><r><t>reg</t></r><r><t>ion</t></r></si>"


def database(*statements: str) -> bytes:
    with TemporaryDirectory() as folder:
        with closing(sqlite3.connect(f"{folder}/a")) as db:
            db.executescript(";".join(statements))
        return Path(folder, "a").read_bytes()


SHOP = (
    "CREATE TABLE orders(id INTEGER PRIMARY KEY AUTOINCREMENT, ' DIR' TEXT)",
    "INSERT INTO orders(id) VALUES (1), (2)",
    'CREATE TABLE "a ""b"""(x)',
    "CREATE VIEW v AS SELECT load_extension('x')",
    "CREATE VIRTUAL TABLE words USING fts5(text)",
)


def parquet(footer: bytes) -> bytes:
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def excel(sheet: str = SHEET, book: str = BOOK) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("xl/workbook.xml", book)
        made.writestr("xl/_rels/workbook.xml.rels", RELATIONS)
        made.writestr("xl/worksheets/sheet7.xml", sheet)
        made.writestr("xl/sharedStrings.xml", TEXTS)
    return file.getvalue()


CASES = [
    # the file, what it has, the words ("" for none)
    ("a.csv", b"region,n\nnorth,1\nsouth,2\n", "2 rows; columns region, n"),
    ("A.CSV", b"\xef\xbb\xbfa;b\r\n1;2\r\n", "1 row; separator ';'; columns a, b"),
    ("a.csv", "Stra\u00dfe,n\n".encode("latin-1"), "0 rows; columns Stra\u00dfe, n"),
    ("a.csv", "a,b\n1,2".encode("utf-16"), "1 row; columns a, b"),
    ("a.tsv", b"a\t DIR\tb\n", "0 rows; separator '\\t'; columns a, ' DIR', b"),
    ("a.csv", b'a,b\n"1\n2",3\n\n4,5\n', "2 rows; columns a, b"),
    ("a.csv", b"", "empty"),
    ("a.csv", b"a,b\n" + b"11,22\n" * 1_000_000, "some 1,000,000 rows (estimated); columns a, b"),
    ("a.csv", b"a,b\n1,2\n" + b'"' + b"x" * 900_000, "at least 1 row; columns a, b"),
    ("a.csv", b"a\x00\x1b[31m,b\n1,2\n", "1 row; columns 'a\\x00\\x1b[31m', b"),
    ("a.csv", b",".join(b"c%d" % n for n in range(500)), "c29 and 470 more"),
    ("a.csv", b"x" * 9_000 + b",b\n", f"columns {'x' * 60}, b"),
    ("a.parquet", parquet(base64.b64decode(FOOTER)), "3 rows; columns region, ' DIR', nested, y"),
    ("a.parquet", parquet(base64.b64decode(FOOTER))[9:], ""),
    ("a.parquet", parquet(b"\x1c" * 5_000), ""),
    ("a.parquet", parquet(b"\x19\xfc\xff\xff\xff\xff\x0f"), ""),
    ("a.parquet", parquet(b"\x19\xf7\xff\xff\xff\xff\xff\xff\x7f"), ""),
    ("a.parquet", b"PAR1", ""),
    ("a.xlsx", excel(), "sheet Q1 & Q2 A1:B31, first row: region, ' DIR'; other sheets: B"),
    (
        "a.xlsx",
        excel("<b><sheetData>" + " " * 50_000_000),
        "sheet Q1 & Q2; other sheets: B",
    ),
    ("a.xlsx", excel(book='<!DOCTYPE b [<!ENTITY a "aaa">]>' + BOOK), ""),
    ("a.xlsx", excel(book="<a>" * 60_000), ""),
    ("a.xlsx", b"PK\5\6" + b"\xff" * 18, ""),
    ("a.txt", b"a,b", ""),
    ("a.DB", database(*SHOP[:4]), "tables orders (2 rows: id, ' DIR'), a \"b\" (0 rows: x)"),
    ("a.db", database(*SHOP[4:])[:-4096] + b"\xff" * 4096, ""),
    ("a.sqlite", database("CREATE TABLE a(b)")[:1024], ""),
    ("a.sqlite3", database("PRAGMA user_version=1"), "no tables"),
    ("a.db", b"SQLite format 3\0" + b"\xff" * 9_000, ""),
    ("a.db", database(*(f"CREATE TABLE t{n}(x)" for n in range(99))), " and 79 more"),
    ("a.db", database(*(f"CREATE TABLE {one}(x)" for one in JOURNAL)), ""),
]


@pytest.mark.parametrize(("name", "data", "words"), CASES)
def test_a_table(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / name).write_bytes(data)
    told = heads(tmp_path, "work", [name]).get(name, "")
    assert told.endswith(words) if words else told == ""
    assert len(told) < (COLUMNS + 5) * 70


def test_a_large_database_is_counted_no_longer_than_others(tmp_path: Path) -> None:
    rows = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 99999) SELECT x"
    path = tmp_path / "a.db"
    path.write_bytes(database(f"CREATE TABLE a AS {rows} FROM n"))
    assert _database(path, time.monotonic() - 1) == "tables a (x)"


def test_what_is_no_file_of_the_folder_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "out.csv").write_text("secret,b\n")
    (root / "link.csv").symlink_to(tmp_path / "out.csv")
    (root / "folder.csv").mkdir()
    os.mkfifo(root / "pipe.csv")
    assert heads(root, "", ["link.csv", "folder.csv", "pipe.csv", "../out.csv", "none.csv"]) == {}
