"""Sessions that nobody uses are let go, and taken up again from the journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import StoreError
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.kernel.zmq.kernel import KernelPool
from jupyter_codeinterp.server.socket import connection
from jupyter_codeinterp.session.messages import Sender
from jupyter_codeinterp.session.server import manager as session_manager
from jupyter_codeinterp.session.server import service
from jupyter_codeinterp.session.server.manager import SessionManager
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text, wrong_key
from tests.kernels import until
from tests.reference_window import ReferenceWindow
from tests.site import Site

DONE = answer(text("Done."))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_manager, "GRACE", 0.1)


def manager_of(site: Site) -> SessionManager:
    manager: SessionManager = site.app.web_app.settings["codeinterp_bench"].manager
    return manager


async def a_turn(site: Site, api: FakeAnthropic, mode: str = "auto") -> ReferenceWindow:
    api.play(in_order([answer(run_cell("print('made')")), DONE]))
    w = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    assert (await w.ask("Go", mode=mode)).error is None
    await w.ended()
    return w


async def test_a_session_goes_when_nobody_follows_it_and_comes_back(
    site: Site, api: FakeAnthropic
) -> None:
    w = await a_turn(site, api)
    await w.send(c.Unsubscribe(w.session_id))
    await until(lambda: manager_of(site).sessions.get(w.session_id) is None)
    again = await site.bare_window()
    await again.send(c.Subscribe(w.session_id))
    await again.ended()
    kinds = [type(event) for _, event in again.events]
    assert kinds == [type(event) for _, event in w.events if not isinstance(event, e.TextDelta)]
    # What it did is still known, and can be undone.
    (added,) = (await again.ended()).added
    assert (await w.send(c.UndoTurn(w.session_id, 1))).error is None
    assert (await again.event(e.TurnUndone)).restored == (added,)


async def test_those_with_a_turn_or_a_follower_stay(site: Site, api: FakeAnthropic) -> None:
    followed = await a_turn(site, api)
    api.play(in_order([answer(run_cell("print(2)")), DONE]))
    waiting = await site.window("b.ipynb", kernel_id=await site.kernel_of("b.ipynb"))
    assert (await waiting.ask("Go")).error is None
    await waiting.draft()
    await waiting.send(c.Unsubscribe(waiting.session_id))
    manager = manager_of(site)
    kept = manager.new_session("d.ipynb", "review", "")
    kept.kept = True
    idle = manager.new_session("c.ipynb", "review", "").info.session_id
    await until(lambda: manager.sessions.get(idle) is None)
    assert manager.sessions.get(followed.session_id) is not None
    assert manager.sessions.get(waiting.session_id) is not None
    assert manager.sessions.get(kept.info.session_id) is kept


def mode_of(site: Site, session_id: str) -> str:
    info = manager_of(site).store.get(session_id)
    assert info is not None
    return info.mode


async def test_what_belongs_to_a_kernel_goes_with_it(site: Site) -> None:
    kernels: Any = site.app.kernel_manager
    pool = KernelPool(kernels)
    try:
        first = await site.kernel_of("a.ipynb")
        link, _ = pool.get(first)
        await kernels.shutdown_kernel(first, now=True)
        await until(lambda: link.closed)
        second = await site.kernel_of("b.ipynb")
        pool.get(second)
        assert list(pool._links) == [second]
    finally:
        pool.close()


def send(session_id: str) -> c.SessionCommand:
    return c.SendMessage(id=0, session_id=session_id, notebook="a.ipynb", text="Go")


def branch(session_id: str) -> c.SessionCommand:
    return c.Branch(session_id, 1, "Go")


@pytest.mark.parametrize("command", [send, branch, c.Retry])
async def test_a_session_that_waited_for_its_kernel_is_the_managers(
    site: Site, api: FakeAnthropic, command: Callable[[str], c.SessionCommand]
) -> None:
    """A kernel takes longer to start than the manager keeps an unused session."""
    w, manager = await a_turn(site, api), manager_of(site)
    if command is c.Retry:
        api.play(in_order([wrong_key()]))
        assert (await w.ask("Again")).error is None
        await w.ended(2)
    api.play(in_order([DONE]))
    await w.send(c.Unsubscribe(w.session_id))

    async def slow(path: str) -> None:
        await until(lambda: w.session_id not in manager.sessions)

    await service.carry_out(manager, command(w.session_id), Sender(ready=slow))
    assert manager.running
    await until(lambda: not manager.running)


async def test_a_window_that_follows_gets_the_rest_after_a_fault_of_the_journal(
    site: Site, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = await a_turn(site, api)
    again = await site.bare_window()
    written, faults = SqliteStore.written_events, [StoreError("locked", Sentence("Locked."))]

    def fails_once(store: SqliteStore, *given: Any) -> Any:
        if faults:
            raise faults.pop()
        return written(store, *given)

    monkeypatch.setattr(connection, "READ_AGAIN", 0.05)
    monkeypatch.setattr(SqliteStore, "written_events", fails_once)
    await w.send(c.Unsubscribe(w.session_id))
    await until(lambda: manager_of(site).sessions.get(w.session_id) is None)
    await again.send(c.Subscribe(w.session_id))
    await again.ended()
    assert faults == []
