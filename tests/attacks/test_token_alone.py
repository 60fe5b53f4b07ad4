"""A request with the server's token, which every kernel can read, and no window."""

from __future__ import annotations

import re

from jupyter_codeinterp.extensions import Route
from jupyter_codeinterp.server.rest.routes import ROUTES
from jupyter_codeinterp.wiring import FEATURES
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import body
from tests.site import Site

OPEN = {"tickets", "clients"}
"""Where a window begins or ends."""
ADDED = {"completion": 1, "mcp_client": 1, "mcp_server": 2, "tables": 1}
"""Numbers of routes of features that change something."""
EXAMPLES = {
    r"([0-9a-f]{32})": "0" * 32,
    r"([0-9a-f]{16})": "0" * 16,
    r"([0-9a-f]{12})": "0" * 12,
    r"([0-9a-f]{64})": "0" * 64,
    r"([0-9]{1,15})": "1",
}


def test_only_windows_begin_and_end_without_one() -> None:
    assert {route.path for route in ROUTES if not route.needs_window} == OPEN


async def test_the_token_alone_changes_nothing(site: Site) -> None:
    added = (route for route in site.extension._prepare() if isinstance(route, Route))
    changing = [
        (route.method, route.path)
        for route in (*ROUTES, *added)
        if route.path not in OPEN and route.method != "GET"
    ]
    assert len(changing) >= 9 + sum(ADDED.get(name, 0) for name in FEATURES)
    for method, path in changing:
        for group, example in EXAMPLES.items():
            path = path.replace(group, example)
        path = re.sub(r"\(.*\)", "anthropic", path)
        for headers in ({}, {"X-Codeinterp-Window": "guessed"}):
            sent: dict[str, str] | None = None if method == "DELETE" else {}
            response = await site.request(method, path, json_body=sent, headers=dict(headers))
            assert (response.code, body(response)["code"]) == (403, "no_window"), (method, path)


async def test_the_token_alone_deletes_and_renames_a_running_conversation(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([answer(run_cell("1")), answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Go")
    await w.draft()
    title = site.extension.manager.session(w.session_id).info.title
    renamed = await site.request("PATCH", "sessions", w.session_id, json_body={"title": "Mine"})
    deleted = await site.request("DELETE", "sessions", w.session_id)
    demo = await site.request("POST", "demo", json_body={})
    assert [renamed.code, deleted.code, demo.code] == [403, 403, 403]
    assert site.extension.manager.session(w.session_id).info.title == title
    assert site.extension.manager.session(w.session_id).running
