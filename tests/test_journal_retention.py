"""How much the journal keeps, for how long, and that the space comes back."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.adapters.storage.sqlite import Retention, SqliteStore, mark, retention
from jupyter_codeinterp.core.commands import SessionInfo
from jupyter_codeinterp.core.document.ops import Delete, Output
from jupyter_codeinterp.core.events import Note
from jupyter_codeinterp.core.messages import Text, user
from jupyter_codeinterp.core.stores import StoredOp

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
    store.append_events(session_id, [(n, Note("x" * 200)) for n in range(1, events + 1)])
    store.append_messages(session_id, (user(Text("hi")),), 1)
    store.append_request(session_id, 1, {"system": "be good"})
    store.append_op(session_id, StoredOp(1, 1, Delete("c", "x")))
    put(store, session_id, "c", days)


def put(store: SqliteStore, session_id: str, cell_id: str, days: float, size: int = 10) -> None:
    store.put_outputs(session_id, cell_id, (printed("x" * size),))
    changed = time.time() - days * DAY
    store._db.execute(
        "UPDATE outputs SET changed = ? WHERE cell_id = ? AND session_id = ?",
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


def test_what_is_too_large_is_cut_with_a_note() -> None:
    small = [printed("a" * 50), printed("b" * 50)]
    large = {"output_type": "display_data", "data": {"image/png": "x" * 2_500_000}, "metadata": {}}
    assert retention.cut((small[0], large, small[1]), 1_000) == (
        small[0],
        {
            "output_type": "stream",
            "name": "stderr",
            "text": "[2.5 MB more were too large to be kept.]\n",
        },
    )
    assert retention.cut(tuple(small), 1_000) == tuple(small)


def test_a_set_of_outputs_has_a_bound(store: SqliteStore) -> None:
    talk(store, "s1")
    store.put_outputs("s1", "c", (printed("a"), printed("x" * retention.CUT)))
    kept = store.outputs("s1", "c")
    assert kept is not None and kept[0] == printed("a")
    assert kept[1]["text"] == "[20.0 MB more were too large to be kept.]\n"


async def test_old_outputs_go_and_the_conversation_stays(store: SqliteStore) -> None:
    talk(store, "old", 10)
    talk(store, "new", 2)
    put(store, "new", "earlier", 8)
    assert await tidied(store, outputs_days=7) == ["new", "old"]
    assert store.outputs("old", "c") is None and store.outputs("new", "earlier") is None
    assert store.outputs("new", "c") is not None
    assert len(store.events("old")) == 3


async def test_the_oldest_outputs_go_if_there_are_too_many(store: SqliteStore) -> None:
    talk(store, "s1")
    for days in range(1, 6):
        put(store, "s1", f"c{days}", days, 1_000)
    await tidied(store, outputs_size=2_500)
    assert [store.outputs("s1", f"c{days}") is not None for days in range(1, 6)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert store.outputs("s1", "c") is not None


# --- conversations -------------------------------------------------------------------


async def test_nothing_goes_by_itself(store: SqliteStore) -> None:
    talk(store, "ancient", 10_000)
    assert await tidied(store) == ["ancient"]
    assert store.outputs("ancient", "c") is not None


async def test_an_old_conversation_goes_with_all_that_belongs_to_it(store: SqliteStore) -> None:
    talk(store, "old", 31, events=1_200)
    talk(store, "new", 29)
    assert await tidied(store, conversations_days=30) == ["new"]
    for table in ("messages", "requests", "prompts", "ops", "outputs"):
        assert rows(store, table) == 1, table
    assert rows(store, "events") == 3


async def test_one_that_a_server_works_on_stays(store: SqliteStore, path: Path) -> None:
    talk(store, "old", 31)
    assert store.take_lease("old") is None
    limits = {"conversations_days": 30, "outputs_days": 30, "outputs_size": 0}
    other = SqliteStore(path)
    assert await tidied(other, **limits) == ["old"]
    assert other.outputs("old", "c") is not None
    store.release_lease("old")
    assert await tidied(other, **limits) == []
    other.close()


async def test_a_lease_of_somebody_who_is_gone_keeps_nothing(store: SqliteStore) -> None:
    talk(store, "old", 31)
    store._db.execute("INSERT INTO leases VALUES ('old', 'x', 'y', 1, ?)", (time.time() - 60,))
    assert await tidied(store, conversations_days=30) == []


async def test_what_goes_is_no_loss_to_be_told_of(store: SqliteStore, path: Path) -> None:
    talk(store, "old", 31)
    await store.settle()
    assert mark.of(path).exists()
    assert await tidied(store, conversations_days=30) == []
    store.close()
    again = SqliteStore(path)
    assert again.notices() == {}
    talk(again, "s1")
    await again.settle()
    again.delete("s1")
    again.close()
    again = SqliteStore(path)
    assert again.notices() == {}
    again.close()


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


async def test_an_older_file_learns_to_give_space_back(path: Path) -> None:
    first = (Path(__file__).parent / "journal_version_1.sql").read_text("utf-8")
    db = sqlite3.connect(path)
    db.executescript(first)
    assert db.execute("PRAGMA auto_vacuum").fetchone() == (0,)
    db.close()
    store = SqliteStore(path)
    assert store._db.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    assert len(store.events("s1")) == 2
    store.close()


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
        store.append_events("new", [(seq, Note("on"))])
        await asyncio.sleep(0)
    await tidying
    assert [info.session_id for info in store.list()] == ["new"]
    assert len(store.events("new")) == seq
