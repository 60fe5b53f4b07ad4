"""No answer of a server is taken without end: each body has a most of bytes and of time.

What listens at an address may be anything. So a compressed body is refused (none was asked
for, and a few kilobytes of one can stand for gigabytes), and text is read as UTF-8, whatever
coding the server names.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from time import monotonic
from typing import Any

import httpx2

MOST_BYTES = 4_000_000
"""Of a list of models (OpenRouter's, with some 400, has 0.6 MB) or of an error; and of what a
stream may send without one event of the answer."""
MOST_LINES = 5_000
"""Of a stream without one event; each costs the SDK a copy of what has come of the event."""
MOST_SECONDS = 30.0
"""For a body that is no stream, from its first byte to its last."""
QUIET = 900.0
"""Seconds in which a stream that gives only signs of life must say something."""
WIRE_A_TOKEN = 1_000
"""Bytes of a streamed answer. An event that brings one token has 120 to 300."""
SAID_A_TOKEN = 64
"""Characters of an answer's content; tokens of code have 3 to 4."""
SAID_BESIDES = 200_000
"""Characters of signatures and the like, which are no tokens."""
MOST_BLOCKS = 200
"""Of one answer: pieces of text and tool calls. Each call of a tool that writes is a cell."""


class Unbounded(Exception):
    """A server sends more, or takes longer, than any model server has reason to."""


class BoundedBody(httpx2.AsyncByteStream):
    """A response's body that raises Unbounded where it exceeds what it may have."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream
        self._all = MOST_BYTES
        self._lines: int | None = None
        self._seconds = MOST_SECONDS
        self._part = MOST_BYTES
        self._since = monotonic()

    def is_answer(self, max_tokens: int) -> None:
        """It is a streamed answer of so many tokens at most, which may take its time."""
        self._all = MOST_BYTES + WIRE_A_TOKEN * max_tokens
        self._seconds = QUIET
        self.goes_on()

    def goes_on(self) -> None:
        """The stream has brought an event of the answer."""
        self._part = MOST_BYTES
        self._lines = MOST_LINES
        self._since = monotonic()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._all -= len(part)
            self._part -= len(part)
            if self._lines is not None:
                self._lines -= part.count(b"\n") + part.count(b"\r")
            if min(self._all, self._part, self._lines or 0) < 0:
                raise Unbounded("more than any answer has")
            if monotonic() - self._since > self._seconds:
                raise Unbounded("nothing for longer than any answer takes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


class Said:
    """How much an answer of ``max_tokens`` says. Raises Unbounded where that cannot be."""

    def __init__(self, max_tokens: int) -> None:
        self._characters = SAID_BESIDES + SAID_A_TOKEN * max_tokens
        self._blocks = MOST_BLOCKS

    def add(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        self._blocks -= kind == "content_block_start"
        delta = event.get("delta")
        if kind == "content_block_delta" and isinstance(delta, Mapping):
            self._characters -= sum(len(v) for v in delta.values() if isinstance(v, str))
        if min(self._blocks, self._characters) < 0:
            raise Unbounded("more than any answer has")


async def bound(response: httpx2.Response) -> None:
    """A client's hook for each response, before its body is read."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise Unbounded("a compressed answer, which nobody has asked for")
    response.encoding = "utf-8"
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = BoundedBody(response.stream)
