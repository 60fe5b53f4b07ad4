"""One connection to an MCP server through the package ``mcp``: lists its tools and calls them.

Import this on first use only: the package takes seconds.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from ..._version import __version__
from ...base.errors import ToolServerError
from ...base.sentences import Sentence, together
from ...base.visible import visible_line
from ...wire.ops import Output
from .entries import NEUTRAL, ServerEntry
from .guard import LONGEST_MESSAGE, TOO_LONG, TOO_MUCH, Flow, TooMuch
from .tools import OutsideAnswer, RawTool

GUARD = Path(__file__).with_name("guard.py")
INHERITED = ("LANG", "LC_ALL", "TMPDIR", "TZ")
"""Variables of this process that programs get besides the package's few; none is a key."""
TIMEOUT = httpx2.Timeout(10.0, read=None)
"""Seconds to connect and to write. A call has a limit of its own."""
SESSION = "mcp-session-id"
STARTS_WITHIN = 30.0
"""Seconds. ``npx`` and ``uvx`` may download the program first."""
LISTS_WITHIN = 10.0
CLOSES_WITHIN = 8.0
MOST_PAGES = 20
MOST_TOOLS = 1_000
"""Most tools that are read from a server's list."""
COMPRESSED = Sentence("It sent a compressed answer, which no one asked for.")
GUARDS = {
    TOO_LONG: Sentence("It sent a message of more than {limit:,} bytes.", limit=LONGEST_MESSAGE),
    TOO_MUCH: Sentence("It sent too much, so it was ended."),
}
"""The sentences of ``guard.py``, which cannot import ``Sentence``, by their text."""
ENDED = Sentence("The server ended during this. It may have done something.")
_IMAGES = ("image/png", "image/jpeg")

_OURS = ContextVar("codeinterp_mcp_client", default=False)
"""Whether the task was started by this client; tasks that it starts inherit the value."""


class _NotOurs(logging.Filter):
    """The package logs what it cannot read, which may contain keys. Logs of others stay."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _OURS.get()


for _name in list(logging.Logger.manager.loggerDict):
    if _name.startswith("mcp."):
        logging.getLogger(_name).addFilter(_NotOurs())


class ServerConnection:
    def __init__(
        self, entry: ServerEntry, env: Mapping[str, str], headers: Mapping[str, str]
    ) -> None:
        self._entry = entry
        self._env = env
        self._headers = headers
        self._flow = Flow()
        self._report: IO[bytes] | None = None
        """A program's guard writes here why it ended."""
        self._reported = b""
        self._ready = asyncio.Event()
        self._over = asyncio.Event()
        self._client: Client | None = None
        self._running: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        return self._client is not None and not self._read_report()

    async def start(self) -> None:
        """Connect, and agree on a version. Raises ToolServerError ``not_started``."""
        self._running = asyncio.ensure_future(self._run())
        ready = asyncio.ensure_future(self._ready.wait())
        try:
            both: set[asyncio.Future[Any]] = {self._running, ready}
            await asyncio.wait(both, timeout=STARTS_WITHIN, return_when="FIRST_COMPLETED")
        finally:
            ready.cancel()
            if not self._ready.is_set():
                await self.close()
        if not self._ready.is_set():
            words: str = Sentence("It did not answer within {limit:.0f} s.", limit=STARTS_WITHIN)
            error = None if self._running.cancelled() else self._running.exception()
            words = words if error is None else _words(error)
            raise ToolServerError("not_started", together(words, self._last_words()))

    async def _run(self) -> None:
        # The package's task groups must be entered and left in one task.
        _OURS.set(True)
        about = types.Implementation(name="jupyter_codeinterp", version=__version__)
        transport: Any = self._address() if self._entry.url else self._program()
        try:
            async with Client(transport, cache=None, client_info=about) as self._client:
                self._ready.set()
                await self._over.wait()
        finally:
            self._client = None

    @asynccontextmanager
    async def _program(self) -> AsyncIterator[Any]:
        entry = self._entry
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        program = StdioServerParameters(
            command=sys.executable,
            args=["-I", "-S", str(GUARD), str(os.getpid()), entry.command, *entry.args],
            env={**inherited, **self._env},
            cwd=entry.cwd or NEUTRAL,
        )
        with tempfile.TemporaryFile() as report:
            self._report = report
            try:
                errors: Any = report
                async with stdio_client(program, errors) as streams:
                    yield streams
            finally:
                self._read_report()
                self._report = None

    @asynccontextmanager
    async def _address(self) -> AsyncIterator[Any]:
        """Streams for the package. It follows no redirects to another origin: headers belong to
        this address."""
        async with (
            httpx2.AsyncClient(
                headers={"Accept-Encoding": "identity", **self._headers},
                timeout=TIMEOUT,
                event_hooks={"response": [self._bound]},
            ) as client,
            streamable_http_client(self._entry.url, http_client=client) as streams,
        ):
            yield streams

    async def _bound(self, response: httpx2.Response) -> None:
        if response.status_code == HTTPStatus.NOT_FOUND and SESSION in response.request.headers:
            self._give_up()  # It does not know the session, as after a restart.
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise ValueError(COMPRESSED)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Counted(response.stream, self._flow, self._give_up)

    def _give_up(self, why: str = "") -> None:
        self._reported = why.encode()
        self._client = None
        self._over.set()

    async def list_tools(self) -> list[RawTool]:
        """The server's current tools, unchecked. Raises ToolServerError."""
        found: list[RawTool] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
            page = await self._asked(self._session.list_tools(params=params), LISTS_WITHIN)
            found += (
                RawTool(tool.name, tool.description or "", tool.input_schema) for tool in page.tools
            )
            cursor = page.next_cursor
            if not cursor or len(found) > MOST_TOOLS:
                break
        return found[:MOST_TOOLS]

    async def call(self, tool: str, arguments: dict[str, Any], within: float) -> OutsideAnswer:
        """Raises ToolServerError ``ended``, ``too_slow`` or ``refused``."""
        # Not ``call_tool``: it checks the result by a schema of the server's, with its patterns.
        request = types.CallToolRequest(
            params=types.CallToolRequestParams(name=tool, arguments=arguments)
        )
        asked = self._session.send_request(request, types.CallToolResult)
        result = await self._asked(asked, within)
        return answer_of(result)

    @property
    def _session(self) -> Any:
        if self._client is None:
            ended = Sentence("The server has ended.")
            raise ToolServerError("ended", together(ended, self._last_words()))
        return self._client.session

    async def _asked(self, request: Any, within: float) -> Any:
        """The request's result. Cancelling this cancels the request on the server."""
        self._flow.begin()
        try:
            return await asyncio.wait_for(request, within)
        except asyncio.TimeoutError:
            words = Sentence(
                "The server did not answer within {within:g} s. It may have done something.",
                within=within,
            )
            raise ToolServerError("too_slow", words) from None
        except MCPError as error:
            if not self.alive:
                raise ToolServerError("ended", together(ENDED, self._last_words())) from None
            words = Sentence("The server refused it: {words}", words=_words(error))
            raise ToolServerError("refused", words) from None
        except Exception as error:
            words = Sentence("The answer breaks the protocol: {words}", words=_words(error))
            raise ToolServerError("refused", words) from None

    def _read_report(self) -> bytes:
        if self._report is not None:
            self._report.seek(0)
            self._reported = self._report.read()
        return self._reported

    def _last_words(self) -> str:
        """Why the program has ended; "" if it has not. The caller removes keys."""
        words = visible_line(self._read_report().decode("utf-8", "replace").strip())
        return GUARDS.get(words, words)

    async def close(self) -> None:
        self._over.set()
        if self._running is not None:
            # A start does not check whether it should end: cancel it at once.
            within = CLOSES_WITHIN if self._ready.is_set() else 0
            await asyncio.wait({self._running}, timeout=within)
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)


