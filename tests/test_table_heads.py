"""What tables beside a notebook hold, read from a few bytes of files that may be hostile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_codeinterp.notebook import table_heads
from jupyter_codeinterp.notebook.table_heads import COLUMNS, heads

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
    ("a.parquet", b"PAR1" * 9, ""),
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
