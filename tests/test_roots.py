"""Notebooks of the same name in different root folders, and one notebook below two roots."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.journal.sqlite.journal import Root
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.ops import Delete
from jupyter_codeinterp.wire.stores import StoredOp


def info(session_id: str, notebook: str) -> SessionInfo:
    return SessionInfo(session_id, notebook, "Title", "model", "review", False, 0.5, 1.0)


def names(store: SqliteStore, notebook: str | None = None) -> dict[str, str]:
    return {one.session_id: one.notebook for one in store.list(notebook)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.mark.parametrize(
    ("root", "stored", "relative"),
    [
        ("/home/ann", "/home/ann/a.ipynb", "a.ipynb"),
        ("/home/ann/", "/home/ann/deep/a.ipynb", "deep/a.ipynb"),
        ("/home/ann", "/home/anna/a.ipynb", None),
        ("/", "/home/ann/a.ipynb", "home/ann/a.ipynb"),
        ("C:/work", "C:/work/a.ipynb", "a.ipynb"),
        ("C:/work", "D:/work/a.ipynb", None),
        ("/home/ann", "a.ipynb", "a.ipynb"),
        (None, "/home/ann/a.ipynb", "/home/ann/a.ipynb"),
        (None, "bucket/a.ipynb", "bucket/a.ipynb"),
    ],
)
def test_a_stored_path_below_a_root(root: str | None, stored: str, relative: str | None) -> None:
    assert Root(root).relative(stored) == relative
    if relative is not None:
        assert stored in (Root(root).whole(relative), relative)


def test_a_notebook_of_the_same_name_in_another_folder_is_another(path: Path) -> None:
    one, two = SqliteStore(path, root="/one"), SqliteStore(path, root="/two")
    one.create(info("s1", "a.ipynb"))
    one.append_op("s1", StoredOp(1, 1, Delete("c", "x")))
    two.create(info("s2", "a.ipynb"))
    assert names(one) == names(one, "a.ipynb") == {"s1": "a.ipynb"}
    assert names(two) == names(two, "a.ipynb") == {"s2": "a.ipynb"}
    assert two.get("s1") is None
    assert two.unsaved_ops("a.ipynb") == []
    two.give_up_ops("a.ipynb")
    two.rename_notebook("a.ipynb", "b.ipynb")
    assert names(one) == {"s1": "a.ipynb"} and names(two) == {"s2": "b.ipynb"}
    assert [session_id for session_id, _ in one.unsaved_ops("a.ipynb")] == ["s1"]


def test_a_notebook_keeps_its_conversations_below_another_root(path: Path) -> None:
    SqliteStore(path, root="/home/ann/work").create(info("s1", "a.ipynb"))
    home = SqliteStore(path, root="/home/ann")
    assert names(home, "work/a.ipynb") == {"s1": "work/a.ipynb"}
    home.update(info("s1", "work/a.ipynb"))
    home.set_saved("s1", 3)
    work = SqliteStore(path, root="/home/ann/work")
    assert names(work) == {"s1": "a.ipynb"} and work.saved_ops("a.ipynb") == {"s1": 3}
    assert names(SqliteStore(path)) == {"s1": "/home/ann/work/a.ipynb"}


def test_a_row_without_a_root_is_everybodys_until_it_changes(path: Path) -> None:
    early = SqliteStore(path)
    early.create(info("s1", "a.ipynb"))
    one, two = SqliteStore(path, root="/one"), SqliteStore(path, root="/two")
    assert names(one, "a.ipynb") == names(two, "a.ipynb") == {"s1": "a.ipynb"}
    one.update(info("s1", "a.ipynb"))
    assert names(one) == {"s1": "a.ipynb"} and names(two) == {}
