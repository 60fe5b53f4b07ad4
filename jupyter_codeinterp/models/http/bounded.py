"""Limits on every answer: bytes and time of each body.

Any program may listen at an address. So we refuse a compressed body: we never ask for one, and
a few kilobytes may expand to gigabytes. Text is read as UTF-8, whatever encoding the server names.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from time import monotonic

import httpx2

from .answer import Unbounded

MOST_BYTES = 4_000_000
"""Maximum bytes of a list of models (OpenRouter's, with some 400, has 0.6 MB), of an error, and of
a stream between two events of the answer."""
MOST_LINES = 5_000
"""Lines of a stream without an event; for each, the SDK copies the event so far."""
BODY_TIMEOUT = 30.0
"""Seconds from the first byte to the last of a body that is no stream."""
PROGRESS_TIMEOUT = 900.0
"""Seconds in which a stream must bring an event of the answer, not only keep-alives."""
BYTES_PER_TOKEN = 1_000
"""Bytes of a streamed answer. An event with one token has 120 to 300."""


class BoundedBody(httpx2.AsyncByteStream):
    """A response body that raises Unbounded beyond its limits."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream
        self._all = MOST_BYTES
        self._lines: int | None = None
        self._seconds = BODY_TIMEOUT
        self._part = MOST_BYTES
        self._since = monotonic()

    def expect_stream(self, max_tokens: int) -> None:
        """Apply the limits of a streamed answer with at most this many tokens."""
        self._all = MOST_BYTES + BYTES_PER_TOKEN * max_tokens
        self._seconds = PROGRESS_TIMEOUT
        self.note_progress()

    def note_progress(self) -> None:
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
                raise Unbounded("the answer is too large")
            if monotonic() - self._since > self._seconds:
                raise Unbounded("the answer took too long")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def bound(response: httpx2.Response) -> None:
    """A client's hook for each response, before its body is read."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise Unbounded("an unrequested compressed answer")
    response.encoding = "utf-8"
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = BoundedBody(response.stream)
