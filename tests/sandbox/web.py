"""A server of plain HTTP on this machine's loopback that keeps what it was asked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


@dataclass
class Web:
    """Every path says hello."""

    port: int = 0
    requests: list[str] = field(default_factory=list)
    """Each head, without its empty line."""
    bodies: list[bytes] = field(default_factory=list)
    keeps: bool = False
    """Also a connection that it was asked to close."""

    @property
    def at(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A connection is kept until the other side ends it.
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().removesuffix("\r\n\r\n")
                self.requests.append(head)
                headers = {
                    name.lower(): value
                    for name, _, value in (line.partition(": ") for line in head.split("\r\n"))
                }
                self.bodies.append(await self._body(headers, reader))
                body = b"hello"
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
                writer.write(b"Connection: keep-alive\r\n" if self.keeps else b"")
                writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                if not self.keeps and headers.get("connection") == "close":
                    break
        writer.close()

    async def _body(self, headers: dict[str, str], reader: asyncio.StreamReader) -> bytes:
        if "transfer-encoding" not in headers:
            return await reader.readexactly(int(headers.get("content-length", 0)))
        body = b""
        while size := int(await reader.readuntil(b"\n"), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
        return body


@asynccontextmanager
async def web(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> AsyncIterator[Web]:
    made = Web()
    async with handling(made.serve) as serve:
        server = await asyncio.start_server(serve, host, ssl=tls)
        made.port = server.sockets[0].getsockname()[1]
        try:
            yield made
        finally:
            server.close()


@asynccontextmanager
async def handling(serve: Serve) -> AsyncIterator[Serve]:
    """The same; at the end no connection is left."""
    tasks: set[asyncio.Task[None]] = set()

    async def kept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(serve(reader, writer))
        tasks.add(task)
        await asyncio.wait({task})
        writer.close()

    yield kept
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.01)
