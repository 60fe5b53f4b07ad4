"""Servers at a model's address that are none, written byte by byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol


class Writer(Protocol):
    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...


Answering = Callable[[str, Writer], Any]
"""Writes the whole answer to a request, whose first line it is given; may be a coroutine."""


@dataclass
class Stranger:
    """``requests``: head of each request. ``sent``: bytes that have gone out."""

    url: str
    requests: list[str] = field(default_factory=list)
    sent: int = 0


@asynccontextmanager
async def stranger(answering: Answering) -> AsyncIterator[Stranger]:
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                here.requests.append(head)
                writing = answering(head.split("\r\n")[0], _Counting(writer, here))
                if writing is not None:
                    await writing
                await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    here = Stranger(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield here
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Counting:
    def __init__(self, writer: asyncio.StreamWriter, stranger: Stranger) -> None:
        self._writer = writer
        self._stranger = stranger

    def write(self, data: bytes) -> None:
        self._stranger.sent += len(data)
        self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()


def saying(status: str, body: bytes = b"", **headers: str) -> Answering:
    """One answer to everything. ``content_type`` and the like are the headers."""

    def answer(_: str, writer: Writer) -> None:
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    return answer


def listing(value: object) -> Answering:
    return saying("200 OK", json.dumps(value).encode(), content_type="application/json")


def endless(status: str, part: bytes, *, pause: float = 0.0, first: bytes = b"") -> Answering:
    """``part`` again and again until the other side goes."""

    async def answer(_: str, writer: Writer) -> None:
        writer.write(
            f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n\r\n".encode() + first
        )
        while True:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def streaming(*parts: bytes, then: bytes = b"", times: int = 0) -> Answering:
    """An event stream of the Messages API: ``parts``, and ``then`` so many times."""

    async def answer(_: str, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        for part in parts:
            writer.write(part)
        for _n in range(times):
            writer.write(then)
            await writer.drain()

    return answer


def sse(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
