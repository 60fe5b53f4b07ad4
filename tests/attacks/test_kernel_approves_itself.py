"""Code in a kernel that has been run once acts as the person who looks at the notebook."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_codeinterp.core import commands as c
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.server.socket.handler import FOR_GOOD
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import ReferenceWindow
from tests.site import Site, Watch

HARM = "print('harm')"

IN_THE_KERNEL = """
import json, pathlib
from jupyter_core.paths import jupyter_runtime_dir
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

url = {url!r}
info, = (json.loads(p.read_text()) for p in pathlib.Path(jupyter_runtime_dir()).glob("jp*.json"))
token = info["token"]
asked = []

async def ask(method, route, headers, body=None):
    asked.append(route)
    data = json.dumps(body or {{}}) if method in ("POST", "PATCH") else None
    request = HTTPRequest(f"{{url}}/{{route}}", method, headers, data, follow_redirects=False)
    return await AsyncHTTPClient().fetch(request, raise_error=False)

async def connect(ticket, headers):
    asked.append("channel")
    address = f"{{url}}/codeinterp/api/channel?ticket={{ticket}}".replace("http", "ws", 1)
    try:
        return await websocket_connect(HTTPRequest(address, headers=headers))
    except HTTPClientError as error:
        return error.code

API = "codeinterp/api"
"""

WITH_THE_TOKEN = """
bearer = {"Authorization": f"token {token}"}
steps = {
    "a ticket": (await ask("POST", f"{API}/tickets", bearer)).code,
    "a ticket, the token in the address":
        (await ask("POST", f"{API}/tickets?token={token}", {})).code,
    "a socket without a ticket": await connect("", bearer),
    "another address":
        (await ask("POST", f"{API}/key", bearer, {"base_url": "http://127.0.0.1:9"})).code,
    "no key": (await ask("DELETE", f"{API}/key", bearer)).code,
    "a secret that was guessed":
        (await ask("POST", f"{API}/key", {**bearer, "X-Codeinterp-Window": "1"})).code,
}
print(json.dumps(steps))
"""

AS_A_BROWSER = """
page = await ask("GET", f"?token={token}", {})
cookies = [line.split(";")[0] for line in page.headers.get_list("Set-Cookie")]
headers = {"Cookie": "; ".join([*cookies, "_xsrf=x"]), "X-XSRFToken": "x"}
given = json.loads((await ask("POST", f"{API}/tickets", headers)).body)
socket = await connect(given["ticket"], headers)
print(json.dumps({"asked": len(asked)}))

async def say(**command):
    await socket.write_message(json.dumps({**command, "id": 1}))
    while True:
        for line in (await socket.read_message()).split("\\n"):
            if json.loads(line)["type"] == "reply":
                return json.loads(line)

