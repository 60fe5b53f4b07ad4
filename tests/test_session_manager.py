"""The server as a whole: what a window is told, what starts with it, what it leaves behind."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.contents.manager import ContentsManager

from jupyter_codeinterp.app.notebooks import siblings
from jupyter_codeinterp.run.turn.limits import MAX_FILES
from jupyter_codeinterp.session.server import manager as manager_module
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.busy import SOON, processor_silence
from tests.fake_anthropic import FakeAnthropic, Speed, answer, in_order, run_cell, text
from tests.reference_window import ReferenceWindow
from tests.site import Site

DONE = answer(text("Done."))
BUSY = "print('on it', flush=True)\nimport time\nwhile True: time.sleep(0.01)"


async def a_turn(site: Site, api: FakeAnthropic, code: str = "21 * 2") -> ReferenceWindow:
    api.play(in_order([answer(text("Let me see."), run_cell(code)), DONE]))
    w = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    await w.ask("Go")
    await w.decide(await w.draft())
    return w


def whole(events: list[tuple[int, e.Event]]) -> list[tuple[int, e.Event]]:
    """Without the parts of texts, which the journal drops once it has the whole."""
    return [x for x in events if not isinstance(x[1], (e.TextDelta, e.ThinkingDelta))]


# --- what a window is told -----------------------------------------------------------


async def test_a_reloaded_page_shows_what_was_lived(site: Site, api: FakeAnthropic) -> None:
    w = await a_turn(site, api)
    await w.ended()
    again = await site.bare_window()
    await again.send(c.Subscribe(w.session_id))
    await again.ended()
    assert whole(again.events) == whole(w.events)
    assert [seq for seq, _ in w.events] == sorted({seq for seq, _ in w.events})
    part = await site.bare_window()
    after = w.events[-3][0]
    await part.send(c.Subscribe(w.session_id, after))
    await part.ended()
    assert part.events == w.events[-2:]
    # What it has seen it is not told again; one that asks for more than there is goes on.
    await part.send(c.Subscribe(w.session_id, 10**6))
    api.play(in_order([DONE]))
    await w.ask("More")
    await w.ended(2)
    await part.ended(2)
    assert len(part.of(e.TurnStarted)) == 1


async def test_a_running_turn_goes_on_being_followed(site: Site, api: FakeAnthropic) -> None:
    w = await a_turn(site, api, BUSY)
    await w.event(e.RunStarted)
    await w.close()
    again = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    assert [x.session.running for x in again.sessions.values()] == [True], "told on joining"
    await again.send(c.Subscribe(w.session_id))
    await again.event(e.RunStarted)
    await again.send(c.Cancel(w.session_id))
    assert (await again.ended()).stop_reason == "cancelled"
    await again.until(lambda: not again.sessions[w.session_id].session.running)


async def test_who_unsubscribes_is_told_no_more(site: Site, api: FakeAnthropic) -> None:
    w = await a_turn(site, api)
    await w.ended()
    for _ in range(3):
        await w.send(c.Subscribe(w.session_id, w.events[-1][0]))
    await w.send(c.Unsubscribe(w.session_id))
    seen = len(w.events)
    api.play(in_order([DONE]))
    await w.ask("More")
    await w.until(lambda: not w.sessions[w.session_id].session.running)
    assert len(w.events) == seen


async def test_no_task_outlives_its_window(site: Site, api: FakeAnthropic) -> None:
    w = await a_turn(site, api)
    await w.ended()
    await site.until(lambda: not site.extension.manager.running)
    windows = [await site.window() for _ in range(5)]
    for window in windows:
        for _ in range(3):
            await window.send(c.Subscribe(w.session_id))
        await window.send(c.UndoTurn(w.session_id, 99))
    followers = [t for t in asyncio.all_tasks() if "_follow" in str(t.get_coro())]
    assert len([t for t in followers if "ClientConnection" in str(t.get_coro())]) == 6
    for window in windows:
        await window.close()
    await site.until(
        lambda: (
            len([t for t in asyncio.all_tasks() if "ClientConnection" in str(t.get_coro())]) == 1
        )
    )
    gc.collect()


async def test_a_server_that_was_killed(site: Site, api: FakeAnthropic) -> None:
    """Its journal says that a turn runs. It does not, and the window is told so."""
    w = await a_turn(site, api)
    await w.ended()
    store, manager = site.extension.workbench.store, site.extension.manager
    await site.until(lambda: not manager.running)
    info = manager.session(w.session_id).info
    manager.sessions.clear()
    store.update(msgspec.structs.replace(info, running=True))
    last = info.last_seq
    started = e.TurnStarted(2, "And then?", "review", info.model)
    store.append_events(w.session_id, [(last + 1, started)])

    (listed,) = (await site.get("sessions"))["sessions"]
    assert listed["running"] is False
    again = await site.window()
    await again.send(c.Subscribe(w.session_id))
    ended = await again.ended(2)
    assert (ended.stop_reason, ended.code, ended.retry) == ("error", "server_stopped", True)
    assert again.sessions[w.session_id].session.running is False


async def test_files_beside_the_notebook(
    site: Site, monkeypatch: pytest.MonkeyPatch, api: FakeAnthropic
) -> None:
    make_files(Path(site.app.root_dir))
    files_of = partial(siblings.sibling_files, site.extension.workbench.contents)
    files = await files_of("work/a.ipynb")
    assert files[:3] == [("data/", 0), ("f00.csv", 3), ("f01.csv", 3)]
    assert len(files) == MAX_FILES
    assert "a.ipynb" not in dict(files) and ".hidden" not in dict(files)
    assert await files_of("nowhere/a.ipynb") == []
    assert await files_of("../../etc/a.ipynb") == []

    class Slow(ContentsManager):
        async def get(self, *args: Any, **kwargs: Any) -> Any:
            await asyncio.sleep(60)

    monkeypatch.setattr(siblings, "LISTING_TIMEOUT", 0.01)
    monkeypatch.setattr(site.extension.workbench, "contents", Slow())
    assert await siblings.sibling_files(Slow(), "work/a.ipynb") == []
    # A folder that cannot be listed ends no turn.
    api.play(in_order([DONE]))
    w = await site.window("gone/a.ipynb")
    await w.ask("Go")
    assert (await w.ended()).stop_reason == "end_turn"


def make_files(root: Path) -> None:
    folder = root / "work"
    (folder / "data").mkdir(parents=True)
    for name in ("a.ipynb", ".hidden", *(f"f{number:02}.csv" for number in range(60))):
        (folder / name).write_text("1,2")


# --- while a turn works --------------------------------------------------------------


async def test_the_server_is_in_use_while_a_turn_works(
    site: Site, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager_module, "INTERVAL", 0.02)
    settings = site.app.web_app.settings
    extension = site.extension
    w = await a_turn(site, api, BUSY)
    await w.event(e.RunStarted)
    await site.until(lambda: manager_module.SETTING in settings)
    noted: datetime = settings[manager_module.SETTING]
    assert noted.tzinfo is not None
    await site.until(lambda: settings[manager_module.SETTING] > noted)
    assert datetime.now(timezone.utc) - settings[manager_module.SETTING] < timedelta(seconds=5)
    assert site.app.extension_manager.any_activity()
    # The server takes it for its own last activity, which tools outside ask for.
    monkeypatch.setitem(
        settings, "codeinterp_last_activity", datetime.max.replace(tzinfo=timezone.utc)
    )
    assert site.app.web_app.last_activity().year == 9999
    await w.send(c.Cancel(w.session_id))
    await w.ended()
    await site.until(lambda: not extension.manager.running)
    assert not site.app.extension_manager.any_activity()


async def test_the_server_answers_while_a_turn_works(site: Site, api: FakeAnthropic) -> None:
    """The bound that users feel is measured elsewhere; here: nothing blocks for long."""
    api.speed = Speed(delay=0.001, chunk=4)
    code = "for i in range(3000): print(i, 'x' * 100)"
    api.play(in_order([answer(text("word " * 200), run_cell(code)), DONE]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Go", mode="auto")
    async with processor_silence() as silence:
        while not w.of(e.TurnEnded):
            await site.server_status()
        assert w.of(e.TurnEnded)[0].stop_reason == "end_turn"
        assert 0 < silence() < 0.3


async def test_a_server_that_stops_leaves_nothing_behind(site: Site, api: FakeAnthropic) -> None:
    """In mid-turn, with a draft that no window shows any more and an undo that waits."""
    w = await a_turn(site, api)
    await w.ended()
    await site.until(lambda: not site.extension.manager.running)
    await w.send(c.CloseNotebook("a.ipynb"))
    await w.post(c.UndoTurn(w.session_id, 1))
    await w.open()
    api.play(in_order([answer(run_cell("1"))]))
    await w.ask("More")
    draft = await w.draft(2)
    await w.send(c.CloseNotebook("a.ipynb"))
    await w.decide(draft)
    await w.until(lambda: len(w.of(e.DraftDecided)) == 2)
    began = time.monotonic()
    await site.extension.manager.close()
    assert time.monotonic() - began < SOON
    assert not site.extension.manager.running
    await asyncio.sleep(0)
    left = [t for t in asyncio.all_tasks() if "jupyter_codeinterp" in repr(t.get_coro())]
    assert not [t for t in left if "_recorded" in repr(t)]


# --- the start -----------------------------------------------------------------------

START = """
import asyncio, json, sys
from jupyter_server.serverapp import ServerApp
seen = []
def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "os.listdir", "os.scandir") and watching:
        seen.append([event, str(args)])
