"""Trying a draft first, from windows of a real server."""

from __future__ import annotations

import sys

import pytest

from jupyter_codeinterp.core import commands as c
from jupyter_codeinterp.core import events as e
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.site import Site
from tests.test_silence_command import done_elsewhere

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")

CELL, DONE = answer(run_cell("print(6 * 7)")), answer(text("Done."))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine at work needs longer to find its kernel idle."""
    monkeypatch.setattr("jupyter_codeinterp.adapters.kernels.zmq.forks.rehearsing.IDLE", 30)


async def test_a_window_tries_a_draft_and_others_hear_of_it(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([CELL, DONE]))
    w = await site.window("a.ipynb", kernel_id=await site.kernel_of("a.ipynb"))
    other = await site.window("b.ipynb")
    await w.ask("Go")
    draft = await w.draft()
    reply = await w.send(c.TryFirst(w.session_id, draft.draft_id, "x", draft.source))
    assert reply.error == "no_rehearsal"
    tried = c.TryFirst(w.session_id, draft.draft_id, draft.nonce, draft.source)
    assert (await w.send(tried)).error is None
    found = await w.event(e.Rehearsed)
    assert (found.how, found.text.strip()) == ("done", "42")
    await other.until(lambda: [one for one in done_elsewhere(other) if one.what == "try"])
    await w.decide(draft)
    assert (await w.ended()).stop_reason == "end_turn"


async def test_it_needs_the_permissions_of_a_run(site: Site, api: FakeAnthropic) -> None:
    from jupyter_codeinterp.server.socket.connection import NEEDS

    assert NEEDS[c.TryFirst] == NEEDS[c.Decide]


async def test_the_model_has_peek_only_where_an_admin_wants_it(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([DONE]))
    w = await site.window("a.ipynb", kernel_id=await site.kernel_of("a.ipynb"))
    await w.ask("Go")
    await w.ended()
    names = [tool["name"] for tool in api.requests[-1].body["tools"]]
    assert "run_cell" in names and "peek" not in names
