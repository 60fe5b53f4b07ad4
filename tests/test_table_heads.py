"""What tables beside a notebook hold, read from a few bytes of files that may be hostile."""

from __future__ import annotations

import base64
import io
import os
import zipfile
from pathlib import Path

import pytest

from jupyter_codeinterp.notebook import table_heads
from jupyter_codeinterp.notebook.table_heads import COLUMNS, heads

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
]


@pytest.mark.parametrize(("name", "data", "words"), CASES)
def test_a_table(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / name).write_bytes(data)
    told = heads(tmp_path, "work", [name]).get(name, "")
    assert told.endswith(words) if words else told == ""
    assert len(told) < (COLUMNS + 5) * 70


def test_a_folder_is_described_by_its_first_names(tmp_path: Path) -> None:
    for name in ("raw/b.csv", "raw/a  b.csv", "raw/.hidden", "raw/old/x.csv", "empty/.keep"):
        (tmp_path / "n" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "n" / name).touch()
    (tmp_path / "n/many").mkdir()
    for n in range(table_heads.MOST_LISTED + 5):
        (tmp_path / f"n/many/{n:04}.csv").touch()
    (tmp_path / "n/long").mkdir()
    for n in range(9):
        (tmp_path / f"n/long/{n}{'x' * 200}").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "n/link").symlink_to(tmp_path / "outside")
    names = ["raw/", "empty/", "many/", "long/", "link/", "gone/", ".codeinterp/"]
    found = heads(tmp_path, "n", names)
    assert set(found) == {"raw/", "empty/", "many/", "long/"}
    assert found["raw/"] == "'a  b.csv', b.csv, old/"
    assert found["empty/"] == ""
    assert found["many/"].count(".csv") == table_heads.FIRST_NAMES
    assert found["many/"].endswith(", …")
    assert len(found["long/"]) < table_heads.NAMES_LENGTH + table_heads.LONGEST + 5


def test_what_is_no_file_of_the_folder_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "out.csv").write_text("secret,b\n")
    (root / "link.csv").symlink_to(tmp_path / "out.csv")
    (root / "folder.csv").mkdir()
    os.mkfifo(root / "pipe.csv")
    assert heads(root, "", ["link.csv", "folder.csv", "pipe.csv", "../out.csv", "none.csv"]) == {}
