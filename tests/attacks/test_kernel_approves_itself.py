"""Code in a kernel that has been run once acts as the person who looks at the notebook."""

from __future__ import annotations

import json
from typing import Any

from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
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
PLACE = "connections/anthropic"
"""

WITH_THE_TOKEN = """
bearer = {"Authorization": f"token {token}"}
steps = {
    "a ticket": (await ask("POST", f"{API}/tickets", bearer)).code,
    "a ticket, the token in the address":
        (await ask("POST", f"{API}/tickets?token={token}", {})).code,
    "a socket without a ticket": await connect("", bearer),
    "another address":
        (await ask("POST", f"{API}/{PLACE}", bearer, {"base_url": "http://127.0.0.1:9"})).code,
    "no key": (await ask("DELETE", f"{API}/{PLACE}", bearer)).code,
    "a secret that was guessed":
        (await ask("POST", f"{API}/{PLACE}", {**bearer, "X-Codeinterp-Window": "1"})).code,
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
    before = site.extension.workbench.models.described("anthropic").origin
    steps = await in_the_kernel(watch, WITH_THE_TOKEN)
    assert set(steps.values()) == {403}, steps
    assert site.extension.manager.session(w.session_id).waiting
    assert site.extension.workbench.models.described("anthropic").origin == before
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


async def test_another_window_that_lets_a_turn_run_is_told_of(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([answer(run_cell("1")), answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    other = await site.bare_window("b.ipynb")
    await w.ask("Go")
    draft = await w.draft()
    assert (await other.decide(draft, session_id=w.session_id, run_all=True)).error is None
    await w.until(lambda: told(w))
    assert [(x.what, x.notebook) for x in told(w)] == [("run_all", "a.ipynb")]
    assert told(other) == [], "who has done it knows"
    await w.ended()
