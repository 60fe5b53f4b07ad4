"""HTTP/1.1 and server-sent events, written by hand: so a test can cut a stream at any byte,
tear a connection, or let it hang, and the fake sees when a client goes away.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Protocol

from .frames import Event
from .turns import Cut, HttpError, Speed, Turn

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER on, zero seconds: closing sends RST instead of FIN."""


@dataclass
class Exchange:
    """One request and what became of it. ``size``: bytes of its body. ``attempt``: how often
    that very body has come. Times are of ``time.monotonic``; ``said`` is the text that went out,
    each piece with its time. ``gone`` is set when the client left before the answer's end."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    size: int
    attempt: int
    received: float
    status: int = 0
    finished: float = 0.0
    said: list[tuple[float, str]] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    refused: HttpError | None = None

    def as_json(self) -> dict[str, Any]:
        kept = ("method", "path", "body", "size", "attempt", "received", "status", "finished")
        return {name: getattr(self, name) for name in kept} | {"gone": self.gone.is_set()}


class Answering(Protocol):
    """A turn as the events of one wire. ``delta``: the text that an event brings, None if it is
    no delta. ``ends``: whether it ends the answer. ``fault``: how an error in mid-stream is
    said. ``after``: what follows the last event."""

    after: bytes
    content_type: str

    def events(self, speed: Speed) -> Iterator[Event]: ...

    def frame(self, event: Event) -> bytes: ...

    def delta(self, event: Event) -> str | None: ...

    def ends(self, event: Event) -> bool: ...

    def fault(self, cut: Cut) -> Event: ...


class Wire:
    """Writes the answer to one request, and notices when the client goes away."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, exchange: Exchange
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._exchange = exchange
        self.early = b""
        """The beginning of the next request, of a client that has had its answer to the end."""

    async def json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self._head(status, {"content-type": "application/json", **(headers or {})}, len(data))
        self._writer.write(data)
        await self._writer.drain()

    async def error(self, error: HttpError) -> None:
        """In the shape of Anthropic's API."""
        inner: dict[str, Any] = {"type": error.type, "message": error.message}
        if error.details:
            inner["details"] = error.details
        body = {"type": "error", "error": inner, "request_id": "req_fake"}
        await self.json(error.status, body, error.headers)

    async def stream(self, turn: Turn, stream: Answering, speed: Speed) -> bool:
        """Whether the whole answer went out. Stops when the client has gone."""
        sending = asyncio.ensure_future(self._events(turn, stream, speed))
        leaving = asyncio.ensure_future(self._client_gone())
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done() and not isinstance(sending.exception(), ConnectionError):
                return sending.result()
            self._exchange.gone.set()
            raise ConnectionResetError
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _client_gone(self) -> None:
        """A client that waits for its answer sends nothing, until it closes; one that has had
        it may send the next request before this is called off."""
        with suppress(ConnectionError):
            self.early = await self._reader.read(1)
        if self.early:
            await asyncio.Event().wait()

    async def _events(self, turn: Turn, stream: Answering, speed: Speed) -> bool:
        await asyncio.sleep(speed.first)
        self._head(200, {"content-type": stream.content_type})
        deltas = 0
        for event in stream.events(speed):
            if turn.cut and _is_due(turn.cut, deltas, stream.ends(event)):
                await self._cut(turn.cut, stream)
                return False
            await self._chunks(stream.frame(event), speed.split)
            text = stream.delta(event)
            if text is not None:
                deltas += 1
                if text:
                    self._exchange.said.append((monotonic(), text))
                await asyncio.sleep(speed.delay)
        if stream.after:
            await self._chunks(stream.after, 0)
        if turn.cut:  # hang
            await asyncio.Event().wait()
        await self._chunks(b"", 0)
        return True

    async def _cut(self, cut: Cut, stream: Answering) -> None:
        if cut.how == "stall":
            await asyncio.Event().wait()
        elif cut.how == "reset":
            sock = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self._writer.transport.abort()
            raise ConnectionResetError
        if cut.how == "error":
            await self._chunks(stream.frame(stream.fault(cut)), 0)
        await self._chunks(b"", 0)

    def _head(self, status: int, headers: Mapping[str, str], length: int | None = None) -> None:
        self._exchange.status = status
        body = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
        lines = [f"HTTP/1.1 {status} -", "request-id: req_fake", body]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._writer.write("\r\n".join([*lines, "", ""]).encode())

    async def _chunks(self, data: bytes, size: int) -> None:
        """Each piece is an HTTP chunk and a write of its own; nothing at all is the end."""
        pieces = [data[at : at + size] for at in range(0, len(data), size)] if size else [data]
        for piece in pieces:
            self._writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await self._writer.drain()
            await asyncio.sleep(0)


def _is_due(cut: Cut, deltas: int, is_last: bool) -> bool:
    """After its number of deltas, at the latest before the end."""
    return cut.how != "hang" and (deltas == cut.after or is_last)