class _Counted(httpx2.AsyncByteStream):
    """The body of an answer, passed on in whole lines, which are counted."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, flow: Flow, give_up: Callable[[str], None]
    ) -> None:
        self._stream = stream
        self._flow = flow
        self._give_up = give_up

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held = bytearray()
        try:
            async for part in self._stream:
                held += part
                if len(held) > LONGEST_MESSAGE:
                    raise TooMuch(TOO_LONG)
                if b"\n" in part:
                    end = held.rindex(b"\n") + 1
                    lines = bytes(held[:end])
                    del held[:end]
                    self._flow.add(lines)
                    yield lines
            self._flow.add(bytes(held))
            yield bytes(held)
        except TooMuch as fault:
            self._give_up(str(fault))
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()


def answer_of(result: types.CallToolResult) -> OutsideAnswer:
    found: list[str] = []
    images: list[Output] = []
    for part in result.content:
        if isinstance(part, types.ImageContent) and part.mime_type in _IMAGES:
            data = {part.mime_type: part.data}
            images.append({"output_type": "display_data", "data": data, "metadata": {}})
        else:
            found.append(_text_of(part))
    if not result.content and result.structured_content is not None:
        found.append(json.dumps(result.structured_content, ensure_ascii=False))
    return OutsideAnswer("\n".join(found), tuple(images), bool(result.is_error))


def _text_of(part: types.ContentBlock) -> str:
    if isinstance(part, types.TextContent):
        return part.text
    if isinstance(part, (types.ImageContent, types.AudioContent)):
        return f"[{part.type} not shown: {part.mime_type}]"
    if isinstance(part, types.ResourceLink):
        return f"[resource {part.name}: {part.uri}]"
    resource = part.resource
    if isinstance(resource, types.TextResourceContents):
        return f"[resource {resource.uri}]\n{resource.text}"
    return f"[resource {resource.uri}: {len(resource.blob):,} characters of data]"


def _words(error: BaseException) -> str:
    """The first cause in one line: exception groups of the package have no useful message."""
    nested = getattr(error, "exceptions", ())
    if nested:
        return _words(nested[0])
    if error.args and isinstance(error.args[0], Sentence):
        return error.args[0]
    return visible_line(str(error)[:500]) or type(error).__name__
