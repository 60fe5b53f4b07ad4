"""What tables beside a notebook hold, read from a few bytes of files that may be hostile."""

from __future__ import annotations

import io
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from jupyter_codeinterp.notebook import table_heads
from jupyter_codeinterp.notebook.table_heads import COLUMNS, JOURNAL, _database, heads
from jupyter_codeinterp.sandbox.shared import trees


def database(*statements: str) -> bytes:
    with TemporaryDirectory() as folder:
        with closing(sqlite3.connect(f"{folder}/a")) as db:
            db.executescript(";".join(statements))
        return Path(folder, "a").read_bytes()


FILLED = [f"INSERT INTO a VALUES ('{'x' * 4_000}')"] * 99
SHOP = (
    "CREATE TABLE orders(id INTEGER PRIMARY KEY AUTOINCREMENT, ' DIR' TEXT)",
    "INSERT INTO orders(id) VALUES (1), (2)",
    'CREATE TABLE "a ""b"""(x)',
    "CREATE VIEW v AS SELECT load_extension('x')",
    "CREATE VIRTUAL TABLE words USING fts5(text)",
)


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
    file = io.BytesIO(database(f"CREATE TABLE a AS {rows} FROM n"))
    assert _database(file, time.monotonic() - 1) == "tables a (x)"


def test_a_larger_database_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.db").write_bytes(database("CREATE TABLE a(x)", *FILLED))
    assert heads(tmp_path, "", ["a.db"]) == {"a.db": "tables a (99 rows: x)"}
    monkeypatch.setattr(table_heads, "READ_OF_DATABASE", 20_000)
    assert heads(tmp_path, "", ["a.db"]) == {"a.db": "tables a (x)"}


def test_a_database_is_the_file_that_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code may put a link in its place meanwhile."""
    root, outside = tmp_path / "root", tmp_path / "outside.db"
    root.mkdir()
    (root / "a.db").write_bytes(database("CREATE TABLE mine(x)"))
    outside.write_bytes(database("CREATE TABLE secret(x)"))
    below = trees.below

    @contextmanager
    def swapped(*of: Any) -> Iterator[Any]:
        with below(*of) as opened:
            (root / "a.db").unlink()
            (root / "a.db").symlink_to(outside)
            yield opened

    monkeypatch.setattr(trees, "below", swapped)
    assert heads(root, "", ["a.db"]) == {"a.db": "tables mine (0 rows: x)"}


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
