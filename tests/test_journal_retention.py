"""How much the journal keeps, for how long, and that the space comes back."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.sqlite import Retention, SqliteStore
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import Note
from jupyter_codeinterp.wire.messages import Text, user
from jupyter_codeinterp.wire.ops import Delete, FinishRun, Output, Receipt, Restore
from jupyter_codeinterp.wire.stores import GONE, StoredOp
from tests.kept_outputs import kept_outputs, put_outputs

DAY = 86_400.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(path)
    yield store
    store.close()


def talk(store: SqliteStore, session_id: str, days: float = 0.0, events: int = 3) -> None:
    """A conversation that was changed so many days ago."""
    changed = time.time() - days * DAY
    store.create(SessionInfo(session_id, "a.ipynb", "", "m", "review", False, changed, changed))
    store.append_events(session_id, [(n, Note(Sentence("x" * 200))) for n in range(1, events + 1)])
    store.append_messages(session_id, (user(Text("hi")),), 1)
    store.append_request(session_id, 1, {"system": "be good"})
    store.append_op(session_id, StoredOp(1, 1, Delete("c", "x")))
    put(store, session_id, "c", days)


def put(store: SqliteStore, session_id: str, cell_id: str, days: float, size: int = 10) -> None:
    content = f"{session_id} {cell_id} " + "x" * size
    put_outputs(store, session_id, cell_id, (printed(content),))
    changed = time.time() - days * DAY
    store._db.execute(
        "UPDATE outputs SET changed = ? WHERE digest = (SELECT digest FROM cell_outputs"
        " WHERE cell_id = ? AND session_id = ?)",
        (changed, cell_id, session_id),
    )


def printed(text: str) -> Output:
    return {"output_type": "stream", "name": "stdout", "text": text}


async def tidied(store: SqliteStore, **limits: Any) -> list[str]:
    """The conversations that are left."""
    store._retention = Retention(**limits)
    await store.tidy()
    return sorted(info.session_id for info in store.list())


def size(path: Path) -> int:
    return path.stat().st_size


def rows(store: SqliteStore, table: str) -> int:
    count: int = store._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    return count


# --- outputs -------------------------------------------------------------------------


async def test_the_oldest_outputs_go_if_the_file_is_too_large(
    store: SqliteStore, path: Path
) -> None:
    talk(store, "s1")
    for days in range(1, 6):
        put(store, "s1", f"c{days}", days, 1_000_000)
    await tidied(store, outputs_size=2_500_000)
    assert size(path) < 2_500_000
    assert [kept_outputs(store, "s1", f"c{days}") is not None for days in range(1, 6)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert kept_outputs(store, "s1", "c") is not None


CANARY = b"canary in the coal mine"


def files_with_canary(path: Path) -> list[str]:
    return [file.name for file in path.parent.iterdir() if CANARY in file.read_bytes()]


def run_with_canary(store: SqliteStore, session_id: str) -> None:
    """In a run's outputs, in a cell as it was before an op, and in an op that puts it back."""
    outputs = [printed(f"{CANARY.decode()} {size} " * size) for size in (1, 40_000)]
    cell = {"id": "c", "cell_type": "code", "source": "x", "metadata": {}, "outputs": outputs}
    put_outputs(store, session_id, "c", tuple(outputs))
    seq = store.last_op(session_id)
    store.append_op(session_id, StoredOp(seq + 1, 1, Delete("c", "x")))
    store.set_receipt(session_id, seq + 1, Receipt("done", before=cell))
    store.append_op(session_id, StoredOp(seq + 2, 0, Restore("c", cell, "y")))


async def test_deleted_outputs_are_in_none_of_the_files(store: SqliteStore, path: Path) -> None:
    talk(store, "s1")
    run_with_canary(store, "s1")
    await tidied(store)
    run_with_canary(store, "s1")
    assert files_with_canary(path)
    await tidied(store, outputs_size=0)
    assert files_with_canary(path) == []
    # What had them is still there, and says so.
    assert len(store.ops("s1")) == len(store.whole_ops("s1")) == 8
    finished = store.whole_ops("s1")[2].op
    assert isinstance(finished, FinishRun) and finished.outputs == (GONE,)
    store.close()
    assert files_with_canary(path) == []


