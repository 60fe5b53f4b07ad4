"""Outside agents over MCP: the official client over HTTP, a real server and a real kernel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import nbformat
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from jupyter_codeinterp.core.events import DraftWaiting
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import notebook
from tests.rest_client import RestClient, rest_client
from tests.site import Site

PATH = "work/a.ipynb"


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"window_grace": 600.0, "leave_grace": 600.0}


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    (jp_root_dir / "work").mkdir()
    path = jp_root_dir / "work" / "a.ipynb"
    path.write_text(json.dumps(notebook("import math")))
    return path


@asynccontextmanager
async def outside(site: Site, token: str, **given: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        url = f"{site.url}/codeinterp/api/mcp"
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, **given) as client:
            yield client


async def token(client: RestClient, scope: str = "run") -> str:
    made = await client.post("mcp", "tokens", name="Test", scope=scope)
    return str(made["token"])


def texts(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


async def test_a_client_reads(site: Site, file: Path) -> None:
    rest = await rest_client(site)
    async with outside(site, await token(rest, "look")) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["list_notebooks", "read_notebook", "read_output", "inspect_variables"]
        listed = json.loads(texts(await client.call_tool("list_notebooks", {"folder": "work"})))
        assert listed["notebooks"] == [{"path": PATH, "open": False}]
        read = await client.call_tool("read_notebook", {"notebook": PATH})
        assert "import math" in texts(read) and not read.is_error
        refused = await client.call_tool("run_cell", {"notebook": PATH, "source": "1"})
        assert refused.is_error and "only look" in texts(refused)


async def test_a_run_waits_for_a_person(site: Site, file: Path) -> None:
    rest = await rest_client(site)
    async with outside(site, await token(rest)) as client:
        calling = asyncio.ensure_future(
            client.call_tool("run_cell", {"notebook": PATH, "source": "print(6 * 7)"})
        )
        await site.until(lambda: site.extension.manager.live_sessions)
        (session,) = site.extension.manager.live_sessions
        async with rest.follow(session.info.session_id) as stream:
            draft = (await stream.event("draft_waiting"))["draft"]
            assert not calling.done()
            await rest.decide(session.info.session_id, draft)
            result = await calling
    assert "42" in texts(result) and not result.is_error
