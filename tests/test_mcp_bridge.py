"""``jupyter codeinterp mcp serve``: the official client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from jupyter_codeinterp.features.mcp_server import endpoint
from tests.rest_client import rest_client
from tests.site import Site
from tests.test_mcp import PATH, begun, texts, token
from tests.test_mcp import file as file  # a fixture

SERVE = ("-m", "jupyter_codeinterp.cli", "mcp", "serve")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_on_standard_input_runs_a_cell(site: Site, file: Path, mode: str) -> None:
    rest = await rest_client(site)
    environment = {**os.environ, "CODEINTERP_MCP_TOKEN": await token(rest)}
    program = StdioServerParameters(
        command=sys.executable, args=[*SERVE, "--url", site.url], env=environment
    )
    async with Client(program, mode=mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        given = {"notebook": PATH, "source": "print(6 * 7)"}
        calling = asyncio.ensure_future(client.call_tool("run_cell", given))
        session_id = await begun(site)
        async with rest.follow(session_id) as stream:
            await rest.decide(session_id, (await stream.event("draft_waiting"))["draft"])
        assert "42" in texts(await calling)
        calling = asyncio.ensure_future(client.call_tool("run_cell", given))
        async with rest.follow(session_id) as stream:
            await stream.event("draft_waiting", 2)
            calling.cancel()
            ended = await stream.event("turn_ended")
        assert ended["stop_reason"] == "cancelled"


async def test_a_running_server_is_found(site: Site, file: Path, jp_runtime_dir: Path) -> None:
    rest = await rest_client(site)
    info = {"url": f"{site.url}/", "pid": os.getpid(), "token": "", "root_dir": ""}
    (jp_runtime_dir / "jpserver-1.json").write_text(json.dumps(info))
    environment = {
        **os.environ,
        "CODEINTERP_MCP_TOKEN": await token(rest, "look"),
        "JUPYTER_RUNTIME_DIR": str(jp_runtime_dir),
    }
    program = StdioServerParameters(command=sys.executable, args=[*SERVE], env=environment)
    async with Client(program) as client:
        read = await client.call_tool("read_notebook", {"notebook": PATH})
        assert "import math" in texts(read)


async def test_it_waits_for_a_server_that_loads_the_package(
    site: Site, file: Path, jp_runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, loads = await token(await rest_client(site), "look"), threading.Event()
    load = endpoint._load
    monkeypatch.setattr(endpoint, "_load", lambda: loads.wait() and load())
    about = {"url": f"{site.url}/", "pid": os.getpid(), "token": "", "root_dir": ""}
    (jp_runtime_dir / "jpserver-1.json").write_text(json.dumps(about))
    environment = {
        **os.environ,
        "CODEINTERP_MCP_TOKEN": secret,
        "JUPYTER_RUNTIME_DIR": str(jp_runtime_dir),
    }
    program = await asyncio.create_subprocess_exec(
        sys.executable, *SERVE, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment
    )
    try:
        assert program.stdin and program.stdout and program.stderr
        told = (await program.stderr.readline()).decode()
        assert told.startswith(f"Waiting for {site.url}/"), told
    finally:
        loads.set()
    start = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}
    program.stdin.write(json.dumps(asked).encode() + b"\n")
    answered = json.loads(await program.stdout.readline())
    assert answered["result"]["serverInfo"]["name"] == "jupyter_codeinterp"
    program.stdin.close()
    await program.wait()


def test_without_a_token_it_says_how_to_make_one() -> None:
    environment = {name: v for name, v in os.environ.items() if name != "CODEINTERP_MCP_TOKEN"}
    ran = subprocess.run(
        [sys.executable, *SERVE], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2 and "jupyter codeinterp mcp make" in ran.stderr
