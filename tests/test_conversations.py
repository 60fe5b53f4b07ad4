"""An old conversation over REST: found by a word, renamed, taken along."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

from jupyter_codeinterp.session.messages import LONGEST_TITLE
from jupyter_codeinterp.session.server.manager import SessionManager
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.conftest import KEY
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import ReferenceWindow, body
from tests.site import Site

UNKNOWN = "0" * 32


async def talk(site: Site, words: str, path: str = "a.ipynb") -> str:
    """A conversation without code; its id."""
    w = await site.window(path)
    await w.ask(words)
    await w.ended()
    await w.until(lambda: not w.sessions[w.session_id].session.running)
    return w.session_id


async def found(site: Site, **params: str) -> list[str]:
    return [info["session_id"] for info in (await site.get("sessions", params=params))["sessions"]]


async def rename(site: Site, session_id: str, title: Any) -> Any:
    return await site.as_page("PATCH", "sessions", session_id, json_body={"title": title})


def at_rest(site: Site) -> SessionManager:
    """The session manager as after a restart: it has taken up no session from the journal yet."""
    manager = site.extension.manager
    manager.sessions.clear()
    return manager


# --- found ---------------------------------------------------------------------------


async def test_found_in_all_notebooks_or_in_one(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(text("One.")), answer(text("Nothing."))]))
    first = await talk(site, "Straße and so on")
    second = await talk(site, "What of the STRASSE?", "b.ipynb")
    assert await found(site, q="straße") == [second, first]
    assert await found(site, q="straße", notebook="a.ipynb") == [first]
    assert await found(site, q="nowhere") == []
    assert await found(site, q="", notebook="a.ipynb") == [first], "no word: all of them"


async def test_what_is_found_is_as_it_is_now(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(run_cell("1"))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("A running one")
    await w.draft()
    (info,) = (await site.get("sessions", params={"q": "running one"}))["sessions"]
    assert info["running"] is True
    await w.send(c.Cancel(w.session_id))
    await w.ended()


# --- renamed -------------------------------------------------------------------------


async def test_renamed_while_it_is_followed(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(text("Hi."))]))
    w = await site.window()
    await w.ask("Hello")
    await w.ended()
    before = (await site.get("sessions"))["sessions"][0]
    response = await rename(site, w.session_id, "  Größen 🎈 ")
    assert response.code == 200 and body(response)["title"] == "Größen 🎈"
    await w.event(e.TitleChanged, 2)
    await w.until(lambda: w.sessions[w.session_id].session.title == "Größen 🎈")
    (after,) = (await site.get("sessions"))["sessions"]
    assert after["title"] == "Größen 🎈" and after["changed"] == before["changed"]
    assert await found(site, q="grössen") == [w.session_id]


async def test_renamed_at_rest(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(text("Hi."))]))
    session_id = await talk(site, "Hello")
    at_rest(site)
    page = await site.of_a_page()
    given = {"title": "Other"}
    response = await site.request("PATCH", "sessions", session_id, headers=page, json_body=given)
    assert response.code == 200
    manager = at_rest(site)
    assert manager.list(None)[0].title == "Other"
    events = manager.store.events(session_id)
    window = manager.windows.number(page["X-Codeinterp-Window"])
    assert window and events[-1][1] == e.TitleChanged("Other", window)
    assert (await rename(site, session_id, "Other")).code == 200
    assert manager.store.events(session_id) == events, "nothing has changed"


async def test_titles_that_are_none(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(text("Hi."))]))
    session_id = await talk(site, "Hello")
    for title in ("", "  ", "two\nlines", "a\x00b", "a\u2028b", "x" * (LONGEST_TITLE + 1)):
        response = await rename(site, session_id, title)
        assert response.code == 400 and body(response)["code"] == "bad_title", title
    assert (await site.get("sessions"))["sessions"][0]["title"] == "Hello"


async def test_renaming_that_makes_no_sense(site: Site) -> None:
    assert (await rename(site, UNKNOWN, "x")).code == 404
    for given in ("[]", "{", '{"title": 5}', '{"title": ["x"]}', '{"title": "\\ud800"}'):
        response = await site.as_page("PATCH", "sessions", UNKNOWN, body=given)
        assert response.code == 400 and body(response)["code"] == "malformed", given


# --- taken along ---------------------------------------------------------------------


async def a_turn(site: Site, api: FakeAnthropic, words: str, code: str) -> ReferenceWindow:
    api.play(in_order([answer(text("Let me see."), run_cell(code)), answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask(words)
    await w.decide(await w.draft())
    await w.ended()
    return w


async def export(site: Site, session_id: str) -> Any:
    return await site.request("GET", "sessions", session_id, "export")


def name_of(response: Any) -> str:
    disposition = response.headers["Content-Disposition"]
    assert disposition.startswith("attachment;")
    return unquote(disposition.rpartition("''")[2])


async def test_as_markdown(site: Site, api: FakeAnthropic) -> None:
    w = await a_turn(site, api, "What is 1 + 1?", "1 + 1")
    response = await export(site, w.session_id)
    assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert name_of(response) == "What-is-1-1.md"
    written = response.body.decode()
    assert written.startswith("# What is 1 + 1?\n\nNotebook: `a.ipynb`")
    assert "> What is 1 + 1?" in written and "```python\n1 + 1\n```\n\n```text\n2\n```" in written
    assert written.endswith("\n\nDone.\n")


async def test_file_names_are_safe(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(text("Hi."))]))
    session_id = await talk(site, "Hello")
    for title, name in (
        ('../a/b\\c"d;e', "a-b-c-d-e.md"),
        ("Größe 数据", "Größe-数据.md"),
        ("?!", "conversation.md"),
        ("x" * 200, "x" * 60 + ".md"),
    ):
        await rename(site, session_id, title)
        assert name_of(await export(site, session_id)) == name
    assert (await export(site, UNKNOWN)).code == 404
    assert (await site.request("GET", "sessions", "x", "export")).code == 404


async def test_keys_are_in_no_export(
    site: Site, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those that were known then, nor one that has worked as a key since."""
    later = "sk-ant-next-week-has-another"
    w = await a_turn(site, api, f"Mine is {KEY}", f"print('{later}')")
    await rename(site, w.session_id, f"About {KEY}")
    assert later.encode() in (await export(site, w.session_id)).body
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert (await site.set_key(key=later)).code == 200
    response = await export(site, w.session_id)
    for key in (KEY, later):
        assert key.encode() not in response.body and key not in name_of(response)