async def test_outputs_of_a_deleted_conversation_are_in_none_of_the_files(
    store: SqliteStore, path: Path
) -> None:
    talk(store, "s1")
    run_with_canary(store, "s1")
    store.delete("s1")
    await tidied(store)
    assert files_with_canary(path) == []


async def test_outputs_of_an_older_journal_are_in_none_of_the_files(path: Path) -> None:
    older = (Path(__file__).parent / "journal_version_11.sql").read_text("utf-8")
    with closing(sqlite3.connect(path)) as db:
        db.executescript(older)
        db.execute("UPDATE output_parts SET content = ?", (CANARY,))
        # A table and an event that are no more.
        db.execute("INSERT INTO notices VALUES (1, ?)", (CANARY.decode(),))
        row = ("s1", 1_000, "looked", f'{{"type":"looked","name":"{CANARY.decode()}"}}')
        db.execute("INSERT INTO events VALUES (?, ?, ?, NULL, ?)", row)
        db.commit()
    store = SqliteStore(path)
    assert files_with_canary(path)
    await tidied(store, outputs_size=0)
    assert files_with_canary(path) == []
    store.close()


async def test_what_is_cut_off_while_it_is_written_goes(store: SqliteStore, path: Path) -> None:
    talk(store, "s1")
    digest = await store.keep_outputs("s1", (printed(CANARY.decode() * 10_000),))
    long_ago = time.time() - DAY
    store._db.execute("UPDATE outputs SET whole = 0, changed = ?", (long_ago,))
    assert store.outputs("s1", digest) is None
    await tidied(store)
    assert rows(store, "output_parts") == 0 and files_with_canary(path) == []


# --- conversations -------------------------------------------------------------------


async def test_nothing_goes_by_itself(store: SqliteStore) -> None:
    talk(store, "ancient", 10_000)
    assert await tidied(store) == ["ancient"]
    assert kept_outputs(store, "ancient", "c") is not None


async def test_an_old_conversation_goes_with_all_that_belongs_to_it(store: SqliteStore) -> None:
    talk(store, "old", 31, events=1_200)
    talk(store, "new", 29)
    assert await tidied(store, conversations_days=30) == ["new"]
    for table in ("messages", "requests", "prompts", "outputs", "output_parts", "output_uses"):
        assert rows(store, table) == 1, table
    assert rows(store, "ops") == 2
    assert rows(store, "events") == 3


async def test_one_that_a_server_works_on_stays(store: SqliteStore, path: Path) -> None:
    talk(store, "old", 31)
    assert not store.take_lease("old")
    limits = {"conversations_days": 30, "outputs_size": 0}
    other = SqliteStore(path)
    assert await tidied(other, **limits) == ["old"]
    assert kept_outputs(other, "old", "c") is not None
    store.release_lease("old")
    assert await tidied(other, **limits) == []
    other.close()


async def test_a_lease_of_somebody_who_is_gone_keeps_nothing(store: SqliteStore) -> None:
    talk(store, "old", 31)
    store._db.execute("INSERT INTO leases VALUES ('old', 'x', 'y', 1, ?)", (time.time() - 60,))
    assert await tidied(store, conversations_days=30) == []


# --- the file ------------------------------------------------------------------------


async def test_free_space_comes_back(store: SqliteStore, path: Path) -> None:
    talk(store, "old", 31)
    for number in range(10):
        put(store, "old", f"c{number}", 31, 500_000)
    await store.tidy()
    await store.tidy()
    full = size(path)
    assert full > 5_000_000
    await tidied(store, conversations_days=30)
    assert size(path) < full / 10


async def test_others_write_while_much_is_deleted(store: SqliteStore) -> None:
    store._db.execute("PRAGMA busy_timeout=200")
    talk(store, "old", 31, events=30_000)
    for number in range(10):
        put(store, "old", f"c{number}", 31, 1_000_000)
    talk(store, "new")
    store._retention = Retention(conversations_days=30)
    tidying = asyncio.ensure_future(store.tidy())
    seq = 3
    while not tidying.done():
        seq += 1
        store.append_events("new", [(seq, Note(Sentence("on")))])
        await asyncio.sleep(0)
    await tidying
    assert [info.session_id for info in store.list()] == ["new"]
    assert len(store.events("new")) == seq
