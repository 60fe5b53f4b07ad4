"""A model looks for mistakes in an answer, over the real server and the real SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_codeinterp.core import commands as c
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.loop.second_look import read
from tests.fake_anthropic import FakeAnthropic, Request, answer, run_cell, text
from tests.fake_anthropic.turns import Answer
from tests.site import Site

ADMINS, PERSONS = "claude-haiku-5-5", "claude-opus-5-5"
CODE = "rows = [7412, 5200]\nprint('North', rows[0])"
ITEM = {"cell": 1, "line": 2, "what": "Only\nNorth.", "why": "South is missing.", "sure": "likely"}


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"second_look": ADMINS}


def playing(reply: str, code: str = CODE) -> Any:
    def script(request: Request) -> Answer:
        if "tools" not in request.body:
            return answer(text(reply))
        return answer(text("It is 7,412.") if request.step else run_cell(code, title="Sales"))

    return script


async def asked(site: Site, **given: Any) -> Any:
    w = await site.window(kernel_id=await site.kernel())
    await w.send(c.SendMessage("Sales?", w.path, mode="auto", **given))
    await w.ended()
    (session,) = site.extension.manager.live_sessions
    w.session_id = session.info.session_id
    return w


async def test_a_person_asks_and_gets_a_list(site: Site, api: FakeAnthropic) -> None:
    api.play(playing("Well: " + json.dumps([ITEM, {"what": "The unit.", "cell": 9}])))
    w = await asked(site)
    assert len(api.requests) == 2, "nothing looks by itself"
    assert (await w.send(c.LookForMistakes(w.session_id))).error is None
    looked = await w.event(e.Looked)
    first, second = looked.mistakes
    assert looked.model == ADMINS
    assert (first.line, first.what, first.sure) == (2, "Only North.", "likely")
    assert first.cell_id == w.of(e.ToolDone)[0].cell_id
    assert (second.cell_id, second.line, second.sure) == ("", 0, "unsure")
    body = api.requests[2].body
    told = str(body["messages"])
    assert body["model"] == ADMINS and len(told) < 12_000
    for words in ("Sales?", "It is 7,412.", "2 print('North', rows[0])", "North 7412"):
        assert words in told, words
    assert ADMINS in [use.model for use in w.of(e.UsageChanged)[-1].models]
    assert (await w.send(c.LookForMistakes(w.session_id, PERSONS))).error is None
    assert api.requests[3].body["model"] == PERSONS


async def test_it_looks_by_itself_where_a_person_wants_it(site: Site, api: FakeAnthropic) -> None:
    api.play(playing("[]"))
    w = await asked(site, second_look=PERSONS)
    looked = await w.event(e.Looked)
    assert (looked.model, looked.mistakes) == (PERSONS, ())
    assert [request.body["model"] for request in api.requests][2:] == [PERSONS]


async def test_a_reply_in_another_form(site: Site, api: FakeAnthropic) -> None:
    api.play(playing("I agree."))
    w = await asked(site)
    reply = await w.send(c.LookForMistakes(w.session_id))
    assert reply.error == "no_look"
    assert reply.message == (
        f"{ADMINS} could not look for mistakes: its reply was not the list that was asked for."
    )
    assert w.of(e.Looked) == []


async def test_an_answer_without_a_cell(site: Site, api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text("A byte has 256 values.")))
    w = await asked(site, second_look="")
    assert (await w.send(c.LookForMistakes(w.session_id))).error == "nothing_to_look_at"
    assert len(api.requests) == 1 and w.of(e.Looked) == w.of(e.Note) == []


async def test_long_outputs_are_cut(site: Site, api: FakeAnthropic) -> None:
    api.play(playing("[]", "for n in range(9_000):\n    print(n)"))
    w = await asked(site)
    await w.send(c.LookForMistakes(w.session_id))
    told = str(api.requests[2].body["messages"])
    assert 2_500 < len(told) < 12_000 and "characters left out" in told and "8999" in told


@pytest.mark.parametrize(
    "reply", ["", "None.", "{}", '[{"why": "x"}]', '["x"]', '[{"what": 1}]', "[" * 5_000]
)
def test_an_unreadable_reply(reply: str) -> None:
    assert read(reply) is None
    assert read("[]") == []
