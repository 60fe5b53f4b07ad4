"""Making and removing a rule, from windows of a real server."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from jupyter_codeinterp.core import commands as c
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.labels import Rule
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import notebook
from tests.rest_client import rest_client
from tests.site import Site
from tests.test_silence_command import done_elsewhere

ONE, TWO = answer(run_cell("a = 1")), answer(run_cell("b = 2"))
DONE = answer(text("Done."))


async def test_a_window_makes_and_removes_a_rule_and_others_hear_of_it(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([ONE, TWO, DONE]))
    w = await site.window("a.ipynb", kernel_id=await site.kernel_of("a.ipynb"))
    other = await site.window("b.ipynb")
    await w.ask("Go")
    draft = await w.draft()
    assert draft.rule == Rule("")
    for draft_id, nonce in ((draft.draft_id, "x"), ("x", draft.nonce)):
        reply = await w.send(c.MakeRule(w.session_id, draft_id, nonce))
        assert reply.error == "no_rule"
    assert (await w.send(c.MakeRule(w.session_id, draft.draft_id, draft.nonce))).error is None
    (you,) = (frame for frame in w.frames if isinstance(frame, c.YouAre))
    made = await w.event(e.RuleMade)
    assert made.window == you.window
    await w.decide(draft)
    assert (await w.ended()).stop_reason == "end_turn"
    assert [one.rule for one in w.of(e.DraftDecided)] == ["", made.rule.rule_id]
    assert (await w.send(c.RemoveRule(w.session_id, "x"))).error == "unknown_rule"
    assert (await w.send(c.RemoveRule(w.session_id, made.rule.rule_id))).error is None
    await other.until(lambda: [one for one in done_elsewhere(other) if one.what == "no_rule"])
    told = [one for one in done_elsewhere(other) if one.what in ("rule", "no_rule")]
    assert [(one.window, one.name) for one in told] == [
        (you.window, "reads no files; imports nothing")
    ] * 2


async def test_another_window_makes_a_rule_and_not_me_removes_it(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([ONE, DONE]))
    person = await site.window("b.ipynb")
    w = await site.window("a.ipynb", kernel_id=await site.kernel_of("a.ipynb"))
    await w.ask("Go")
    draft = await w.draft()
    await w.send(c.MakeRule(w.session_id, draft.draft_id, draft.nonce))
    await w.decide(draft)
    await w.ended()
    session = site.extension.manager.session(w.session_id)
    assert len(session.standing_rules.all) == 1
    assert (await person.send(c.NotMe())).error is None
    assert site.extension.manager.session(w.session_id).standing_rules.all == ()


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    path = jp_root_dir / "a.ipynb"
    path.write_text(json.dumps(notebook("import math")))
    return path


async def test_a_client_lists_makes_and_removes_rules(
    site: Site, api: FakeAnthropic, file: Path
) -> None:
    api.play(in_order([ONE, TWO, DONE]))
    window = await site.window("b.ipynb")
    await site.kernel_of("a.ipynb")
    client = await rest_client(site)
    session_id = str((await client.post("sessions", notebook="a.ipynb"))["session_id"])
    await client.post("sessions", session_id, "messages", text="Go")
    place = ("sessions", session_id, "rules")
    async with client.follow(session_id) as stream:
        draft = (await stream.event("draft_waiting"))["draft"]
        assert await site.get(*place) == {"rules": [], "allowed": True}
        given = {"draft_id": draft["draft_id"], "nonce": draft["nonce"]}
        code, refused = await client.send("POST", *place, **{**given, "nonce": "x"})
        assert (code, refused["code"]) == (409, "no_rule")
        made = await client.post(*place, **given)
        await client.decide(session_id, draft)
        await stream.event("turn_ended")
    assert (await site.get(*place))["rules"] == [made]
    for code, rule_id in ((204, made["rule_id"]), (404, made["rule_id"]), (404, "0" * 12)):
        assert (await client.send("DELETE", *place, rule_id))[0] == code
    assert (await site.get(*place))["rules"] == []
    await window.until(lambda: [one for one in done_elsewhere(window) if one.what == "no_rule"])


async def test_a_client_makes_no_rule_where_an_admin_forbids_it(
    site: Site, api: FakeAnthropic, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = msgspec.structs.replace(site.extension.manager.rules, allow_rules=False)
    monkeypatch.setattr(site.extension.manager, "rules", rules)
    api.play(in_order([ONE, DONE]))
    await site.kernel_of("a.ipynb")
    client = await rest_client(site)
    session_id = str((await client.post("sessions", notebook="a.ipynb"))["session_id"])
    await client.post("sessions", session_id, "messages", text="Go")
    async with client.follow(session_id) as stream:
        draft = (await stream.event("draft_waiting"))["draft"]
        given = {"draft_id": draft["draft_id"], "nonce": draft["nonce"]}
        place = ("sessions", session_id, "rules")
        code, refused = await client.send("POST", *place, **given)
        assert (code, refused["code"]) == (403, "rules_forbidden")
        assert (await site.get(*place))["allowed"] is False
        await client.decide(session_id, draft)
        await stream.event("turn_ended")
