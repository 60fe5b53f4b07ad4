"""One connection to an MCP server through the package ``mcp``: lists its tools and calls them.

Import this on first use only: the package takes seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import httpx2
import mcp_types as types
import msgspec
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from ..._version import __version__
from ...base.errors import ToolServerError
from ...base.visible import visible_line
from ...wire.ops import Output
from .entries import NEUTRAL, ServerEntry
from .listing import OutsideAnswer, RawTool
from .stdio import ServerProgram, stdio

# -------------------------------------------------------------------------------------------------
# A tool's result as outputs of a cell, so that the limits of outputs apply.

MOST_PARTS = 50
_IMAGES = ("image/png", "image/jpeg")


def outputs_of(result: types.CallToolResult) -> tuple[Output, ...]:
    parts = list(_parts(result.content[:MOST_PARTS]))
    if len(result.content) > MOST_PARTS:
        parts.append(_text(f"[{len(result.content) - MOST_PARTS} more parts left out]"))
    if not parts and result.structured_content is not None:
        parts.append(_text(_json(result.structured_content)))
    return tuple(parts)


def _parts(content: Any) -> Iterator[Output]:
    for part in content:
        if isinstance(part, types.TextContent):
            yield _text(part.text)
        elif isinstance(part, types.ImageContent):
            if part.mime_type in _IMAGES:
                yield _output({part.mime_type: part.data})
            else:
                yield _text(f"[image not shown: {part.mime_type}]")
        elif isinstance(part, types.AudioContent):
            yield _text(f"[sound not shown: {part.mime_type}]")
        elif isinstance(part, types.ResourceLink):
            yield _text(f"[resource {part.name}: {part.uri}]")
        elif isinstance(part, types.EmbeddedResource):
            resource = part.resource
            if isinstance(resource, types.TextResourceContents):
                yield _text(f"[resource {resource.uri}]\n{resource.text}")
            else:
                yield _text(f"[resource {resource.uri}: {len(resource.blob):,} characters of data]")


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return "[the result is no plain JSON]"


def _text(text: str) -> Output:
    return _output({"text/plain": text})


def _output(data: dict[str, str]) -> Output:
    return {"output_type": "display_data", "data": data, "metadata": {}}


# -------------------------------------------------------------------------------------------------
# Streamable HTTP through the package ``mcp``, with limits on what a server may send.

TIMEOUT = httpx2.Timeout(10.0, read=None)
"""Seconds to connect and to write. A call has a limit of its own."""
SESSION = "mcp-session-id"


class _Counted(httpx2.AsyncByteStream):
    """A body that shows each part to ``received``."""

    def __init__(self, stream: httpx2.AsyncByteStream, received: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._received = received

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._received(part)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def http(
    url: str,
    headers: Mapping[str, str],
    received: Callable[[bytes], None],
    lost: Callable[[], None],
) -> AsyncIterator[Any]:
    """Read and write streams for a session of the package. ``received`` gets each part of an
    answer, and may raise ValueError to end it. Calls ``lost`` when the server does not know the
    session, as after a restart. Follows no redirects: headers belong to this address."""

    async def bound(response: httpx2.Response) -> None:
        if response.status_code == HTTPStatus.NOT_FOUND and SESSION in response.request.headers:
            lost()
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise ValueError("It sent a compressed answer, which no one asked for.")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Counted(response.stream, received)

    async with (
        httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity", **headers},
            timeout=TIMEOUT,
            event_hooks={"response": [bound]},
        ) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams[:2]


STARTS_WITHIN = 30.0
"""Seconds. ``npx`` and ``uvx`` may download the program first."""
LISTS_WITHIN = 10.0
MOST_PAGES = 20
MOST_TOOLS = 1_000
"""Most tools that are read from a server's list."""
MOST_BYTES = 20_000_000
MOST_MESSAGES = 10_000
MOST_VALUES = 20_000
"""Most bytes, messages and JSON values (see ``values``) that a server may send between two of our
requests. The package checks each value on the event loop, which takes up to 20 µs."""
CLOSES_WITHIN = 8.0
NOT_IN_WORDS = "The server refused it: {words}"


