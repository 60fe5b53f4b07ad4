"""A model looks for mistakes in an answer, over the real server and the real SDK."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.agent import second_look
from jupyter_codeinterp.agent.second_look import read
from jupyter_codeinterp.session import looking
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, Request, answer, run_cell, text
from tests.fake_anthropic.turns import Answer
from tests.reference_window import notebook
from tests.rest_client import rest_client
from tests.site import Site

FREE = "claude-sonnet-5-5"
LEAKED = "sk-ant-api03-0123456789-abcdefghij-0123456789"
ADMINS, PERSONS = "claude-haiku-5-5", "claude-opus-5-5"
PRICES = {FREE: (0.1, 0.1, 0.1, 0.1), ADMINS: (1e6, 1e6, 1e6, 1e6)}
CODE = "rows = [7412, 5200]\nprint('North', rows[0])"
ITEM = {"cell": 2, "line": 2, "what": "Only\nNorth.", "why": "South is missing.", "sure": "likely"}


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"second_look": ADMINS}


def playing(reply: str, code: str = CODE, cut: bool = False) -> Any:
    def script(request: Request) -> Answer:
        if "tools" not in request.body:
            given = answer(text(reply))
            return given.cut_by("stall", 0) if cut else given
        return answer(text("It is 7,412.") if request.step else run_cell(code, title="Sales"))

    return script


async def asked(site: Site, book: Any = None, **given: Any) -> Any:
    w = await site.window(book=book, kernel_id=await site.kernel())
    await w.send(c.SendMessage("Sales?", w.path, mode="auto", **given))
    await w.ended()
    (session,) = site.extension.manager.sessions.values()
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


async def test_private_cells_and_secrets_stay_here(site: Site, api: FakeAnthropic) -> None:
    code = f"key = {LEAKED!r}\nprint(key)"
    api.play(playing(json.dumps([{"what": f"It shows {LEAKED}."}]), code))
    book = notebook("token = 'horse'")
    book["cells"][0]["metadata"]["tags"] = ["codeinterp-private"]
    w = await asked(site, book)
    assert (await w.send(c.LookForMistakes(w.session_id))).error is None
    told = json.dumps(api.requests[2].body)
    assert "print(key)" in told and LEAKED not in told and "horse" not in told
    assert LEAKED not in (await w.event(e.Looked)).mistakes[0].what


async def test_a_cell_made_private_since(site: Site, api: FakeAnthropic) -> None:
    api.play(playing("[]"))
    await asked(site)
    (looked,) = site.extension.manager.sessions.values()
    snapshot = await looked.workplace.document.snapshot()
    (ran,) = [cell for cell in snapshot.cells if cell.source == CODE]
    answered = looked.second_looks._latest_answer()
    assert second_look._cells(answered, snapshot) == {snapshot.cells.index(ran) + 1: ran}
    private = msgspec.structs.replace(ran, tags=("codeinterp-private",))
    hidden = msgspec.structs.replace(snapshot, cells=(private,))
    assert second_look._cells(answered, hidden) == {}


@pytest.mark.usefixtures("codeinterp_config")
@pytest.mark.parametrize("codeinterp_config", [{"day_cost": 5.0, "prices": PRICES}])
async def test_the_limit_of_a_day(site: Site, api: FakeAnthropic) -> None:
    api.play(playing("[]"))
    w = await asked(site, model=FREE)
    assert (await w.send(c.LookForMistakes(w.session_id, ADMINS))).error is None
    over = await w.send(c.LookForMistakes(w.session_id, ADMINS))
    assert over.error == "no_look" and "its limit of $5.00 a day" in over.message
    assert len(api.requests) == 3 and len(w.of(e.Looked)) == 1


@pytest.mark.usefixtures("codeinterp_config")
@pytest.mark.parametrize("codeinterp_config", [{"max_cost": 5.0, "prices": PRICES}])
async def test_the_limit_of_a_turn(site: Site, api: FakeAnthropic) -> None:
    api.play(playing("[]"))
    w = await asked(site, model=FREE)
    assert (await w.send(c.LookForMistakes(w.session_id, ADMINS))).error is None
    over = await w.send(c.LookForMistakes(w.session_id, ADMINS))
    assert over.error == "no_look" and "the turn is at its cost limit" in over.message
    assert len(api.requests) == 3


async def test_it_has_a_limit_of_time(
    site: Site, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "LONGEST_LOOK", 0.5)
    api.play(playing("[]", cut=True))
    w = await asked(site)
    reply = await w.send(c.LookForMistakes(w.session_id))
    assert reply.error == "no_look" and "took longer than" in reply.message
    assert w.of(e.Looked) == []


@pytest.mark.parametrize("by", ["stop", "turn"])
async def test_what_ends_it(site: Site, api: FakeAnthropic, by: str) -> None:
    api.play(playing("[]", cut=True))
    w = await asked(site)
    looking = asyncio.ensure_future(w.send(c.LookForMistakes(w.session_id)))
    await site.until(lambda: len(api.requests) == 3)
    assert (await w.send(c.LookForMistakes(w.session_id))).error == "busy"
    if by == "stop":
        await w.send(c.Cancel(w.session_id))
    else:
        await w.send(c.SendMessage("More?", w.path, w.session_id, mode="auto"))
    assert (await looking).error == "look_stopped"
    if by == "turn":
        assert (await w.ended(2)).stop_reason == "end_turn"
    api.play(playing("[]"))
    assert w.of(e.Looked) == []


async def test_by_rest(site: Site, api: FakeAnthropic, jp_root_dir: Path) -> None:
    api.play(playing(json.dumps([ITEM])))
    w = await asked(site)
    (jp_root_dir / "a.ipynb").write_text(json.dumps(w.notebook))
    client = await rest_client(site)
    await client.post("sessions", w.session_id, "look", model=PERSONS)
    looked = await w.event(e.Looked)
    assert (looked.model, looked.mistakes[0].what) == (PERSONS, "Only North.")
    api.play(playing("No."))
    code, said = await client.send("POST", "sessions", w.session_id, "look")
    assert code >= 400 and said["code"] == "no_look"


@pytest.mark.parametrize(
    "reply", ["", "None.", "{}", '[{"why": "x"}]', '["x"]', '[{"what": 1}]', "[" * 5_000]
)
def test_an_unreadable_reply(reply: str) -> None:
    assert read(reply) is None
    assert read("[]") == []
