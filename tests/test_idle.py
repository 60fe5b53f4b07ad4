"""The server's own timeouts for what is idle: kernels that are culled, a server that shuts
itself down. With a real server, which looks every second."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from jupyter_server._tz import utcnow
from jupyter_server.serverapp import ServerApp

from jupyter_codeinterp.session.server.manager import INTERVAL
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, call, in_order, run_cell, text
from tests.reference_window import ReferenceWindow
from tests.site import Site

TIMEOUT = 3
"""Seconds. A busy machine may stop the event loop for almost that long."""
SLOW = 5.5
"""Seconds that the model thinks: longer than a kernel lasts that nobody needs."""
THINKS = answer(text("Hello. " * 5)).cut_by("stall")
"""Until it is stopped."""


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    culling = {
        "cull_idle_timeout": TIMEOUT,
        "cull_interval": 1,
        "cull_connected": True,
        "cull_busy": True,
    }
    return {**jp_server_config, "MappingKernelManager": culling}


async def culled(site: Site, kernel_id: str) -> None:
    await site.until(lambda: kernel_id not in site.app.kernel_manager)


async def a_window(site: Site) -> tuple[ReferenceWindow, str]:
    kernel_id = await site.kernel_of("a.ipynb")
    return await site.window(kernel_id=kernel_id), kernel_id


async def test_a_kernel_is_kept_while_the_model_thinks_and_nobody_looks(
    site: Site, api: FakeAnthropic
) -> None:
    steps = [
        answer(run_cell("kept = 42")),
        answer(run_cell("kept + 1")).at(first=SLOW),
        answer(text("Done.")),
    ]
    api.play(in_order(steps))
    w, kernel_id = await a_window(site)
    await w.ask("Go", mode="auto")
    await w.event(e.ToolDone)
    await w.close()
    await api.seen(2)
    idle = asyncio.ensure_future(api.seen(3))
    # The model has thought for some of the server's looks; nobody had the notebook open.
    again = await site.window(book=w.notebook, kernel_id=kernel_id)
    await again.send(c.Subscribe(w.session_id))
    await again.ended()
    await idle
    assert [done.status for done in again.of(e.ToolDone)] == ["ok", "ok"]
    assert "43" in again.of(e.ToolDone)[1].detail, "the variables are there"
    await culled(site, kernel_id)


async def test_a_busy_kernel_is_kept_while_a_turn_runs_it(site: Site, api: FakeAnthropic) -> None:
    api.play(
        in_order([answer(run_cell(f"import time; time.sleep({SLOW})")), answer(text("Done."))])
    )
    w, kernel_id = await a_window(site)
    await w.ask("Go", mode="auto")
    await w.ended()
    assert [done.status for done in w.of(e.ToolDone)] == ["ok"]
    await culled(site, kernel_id)


async def test_a_kernel_of_nobody_is_culled_beside_a_turn(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([THINKS]))
    w, kernel_id = await a_window(site)
    other = await site.kernel_of("other.ipynb")
    await w.ask("Go")
    await culled(site, other)
    assert w.of(e.TurnEnded) == [] and kernel_id in site.app.kernel_manager
    await w.send(c.Cancel(w.session_id))
    await w.ended()


async def test_a_turn_that_waits_does_not_keep_its_kernel_and_says_so(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([answer(run_cell("1 + 1")), answer(text("It has no kernel."))]))
    w, kernel_id = await a_window(site)
    await w.ask("Go")
    draft = await w.draft()
    await culled(site, kernel_id)
    assert site.extension.manager.running and not site.extension.manager.working

    assert (await w.decide(draft)).error is None
    done = await w.event(e.ToolDone)
    assert done.status == "not_started"
    assert "The notebook's kernel has been shut down." in done.detail
    assert (await w.ended()).stop_reason == "end_turn"
    assert "has been shut down" in str(api.requests[-1].body["messages"][-1])


@pytest.fixture
def stops(site: Site, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The server would end the process; here it is only noted that it wants to."""
    wanted: list[str] = []
    monkeypatch.setattr(ServerApp, "stop", lambda app: wanted.append("stop"))
    monkeypatch.setattr(site.app, "shutdown_no_activity_timeout", TIMEOUT)
    return wanted


async def stopped(site: Site, stops: list[str]) -> None:
    """It looks once a minute by itself."""

    def look() -> bool:
        site.app.shutdown_no_activity()
        return bool(stops)

    await site.until(look)


async def kept(site: Site, stops: list[str]) -> None:
    """It is looked at for longer than the timeout; each time what is due has been noted."""
    until = utcnow() + timedelta(seconds=2 * TIMEOUT)
    while utcnow() < until:
        await asyncio.sleep(INTERVAL)
        site.app.shutdown_no_activity()
        assert not stops


async def test_the_server_is_kept_while_a_turn_works(
    site: Site, api: FakeAnthropic, stops: list[str]
) -> None:
    """Without a kernel, which would keep it too."""
    api.play(in_order([THINKS]))
    w = await site.window()
    await w.ask("Hello")
    await kept(site, stops)
    assert site.extension.manager.working
    await w.send(c.Cancel(w.session_id))
    await w.ended()
    await stopped(site, stops)


async def test_a_turn_that_waits_does_not_keep_the_server(
    site: Site, api: FakeAnthropic, stops: list[str]
) -> None:
    api.play(in_order([answer(call("ask_user", {"question": "Which?"}))]))
    w = await site.window()
    await w.ask("Hello")
    await w.event(e.QuestionAsked)
    await stopped(site, stops)
    assert site.extension.manager.running