headers["X-Codeinterp-Window"] = given["secret"]
"""


async def in_the_kernel(watch: Watch, code: str) -> Any:
    """What the code prints, decoded; a traceback fails the test."""
    printed = await watch.run(code)
    return json.loads(printed) if printed.strip() else None


async def a_draft_that_waits(site: Site, api: FakeAnthropic) -> tuple[ReferenceWindow, Watch]:
    """The person's window, and the kernel with the attacker's code in it."""
    api.play(in_order([answer(run_cell(HARM, title="Growth by region")), answer(text("Done."))]))
    site.app.write_server_info_file()
    kernel_id = await site.kernel()
    w = await site.window(kernel_id=kernel_id)
    await w.ask("Go")
    await w.draft()
    watch = await site.watch(kernel_id)
    await in_the_kernel(watch, IN_THE_KERNEL.format(url=site.url))
    return w, watch


def told(w: ReferenceWindow) -> list[c.DoneElsewhere]:
    return [frame for frame in w.frames if isinstance(frame, c.DoneElsewhere)]


def decide(w: ReferenceWindow, draft: e.Draft, **others: Any) -> str:
    """The command as the attacker sends it; all of it can be read with the token."""
    command = {
        "type": "decide",
        "session_id": w.session_id,
        "draft_id": draft.draft_id,
        "nonce": draft.nonce,
        "action": "run",
        "source": draft.source,
        **others,
    }
    return f"print(json.dumps(await say(**{command!r})))"


async def test_a_kernel_uses_the_servers_token_to_decide_set_auto_and_move_the_address(
    site: Site, api: FakeAnthropic
) -> None:
    w, watch = await a_draft_that_waits(site, api)
    before = site.extension.models.host
    steps = await in_the_kernel(watch, WITH_THE_TOKEN)
    assert set(steps.values()) == {403}, steps
    assert site.extension.manager.session(w.session_id).waiting
    assert site.extension.models.host == before
    assert told(w) == []


async def test_a_kernel_logs_in_as_a_browser_and_decides(site: Site, api: FakeAnthropic) -> None:
    """It gets a window of its own, and the person hears of it."""
    w, watch = await a_draft_that_waits(site, api)
    draft = await w.draft()
    assert await in_the_kernel(watch, AS_A_BROWSER) == {"asked": 3}
    reply = await in_the_kernel(watch, decide(w, draft))
    assert reply["error"] is None
    await w.until(lambda: told(w))
    (done,) = told(w)
    assert (done.window, done.what, done.name) == (2, "run", "Growth by region")
    decided = await w.event(e.DraftDecided)
    assert (decided.by, decided.window) == ("person", 2)
    assert (await w.event(e.TurnStarted)).window == 1


async def test_a_kernel_logs_in_as_a_browser_and_not_me_ends_it(
    site: Site, api: FakeAnthropic
) -> None:
    w, watch = await a_draft_that_waits(site, api)
    session = site.extension.manager.session(w.session_id)
    await in_the_kernel(watch, AS_A_BROWSER)
    mode = {"type": "set_mode", "session_id": w.session_id, "mode": "auto"}
    await in_the_kernel(watch, f"print(json.dumps(await say(**{mode!r})))")
    async with FakeAnthropic() as evil:
        given = {"base_url": evil.url, "key": "sk-ant-of-the-attacker"}
        code = f"print((await ask('POST', f'{{API}}/key', headers, {given!r})).code)"
        assert await in_the_kernel(watch, code) == 200
        assert site.extension.models.host in evil.url
        await w.until(lambda: len(told(w)) == 2)
    assert [(x.window, x.what, x.name in ("auto", evil.url[7:])) for x in told(w)] == [
        (2, "mode", True),
        (2, "key", True),
    ]
    assert (await w.event(e.ModeChanged)).window == 2

    assert (await w.send(c.NotMe())).error is None

    assert (await w.ended()).stop_reason == "cancelled"
    assert session.info.mode == "review"
    assert site.extension.models.host in api.url, "the address is put back"
    notes = [event.text for _, event in w.events if isinstance(event, e.Note)]
    assert any("all other windows were closed" in words for words in notes)
    gone = "while await socket.read_message() is not None: pass\nprint(socket.close_code)"
    assert await in_the_kernel(watch, gone) == FOR_GOOD
    again = (
        "print(json.dumps(["
        "(await ask('POST', f'{API}/key', headers, {'key': 'x'})).code,"
        "(await ask('POST', f'{API}/tickets', headers, {'secret': given['secret']})).code]))"
    )
    assert await in_the_kernel(watch, again) == [403, 403]
    assert (await w.send(c.Subscribe(w.session_id, 10**6))).error is None, "the person's stays"


@pytest.mark.parametrize("how", ["run all", "a turn in Auto", "mode of a session nobody follows"])
async def test_another_window_sees_to_it_that_nothing_asks_any_more(
    site: Site, api: FakeAnthropic, how: str
) -> None:
    api.play(in_order([answer(run_cell("1")), answer(text("Done."))] * 2))
    kernel_id = await site.kernel()
    w = await site.window(kernel_id=kernel_id)
    other = await site.bare_window("b.ipynb")
    if how == "run all":
        await w.ask("Go")
        draft = await w.draft()
        assert (await other.decide(draft, session_id=w.session_id, run_all=True)).error is None
        expected = ("run_all", "a.ipynb")
    elif how == "a turn in Auto":
        await other.ask("Delete all", mode="auto")
        expected = ("turn", "b.ipynb")
    else:
        idle = site.extension.manager.new_session("b.ipynb", "review", "").info.session_id
        await other.send(c.SetMode(idle, "auto"))
        expected = ("mode", "b.ipynb")
    await w.until(lambda: told(w))
    assert [(x.what, x.notebook) for x in told(w)] == [expected]
    assert told(other) == [], "who has done it knows"
    await w.send(c.NotMe())
    assert all(s.mode == "review" for s in site.extension.manager.list(None))
    await site.until(lambda: not site.extension.manager.running)


async def test_another_window_queues_a_message_that_outlives_not_me(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([answer(run_cell("1")), answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Go")
    await w.draft()
    other = await site.bare_window()
    for window, words in ((w, "In euros"), (other, "Delete all")):
        said = c.SendMessage(words, "a.ipynb", w.session_id)
        assert (await window.send(said)).result["did"] == "queue"
    await w.send(c.NotMe())
    await site.until(lambda: not site.extension.manager.running)
    session = site.extension.manager.session(w.session_id)
    assert [message.text for message in session.queue.messages] == ["In euros"]


async def test_another_window_decides_while_the_persons_is_out_of_reach(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([answer(run_cell("1")), answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Go")
    draft = await w.draft()
    other = await site.bare_window()
    await w.close()
    await site.until(lambda: len(site.extension.manager.broadcaster) == 1)
    await other.decide(draft, session_id=w.session_id)
    same = await site.bare_window(secret=w.secret, seen=w.seen)
    await same.until(lambda: told(same))
    assert [(x.window, x.what) for x in told(same)] == [(2, "run")]
    fresh = await site.bare_window()
    assert (await fresh.send(c.Subscribe(w.session_id))).error is None
    assert told(fresh) == [], "what was before its time is in the conversation"
