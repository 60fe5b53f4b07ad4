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
from tests.test_tool_servers import Place, approved, opened
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
    return made


async def test_time(place: Place) -> None:
    servers = await begun(place, time=python("mcp-server-time", "--local-timezone=UTC"))
    tools = await opened(servers)
    names = [tool.name for tool in tools.values()]
    assert names == ["mcp__time__get_current_time", "mcp__time__convert_time"]
    given = {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "UTC"}
    answer = await servers.call(tools["convert_time"], given)
    assert "T03:00:00+00:00" in answer.text and not answer.is_error
    wrong = await servers.call(tools["convert_time"], {**given, "time": "noon"})
    assert wrong.is_error and wrong.text


async def test_git(place: Place) -> None:
    repository = place.root / "work"
    git = await asyncio.create_subprocess_exec("git", "init", "-q", cwd=repository)
    assert await git.wait() == 0
    (repository / "a.txt").write_text("one")
    servers = await begun(place, git=python("mcp-server-git", "--repository", str(repository)))
    tools = await opened(servers)
    answer = await servers.call(tools["git_status"], {"repo_path": str(repository)})
    assert "a.txt" in answer.text
    assert len(tools) >= 10


async def test_filesystem(place: Place) -> None:
    (place.root / "work" / "data.csv").write_text("a,b\n1,2\n")
    servers = await begun(place, files=node("server-filesystem", str(place.root / "work")))
    tools = await opened(servers)
    inside = await servers.call(
        tools["read_text_file"], {"path": str(place.root / "work" / "data.csv")}
    )
    assert inside.text == "a,b\n1,2\n"
    outside = await servers.call(tools["read_text_file"], {"path": "/etc/passwd"})
    assert outside.is_error and "root:" not in outside.text


async def test_everything(place: Place) -> None:
    servers = await begun(place, all=node("server-everything", "stdio"))
    tools = await opened(servers)
    assert (await servers.call(tools["echo"], {"message": "hi"})).text == "Echo: hi"


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
        await approved(servers, "all")
        tools = await opened(servers)
        echo = tools["echo"]
        assert (await servers.call(echo, {"message": "hi"})).text == "Echo: hi"
    with pytest.raises(ToolServerError):
        await servers.call(echo, {"message": "lost"})
    async with everything(port):
        assert (await servers.call(echo, {"message": "back"})).text == "Echo: back"
