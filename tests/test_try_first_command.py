"""Trying a draft first, from windows of a real server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from jupyter_codeinterp.core import commands as c
from jupyter_codeinterp.core import events as e
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import notebook
from tests.rest_client import rest_client
from tests.site import Site

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")

CELL, DONE = answer(run_cell("print(6 * 7)")), answer(text("Done."))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine at work needs longer to find its kernel idle."""
    monkeypatch.setattr("jupyter_codeinterp.adapters.kernels.zmq.forks.rehearsing.IDLE", 30)


async def test_a_window_tries_a_draft_and_others_hear_of_it(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([CELL, DONE]))
    w = await site.window("a.ipynb", kernel_id=await site.kernel_of("a.ipynb"))
    await w.ask("Go")
    draft = await w.draft()
    reply = await w.send(c.TryFirst(w.session_id, draft.draft_id, "x", draft.source))
    assert reply.error == "no_rehearsal"
    tried = c.TryFirst(w.session_id, draft.draft_id, draft.nonce, draft.source)
    assert (await w.send(tried)).error is None
    found = await w.event(e.Rehearsed)
    assert (found.how, found.text.strip()) == ("done", "42")
    await w.decide(draft)
    assert (await w.ended()).stop_reason == "end_turn"


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    path = jp_root_dir / "a.ipynb"
    path.write_text(json.dumps(notebook("import math")))
    return path


async def test_a_client_tries_a_draft(site: Site, api: FakeAnthropic, file: Path) -> None:
    api.play(in_order([CELL, DONE]))
    await site.kernel_of("a.ipynb")
    client = await rest_client(site)
    session_id = str((await client.post("sessions", notebook="a.ipynb"))["session_id"])
    place = ("sessions", session_id, "rehearsals")
    await client.post("sessions", session_id, "messages", text="Go")
    async with client.follow(session_id) as stream:
        draft = (await stream.event("draft_waiting"))["draft"]
        given = {one: draft[one] for one in ("draft_id", "nonce", "source")}
        code, refused = await client.send("POST", *place, **{**given, "nonce": "x"})
        assert (code, refused["code"]) == (409, "no_rehearsal")
        site.extension.manager.session(session_id).rehearsals.allowed = False
        code, refused = await client.send("POST", *place, **given)
        assert (code, refused["code"]) == (403, "rehearsals_off")
        site.extension.manager.session(session_id).rehearsals.allowed = True
        code, _ = await client.send("POST", *place, **given)
        assert code == 202
        found = await stream.event("rehearsed")
        assert (found["how"], found["text"].strip()) == ("done", "42")
        await client.decide(session_id, draft)
        await stream.event("turn_ended")


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