sys.addaudithook(refuse)
watching = False
app = ServerApp(port=0, open_browser=False, allow_root=True, root_dir=sys.argv[2])
app.initialize(argv=[], new_httpserver=False)
known = set(sys.modules)
import jupyter_codeinterp
from jupyter_codeinterp.server.app import CodeInterp
watching = True
extension = CodeInterp(data_dir=sys.argv[1])
extension._link_jupyter_server_extension(app)
extension.initialize()
watching = False
print(json.dumps({
    "seen": seen,
    "ours": [m for m in sys.modules if m.startswith("jupyter_codeinterp.")],
    "others": [m for m in set(sys.modules) - known if "jupyter_codeinterp" not in m],
}))
"""
AT_THE_START = {
    "jupyter_codeinterp.run",
    "jupyter_codeinterp.run.approval",
    "jupyter_codeinterp.run.approval.modes",
    "jupyter_codeinterp.server",
    "jupyter_codeinterp.server.app",
    "jupyter_codeinterp.app",
    "jupyter_codeinterp.app.settings",
}


@pytest.fixture
def collected_later() -> Iterator[list[ServerApp]]:
    """Servers of this test, collected in another thread after all its other fixtures ended."""
    servers: list[ServerApp] = []
    yield servers
    assert servers
    with ThreadPoolExecutor(1) as other:
        for app in servers:
            other.submit(app.session_manager.__del__).result()


async def test_a_tests_server_leaves_no_database_open(
    collected_later: list[ServerApp], request: pytest.FixtureRequest
) -> None:
    app: ServerApp = request.getfixturevalue("jp_serverapp")
    await app.session_manager.list_sessions()
    collected_later.append(app)


def test_the_start_costs_little(tmp_path: Path) -> None:
    """Settings are imported, and nothing else: all other work waits for the first request.
    (How long it takes is for ``scripts/bench``.)"""
    root = tmp_path / "root"
    root.mkdir()
    command = [sys.executable, "-c", START, str(tmp_path / "data"), str(root)]
    environment = {**os.environ, "JUPYTER_NO_CONFIG": "1"}
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    started = json.loads(ran.stdout.splitlines()[-1])
    assert (started["others"], started["seen"]) == ([], [])
    assert set(started["ours"]) == AT_THE_START
