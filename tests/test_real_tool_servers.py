"""Servers that others have written, as tools of our agent (scripts/engines mcp-servers)."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ToolServerError
from jupyter_codeinterp.features.mcp_client.servers import ToolServers
from tests.test_tool_servers import Place, approved, named, opened, said
from tests.test_tool_servers import place as place  # a fixture

FOLDER = os.environ.get("CODEINTERP_MCP_SERVERS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="scripts/engines mcp-servers")
NODE = Path(FOLDER, "node_modules", "@modelcontextprotocol")


def python(name: str, *args: str) -> dict[str, Any]:
    return {"command": str(Path(FOLDER, "env", "bin", name)), "args": list(args)}


def node(name: str, *args: str) -> dict[str, Any]:
    return {"command": "node", "args": [str(NODE / name / "dist" / "index.js"), *args]}


async def begun(place: Place, **servers: Any) -> ToolServers:
    place.name(**servers)
    made = place.servers()
    for name in servers:
        await approved(made, name)
    for shown in (await made.shown())[0]:
        assert shown.state == "running", shown
    return made


async def test_time(place: Place) -> None:
    servers = await begun(place, time=python("mcp-server-time", "--local-timezone=UTC"))
    tools = await opened(servers)
    names = [tool.name for tool in tools.tools]
    assert names == ["mcp__time__get_current_time", "mcp__time__convert_time"]
    given = {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "UTC"}
    answer = await tools.call(named(tools, "convert_time"), given)
    assert "T03:00:00+00:00" in said(answer) and not answer.is_error
    wrong = await tools.call(named(tools, "convert_time"), {**given, "time": "noon"})
    assert wrong.is_error and said(wrong)


async def test_git(place: Place) -> None:
    repository = place.root / "work"
    git = await asyncio.create_subprocess_exec("git", "init", "-q", cwd=repository)
    assert await git.wait() == 0
    (repository / "a.txt").write_text("one")
    servers = await begun(place, git=python("mcp-server-git", "--repository", str(repository)))
    tools = await opened(servers)
    answer = await tools.call(named(tools, "git_status"), {"repo_path": str(repository)})
    assert "a.txt" in said(answer)
    assert len(tools.tools) >= 10


async def test_filesystem(place: Place) -> None:
    (place.root / "work" / "data.csv").write_text("a,b\n1,2\n")
    servers = await begun(place, files=node("server-filesystem", str(place.root / "work")))
    tools = await opened(servers)
    inside = await tools.call(
        named(tools, "read_text_file"), {"path": str(place.root / "work" / "data.csv")}
    )
    assert said(inside) == "a,b\n1,2\n"
    outside = await tools.call(named(tools, "read_text_file"), {"path": "/etc/passwd"})
    assert outside.is_error and "root:" not in said(outside)


async def test_everything(place: Place) -> None:
    servers = await begun(place, all=node("server-everything", "stdio"))
    tools = await opened(servers)
    assert said(await tools.call(named(tools, "echo"), {"message": "hi"})) == "Echo: hi"
    image = await tools.call(named(tools, "get-tiny-image"), {})
    assert any("image/png" in output["data"] for output in image.images)
    [shown], _ = await servers.shown()
    assert [tool.why for tool in shown.tools] == [""] * len(tools.tools), "no schema is refused"


@asynccontextmanager
async def everything(port: int) -> AsyncIterator[None]:
    """The server behind an address, until the end of the block."""
    command = ["node", str(NODE / "server-everything" / "dist" / "index.js"), "streamableHttp"]
    environment = {**os.environ, "PORT": str(port)}
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        while b"listening" not in (await process.stderr.readline()):
            pass
        yield
    finally:
        process.kill()
        await process.wait()


async def test_everything_over_http(place: Place) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place.name(all={"url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Test": "a"}})
    servers = place.servers()
    async with everything(port):
        digest = await approved(servers, "all")
        tools = await opened(servers)
        echo = named(tools, "echo")
        assert said(await tools.call(echo, {"message": "hi"})) == "Echo: hi"
    with pytest.raises(ToolServerError):
        await tools.pinned(echo)
    async with everything(port):
        await servers.approve(digest)
        assert said(await tools.call(echo, {"message": "back"})) == "Echo: back"
