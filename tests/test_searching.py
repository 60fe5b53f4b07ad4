"""A word in the journal: in titles, messages and answers, and in nothing else."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_codeinterp.base.errors import StoreError
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import (
    Event,
    TextDone,
    ThinkingDelta,
    ToolDone,
    TurnStarted,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "journal" / "sessions.db")
    yield store
    store.close()


def add(store: SqliteStore, session_id: str, *events: Event, title: str = "A title") -> None:
    notebook, changed = f"{session_id}.ipynb", float(session_id[1:])
    store.create(SessionInfo(session_id, notebook, title, "sonnet", "review", False, 0.5, changed))
    store.append_events(session_id, list(enumerate(events, 1)))


def asked(text: str) -> TurnStarted:
    return TurnStarted(1, text, "review", "sonnet")


def found(store: SqliteStore, word: str, notebook: str | None = None) -> list[str]:
    return [info.session_id for info in asyncio.run(store.search(word, notebook))]


def test_titles_messages_and_answers_newest_first(store: SqliteStore) -> None:
    add(store, "s1", asked("Which region grew?"))
    add(store, "s2", asked("Plot it"), TextDone(0, "Here is each region."))
    add(store, "s3", asked("Go on"), title="Regions of last year")
    add(store, "s4", asked("Something else"))
    assert found(store, "region") == ["s3", "s2", "s1"]
    assert found(store, "region", "s2.ipynb") == ["s2"]
    assert found(store, "nowhere") == []
    (info,) = asyncio.run(store.search("plot"))
    assert (info.notebook, info.title, info.last_seq) == ("s2.ipynb", "A title", 2)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("The REGION", "region"),
        ("the region", "REGION"),
        ("Größe in Ärmeln", "GRÖSSE"),
        ("Straße", "STRASSE"),
        ("ПРИВЕТ, мир", "привет"),
        ("数据分析", "数据"),
        ('say "hello" twice', '"hello" T'),
        ("C:\\new\\table", "\\NEW\\t"),
        ("first\nsecond", "t\ns"),
        ("100 % of a_b", "% of a_"),
        ("a 🎈 balloon", "🎈 B"),
    ],
)
def test_case_accents_and_signs(store: SqliteStore, said: str, word: str) -> None:
    add(store, "s1", asked(said))
    add(store, "s2", asked("other words"))
    assert found(store, word) == ["s1"]


@pytest.mark.parametrize(
    "word", ["text", "turn_started", "review", "sonnet", "type", "block", '"', "{", "\\", "s1"]
)
def test_not_what_the_journal_writes_around_it(store: SqliteStore, word: str) -> None:
    add(store, "s1", asked("Go on"), TextDone(0, "Done.\n"))
    assert found(store, word) == []


def test_not_thinking_nor_results(store: SqliteStore) -> None:
    done = ToolDone("c", "run_cell", Sentence("secret title"), "ok", detail="secret output")
    add(store, "s1", asked("Go"), ThinkingDelta(0, "secret thought"), done)
    assert found(store, "secret") == []


def test_what_was_scrubbed_is_not_found(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db", scrub=lambda text: text.replace("sk-key", "[removed]"))
    add(store, "s1", asked("My key is sk-key."))
    assert found(store, "sk-key") == [] and found(store, "[removed]") == ["s1"]
    store.close()


def test_faults_are_told_in_words(store: SqliteStore, tmp_path: Path) -> None:
    add(store, "s1", asked("Go"))
    with sqlite3.connect(tmp_path / "journal" / "sessions.db") as db:
        db.execute('UPDATE events SET data = \'{"text": "Go\'')
    db.close()
    with pytest.raises(StoreError, match="Cannot read"):
        found(store, "go")
