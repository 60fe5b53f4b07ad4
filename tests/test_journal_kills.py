"""The server's process is killed at planted points: what the journal then says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_codeinterp.journal.replay import Replay
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire.events import DraftDecided, Event, RunStarted, ToolDone, TurnEnded
from jupyter_codeinterp.wire.messages import Message
from tests.dying import DIED


class Left:
    """What a server that has died at ``point`` has left behind."""

    def __init__(self, folder: Path, point: str) -> None:
        journal = folder / "journal"
        command = [sys.executable, "-m", "tests.dying", str(journal), point]
        died = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
        assert died.returncode == DIED, died.stderr
        self.reached = (folder / "reached").exists()
        self.store = SqliteStore(journal)
        assert self.store.warning == ""
        (info,) = self.store.list()
        self.events: list[Event] = [event for _, event in self.store.events(info.session_id)]
        self.messages: tuple[Message, ...] = self.store.messages(info.session_id)[1]
        assert not self.has(TurnEnded)

    def has(self, kind: type) -> bool:
        return any(isinstance(event, kind) for event in self.events)

    @property
    def roles(self) -> list[str]:
        return [message.role for message in self.messages]

    @property
    def replay(self) -> Replay:
        replay = Replay()
        for event in self.events:
            replay.add(event)
        return replay


@pytest.fixture
def left(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Left]:
    left = Left(tmp_path, request.param)
    yield left
    left.store.close()


@pytest.mark.parametrize("left", ["before run_started"], indirect=True)
def test_what_is_not_in_the_journal_was_not_started(left: Left) -> None:
    assert left.has(DraftDecided) and not left.has(RunStarted)
    assert not left.reached
    assert [done.status for done in left.replay.ends()] == ["not_started"]


@pytest.mark.parametrize("left", ["before the request"], indirect=True)
def test_a_run_is_in_the_journal_before_its_request_goes_out(left: Left) -> None:
    assert left.has(RunStarted) and not left.has(ToolDone)
    assert not left.reached
    assert [done.status for done in left.replay.ends()] == ["interrupted"]


@pytest.mark.parametrize("left", ["while it runs"], indirect=True)
def test_a_run_without_a_result_may_have_had_effects(left: Left) -> None:
    assert left.has(RunStarted) and left.reached
    assert "may have had effects" in left.replay.lost
    assert left.roles == ["user"]


@pytest.mark.parametrize(
    "left", ["between a reply and its results", "before they are committed"], indirect=True
)
def test_a_reply_is_never_stored_without_its_results(left: Left) -> None:
    assert left.has(ToolDone) and left.roles == ["user"]


@pytest.mark.parametrize("left", ["after a reply and its results"], indirect=True)
def test_a_reply_is_stored_with_its_results(left: Left) -> None:
    assert left.roles == ["user", "assistant", "user"]
