"""MCP servers through a real Jupyter server: REST, and a whole turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fake_anthropic import FakeAnthropic, answer, call, in_order, text
from tests.reference_window import body, notebook
from tests.rest_client import rest_client
from tests.site import Site
from tests.test_tool_servers import entry

PATH = "work/a.ipynb"


@pytest.fixture
def file(jp_root_dir: Path, data_dir: Path) -> Path:
    folder = jp_root_dir / "work"
    folder.mkdir()
    (folder / "a.ipynb").write_text(json.dumps(notebook("x = 1")))
    servers = {"clock": entry(), "web": {"url": "http://127.0.0.1:9/mcp", "headers": {"K": "v"}}}
    data_dir.mkdir(exist_ok=True)
    path = data_dir / "mcp-servers.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


async def test_approve_call_and_answer(site: Site, api: FakeAnthropic, file: Path) -> None:
    asks = answer(text("I ask it."), call("mcp__clock__echo", {"text": "noon"}))
    api.play(in_order([asks, answer(text("It is noon."))]))
    client = await rest_client(site)

    async def wish(digest: str, approved: bool) -> tuple[int, Any]:
        return await client.send("PATCH", "tool-servers", digest, approved=approved)

    listed = body(await site.request("GET", "tool-servers"))
    assert [one["state"] for one in listed["servers"]] == ["asks", "asks"]
    clock, _ = (one["id"] for one in listed["servers"])
    code, now = await wish(clock, True)
    assert code == 200 and now["servers"][0]["state"] == "approved"
    session_id = client.conversation(PATH)
    async with client.follow(session_id) as stream:
        await client.command("send_message", session_id, text="Time?", mode="auto")
        waiting = await stream.event("draft_waiting")
        assert '"text": "noon"' in waiting["draft"]["source"]
        await client.decide(session_id, waiting["draft"])
        done = await stream.event("tool_done")
        assert (done["status"], done["title"]) == ("ok", "echo (clock)")
        ended = await stream.event("turn_ended")
        assert ended["stop_reason"] == "end_turn"
    assert api.violations == []
    assert "noon" in json.dumps(api.requests[-1].body["messages"][-1])
    code, off = await wish(clock, False)
    assert code == 200 and off["servers"][0]["state"] == "asks"
    code, gone = await wish("0" * 64, True)
    assert (code, gone["code"]) == (404, "unknown_server")
