"""The process between the Jupyter server and one MCP server, by the package ``mcp``.

It keeps the package and the server's answers out of the Jupyter server: an answer that takes long
to check harms only this process. It reads lines of JSON: the entry, then requests, one at a time.
It answers each with a line. It ends the server, and then itself, at the end of its input, also
while it works on a request.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
from typing import Any

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

INHERITED = ("LANG", "LC_ALL", "TMPDIR", "TZ")
"""Variables of this process that programs get besides the package's few; none is a key."""
FOLDER = "/"
"""Where programs start. They load files from there (``python -m``, ``npx``), and a sandboxed kernel
may write into the notebook's folder."""
LATEST = 300
"""Bytes of a program's standard error that explain its end."""
TIMEOUT = httpx2.Timeout(10.0, read=None)
"""Seconds to connect and to write. A call has a limit of its own."""
MOST_TOOLS = 200
MOST_TEXT = 300_000
"""Characters of an answer."""
LONGEST = 4_000_000
"""Characters of our answer: below the limit of its reader."""
MOST_MEMORY = 2_000_000_000
"""Bytes of addresses of this process, if it reads what another machine sends."""


async def main() -> None:
    logging.disable()  # The package logs what it cannot read, which may contain keys.
    lines: asyncio.Queue[bytes] = asyncio.Queue()
    working = asyncio.ensure_future(work(lines))
    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        lines.put_nowait(line)
    working.cancel()
    await asyncio.wait({working})


async def work(lines: asyncio.Queue[bytes]) -> None:
    entry = json.loads(await lines.get())
    if entry["url"] and sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    about = types.Implementation(name="jupyter_codeinterp", version=entry["version"])
    with tempfile.TemporaryFile() as errors:
        streams = transport(entry, errors)
        try:
            async with Client(streams, cache=None, client_info=about) as client:
                say({})
                while True:
                    say(await answer(client.session, **json.loads(await lines.get())))
        except Exception as error:
            say({"ended": f"{words(error)}. {last_words(errors)}"})


def say(answer: dict[str, Any]) -> None:
    line = json.dumps(answer)
    if len(line) > LONGEST:
        line = json.dumps({"refused": "It sent too much."})
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def transport(entry: dict[str, Any], errors: Any) -> Any:
    """Streams for the package. An address gets no request of a redirect to another origin, because
    headers belong to this address."""
    if entry["url"]:
        client = httpx2.AsyncClient(headers=entry["values"], timeout=TIMEOUT)
        return streamable_http_client(entry["url"], http_client=client)
    env = {name: os.environ[name] for name in INHERITED if name in os.environ}
    parameters = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={**env, **entry["values"]}, cwd=FOLDER
    )
    return stdio_client(parameters, errors)


def last_words(errors: Any) -> str:
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - LATEST))
    said = errors.read().decode("utf-8", "replace").strip()
    return f"It said: {said}" if said else ""


async def answer(session: Any, tool: str = "", arguments: Any = None) -> dict[str, Any]:
    """The result of a call, or the current tools. A server that cannot list them is connected anew
    with the next request, as an address that has restarted needs it."""
    if not tool:
        listed = (await session.list_tools()).tools[:MOST_TOOLS]
        return {"tools": [[one.name, one.description or "", schema_of(one)] for one in listed]}
    # Not ``call_tool``: it checks the result by a schema of the server's, with its patterns.
    params = types.CallToolRequestParams(name=tool, arguments=arguments)
    request = types.CallToolRequest(params=params)
    try:
        result = await session.send_request(request, types.CallToolResult)
    except (MCPError, ValueError) as error:
        if getattr(error, "code", 0) == types.CONNECTION_CLOSED:
            raise
        return {"refused": words(error)}
    text = "\n".join(map(text_of, result.content))
    return {"text": text[:MOST_TEXT], "is_error": bool(result.is_error)}


def schema_of(tool: types.Tool) -> str:
    return json.dumps(tool.input_schema, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def text_of(part: Any) -> str:
    text: str | None = getattr(getattr(part, "resource", part), "text", None)
    return f"[{part.type} not shown]" if text is None else text


def words(error: BaseException) -> str:
    """The first cause: exception groups of the package have no useful message."""
    if nested := getattr(error, "exceptions", ()):
        return words(nested[0])
    return str(getattr(error, "message", error))[:500] or type(error).__name__


if __name__ == "__main__":
    asyncio.run(main())