class ServerConnection:
    def __init__(
        self, entry: ServerEntry, env: Mapping[str, str], headers: Mapping[str, str]
    ) -> None:
        self._entry = entry
        self._env = env
        self._headers = headers
        self._program = ServerProgram()
        self._ready = asyncio.Event()
        self._over = asyncio.Event()
        self._client: Client | None = None
        self._running: asyncio.Task[None] | None = None
        self._bytes = self._messages = self._values = 0
        self._inside, self._tail = False, b""
        """The state of ``values`` between two parts of an answer."""

    @property
    def alive(self) -> bool:
        return self._client is not None

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
            words = f"It did not answer within {STARTS_WITHIN:.0f} s."
            error = None if self._running.cancelled() else self._running.exception()
            words = words if error is None else _words(error)
            raise ToolServerError("not_started", self._why(words))

    async def _run(self) -> None:
        # The package's task groups must be entered and left in one task.
        about = types.Implementation(name="jupyter_codeinterp", version=__version__)
        try:
            async with Client(
                self._streams(), mode="auto", cache=None, client_info=about
            ) as self._client:
                self._ready.set()
                await self._over.wait()
        finally:
            self._client = None

    def _streams(self) -> Any:
        entry = self._entry
        if entry.url:
            return http(entry.url, self._headers, self._received, self._ended)
        command = (entry.command, *entry.args)
        folder = entry.cwd or NEUTRAL
        return stdio(command, self._env, folder, self._program, self._received, self._ended)

    def _received(self, data: bytes) -> None:
        count, self._inside, self._tail = values(data, self._inside, self._tail)
        if data.endswith(b"\n"):  # A JSON string contains no line end.
            self._inside, self._tail = False, b""
        self._values += count
        self._bytes += len(data)
        self._messages += 1
        if self._bytes > MOST_BYTES or self._messages > MOST_MESSAGES or self._values > MOST_VALUES:
            raise ValueError("It sent too much, so it was ended.")

    def _ended(self) -> None:
        """The program has closed its output, or an address no longer knows us."""
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
                RawTool(tool.name, tool.description, tool.input_schema) for tool in page.tools
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
        return OutsideAnswer(outputs_of(result), bool(result.is_error))

    @property
    def _session(self) -> Any:
        if self._client is None:
            raise ToolServerError("ended", self._why("The server has ended."))
        return self._client.session

    async def _asked(self, request: Any, within: float) -> Any:
        """The request's result. Cancelling this cancels the request on the server."""
        self._bytes = self._messages = self._values = 0
        self._inside, self._tail = False, b""
        try:
            return await asyncio.wait_for(request, within)
        except asyncio.TimeoutError:
            words = f"The server did not answer within {within:g} s. It may have done something."
            raise ToolServerError("too_slow", words) from None
        except MCPError as error:
            if not self.alive or self._program.fault:
                words = "The server ended during this. It may have done something."
                raise ToolServerError("ended", self._why(words)) from None
            raise ToolServerError("refused", NOT_IN_WORDS.format(words=_words(error))) from None
        except Exception as error:
            words = f"The answer breaks the protocol: {_words(error)}"
            raise ToolServerError("refused", words) from None

    def _why(self, words: str) -> str:
        """``words`` with the program's fault and its last errors. The caller removes keys."""
        fault, errors = self._program.fault, visible_line(self._program.errors[-300:])
        return " ".join(filter(None, (words, fault, f"It said: {errors}" if errors else "")))

    async def close(self) -> None:
        self._over.set()
        if self._running is not None:
            # A start does not check whether it should end: cancel it at once.
            within = CLOSES_WITHIN if self._ready.is_set() else 0
            await asyncio.wait({self._running}, timeout=within)
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)


def values(data: bytes, inside: bool, tail: bytes) -> tuple[int, bool, bytes]:
    """The number of strings, lists, objects and commas in a part of a JSON text, and the arguments
    for the next part. ``inside``: whether the part begins in a string; ``tail``: a backslash
    before it."""
    plain = (tail + data).replace(b"\\\\", b"")
    tail = b"\\" if plain.endswith(b"\\") else b""
    plain = plain.replace(b'\\"', b"")
    count = plain.count(b'"')
    if count > 2 * MOST_VALUES:
        return count, inside, tail
    outside = b"".join(plain.split(b'"')[inside::2])
    return (
        (count + (not inside)) // 2 + sum(map(outside.count, (b"[", b"{", b","))),
        inside != count % 2,
        tail,
    )


def _words(error: BaseException) -> str:
    """The first cause in one line: exception groups of the package have no useful message."""
    nested = getattr(error, "exceptions", ())
    if nested:
        return _words(nested[0])
    return visible_line(str(error)[:500]) or type(error).__name__
