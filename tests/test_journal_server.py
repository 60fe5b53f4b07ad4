"""A server whose journal cannot be written, or was damaged: it runs, and says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, in_order, text
from tests.site import Site

DONE = answer(text("Done."))


class TestNoFile:
    """Where the file should be, there is a folder. (Root may write what is read-only.)"""

    @pytest.fixture
    def data_dir(self, tmp_path: Path) -> Path:
        (tmp_path / "codeinterp" / "sessions.db").mkdir(parents=True)
        return tmp_path / "codeinterp"

    async def test_it_starts_and_says_so(self, site: Site) -> None:
        status = await site.get("status")
        assert status["warning"] == (
            "Could not open the journal's file. "
            "Conversations cannot be saved, so messages cannot be sent."
        )
        assert (await site.get("sessions")) == {"sessions": []}

    async def test_a_message_is_answered_with_why_not(
        self, site: Site, api: FakeAnthropic, data_dir: Path
    ) -> None:
        api.play(in_order([DONE]))
        w = await site.window()
        reply = await w.ask("Go")
        assert reply.error == "not_found" and "cannot be saved" in reply.message
        assert api.requests == [] and w.notebook["cells"][0]["source"] == "x = 20"
        (data_dir / "sessions.db").rmdir()
        assert (await w.ask("Go")).error is None
        assert (await w.ended()).stop_reason == "end_turn"
        assert (await site.get("status"))["warning"] == ""
        assert len((await site.get("sessions"))["sessions"]) == 1


def damaged(folder: Path) -> list[Path]:
    return list(folder.glob("sessions.db.damaged-*"))


class TestDamaged:
    @pytest.fixture
    def data_dir(self, tmp_path: Path) -> Path:
        folder = tmp_path / "codeinterp"
        folder.mkdir()
        (folder / "sessions.db").write_bytes(b"this is no database at all" * 100)
        return folder

    async def test_a_person_is_told(self, site: Site, data_dir: Path) -> None:
        warning = (await site.get("status"))["warning"]
        (aside,) = damaged(data_dir)
        assert aside.name in warning
        assert aside.read_bytes().startswith(b"this is no database")


class TestSettings:
    @pytest.fixture
    def codeinterp_config(self) -> dict[str, Any]:
        return {"keep_conversations_days": 30.5, "keep_outputs_size": 10**6}

    async def test_what_is_kept_is_a_setting(self, site: Site) -> None:
        retention = site.extension.workbench.store._retention
        assert retention.conversations_days == 30.5
        assert retention.outputs_size == 10**6


FULL = """
import asyncio, json, resource, sys
from pathlib import Path
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.session import log as session_log
from jupyter_codeinterp.base.errors import StoreError
from tests.dying import Kernel
from tests.kernels import until
from tests.reference_window import notebook
from tests.scripted import Bench, run, say

session_log.AGAIN = 0.02


def full():
    '''No file takes anything any more.'''
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))


async def main():
    store = SqliteStore(journal)
    kernel = Kernel(journal.with_name("reached"), "")
    script = [say("A long answer."), run("a = 1"), say("Done.")]
    b = Bench(store, kernel, script, notebook("x = 20"))
    b.model.hold = asyncio.Event()
    b.send("Go", "auto")
    await b.event(e.TextDelta)
    full()
    b.model.hold.set()
    await until(lambda: not b.session.running)
    assert "TurnEnded" not in [type(event).__name__ for event in b.events]
    shown = []
    async for _, event in b.session.event_log.follow(0):
        shown.append(json.loads(event))
        if shown[-1]["type"] == "turn_ended":
            break
    try:
        b.send("And now?", "auto")
        refused = ""
    except StoreError as error:
        refused = error.code
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    await until(lambda: not b.session.log.unsaved)
    kept = [type(event).__name__ for event in b.events]
    again = await b.turn("And now?")
    print(json.dumps({
        "shown": shown[-1], "refused": refused, "kept": kept, "again": again.stop_reason,
        "sources": b.document.sources(),
    }))


journal = Path(sys.argv[1])
asyncio.run(main())
"""


def test_a_disk_that_is_full_for_a_while(tmp_path: Path) -> None:
    """With the limit that the system has on the size of a file."""
    command = [sys.executable, "-c", FULL, str(tmp_path / "journal")]
    done = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["shown"]["stop_reason"] == "error" and told["shown"]["code"] == "disk_error"
    assert told["refused"] == "disk_error"
    assert told["kept"][-2:] == [e.TurnEnded.__name__, e.Note.__name__]
    assert told["again"] == "end_turn"
    assert told["sources"] == ["x = 20", "a = 1"]
