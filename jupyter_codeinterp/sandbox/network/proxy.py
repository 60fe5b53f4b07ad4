"""The proxy of one sandboxed kernel: a process outside of the sandbox that ends with it.

It takes CONNECT and requests of plain HTTP on a Unix socket. It looks a name up once, and
connects to an address that it has checked. Standard library only.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from .book import NOT_LISTED, NOT_PUBLIC, ConnectionLog
from .heads import LARGEST, BadRequest, RequestHead, head
from .rules import AllowedHosts, Target

if TYPE_CHECKING:
    import ssl

MOST = 64
"""Connections at once."""
HEAD_SECONDS = 10.0
LOOK_UP_SECONDS = 10.0
CONNECT_SECONDS = 10.0
IDLE_SECONDS = 900.0
ADDRESSES = 4
"""Addresses of a name that are tried."""
PIECE = 65_536
_KEEPS = (b"connection:", b"keep-alive:")
T = TypeVar("T")
Task = asyncio.Future[None]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RefusedRequest(Exception):
    """``status`` and words for the program in the sandbox. ``target``: also report this target to
    the person and the model."""

    def __init__(self, status: int, words: str, target: Target | None = None) -> None:
        super().__init__(words)
        self.status = status
        self.target = target


class Proxy:
    """``credentials``: by host, a header that is added to requests of plain HTTP, which then go out
    by TLS."""

    def __init__(
        self,
        rules: AllowedHosts,
        refused: ConnectionLog,
        made: ConnectionLog,
        credentials: Mapping[Target, tuple[str, str]] | None = None,
    ) -> None:
        self._rules = rules
        self._credentials = credentials or {}
        self._with_credentials = AllowedHosts(map(str, self._credentials))
        self._tls: ssl.SSLContext | None = None
        self._refused = refused
        self._made = made
        self._open = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end."""
        self._open += 1
        try:
            if self._open > MOST:
                raise RefusedRequest(503, "too many connections at once")
            await self._http(reader, writer)
        except RefusedRequest as error:
            if error.target is not None:
                # Record it before the program learns of it.
                self._refused.write(error.target, str(error))
            await _say(writer, error.status, str(error))
        except (OSError, asyncio.IncompleteReadError):
            pass  # one side has closed its connection
        finally:
            self._open -= 1
            writer.close()

    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _head(reader)
        secret = None if request.is_tunnel else self._credentials.get(request.target)
        if secret is not None and request.repeats:
            raise RefusedRequest(405, "its answer could repeat the key")
        far_reader, far = await self._connect(request.target, secret is not None)
        flow = _Flow(lambda: self._made.write(request.target))
        try:
            if request.is_tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await _both(flow, (reader, writer), (far_reader, far))
            else:
                await _one_request(request, secret, flow, (reader, writer), (far_reader, far))
        finally:
            far.close()

    async def _connect(self, asked: Target, by_tls: bool = False) -> Streams:
        rules = self._with_credentials if by_tls else self._rules
        if not rules.allows(asked):
            raise RefusedRequest(403, NOT_LISTED, asked)
        try:
            found = await _within(
                LOOK_UP_SECONDS,
                asyncio.get_running_loop().getaddrinfo(
                    asked.host, asked.port, type=socket.SOCK_STREAM
                ),
            )
        except (OSError, UnicodeError):
            raise RefusedRequest(502, f"{asked.host} has no address") from None
        addresses = dict.fromkeys(str(one[4][0]) for one in found)
        allowed = [one for one in addresses if rules.may_connect(one, asked.port)]
        if not allowed:
            raise RefusedRequest(403, NOT_PUBLIC, asked)
        for address in allowed[:ADDRESSES]:
            try:
                # An address, so that the name is not looked up again.
                return await _within(CONNECT_SECONDS, self._open_to(address, asked, by_tls))
            except OSError as error:
                if type(error).__name__ == "SSLCertVerificationError":
                    raise RefusedRequest(502, f"the certificate of {asked} is not valid") from None
        raise RefusedRequest(502, f"{asked} does not answer")

    def _open_to(self, address: str, asked: Target, by_tls: bool) -> Awaitable[Streams]:
        if not by_tls:
            return asyncio.open_connection(address, asked.port, limit=LARGEST)
        if self._tls is None:
            # The import takes 2 MB, and most proxies need no TLS.
            import ssl

            self._tls = ssl.create_default_context()
        return asyncio.open_connection(
            address, asked.port, limit=LARGEST, ssl=self._tls, server_hostname=asked.host
        )


async def _within(seconds: float, what: Awaitable[T]) -> T:
    """Await with a timeout. Raises OSError after these seconds."""
    try:
        return await asyncio.wait_for(what, seconds)
    except asyncio.TimeoutError:
        raise TimeoutError("it took too long") from None


async def _head(reader: asyncio.StreamReader) -> RequestHead:
    try:
        return head(await _within(HEAD_SECONDS, reader.readuntil(b"\r\n\r\n")))
    except BadRequest as error:
        raise RefusedRequest(400, str(error)) from None
    except asyncio.LimitOverrunError:
        raise RefusedRequest(431, "headers that are too large") from None
    except TimeoutError:
        raise RefusedRequest(408, "headers that come too slowly") from None


async def _say(writer: asyncio.StreamWriter, status: int, words: str) -> None:
    body = f"The sandbox refused this connection: {words}.\n".encode()
    first = f"HTTP/1.1 {status} Refused by the sandbox: {words}"
    lines = (first, "Content-Type: text/plain", f"Content-Length: {len(body)}", "Connection: close")
    writer.write("\r\n".join([*lines, "", ""]).encode("ascii", "replace") + body)
    with suppress(OSError):
        await _within(HEAD_SECONDS, writer.drain())


class _Flow:
    """Sends data and knows when it last did. Calls ``passes`` at first and before each send,
    because a tunnel may outlive the run that opened it."""

    def __init__(self, passes: Callable[[], None]) -> None:
        self.last = time.monotonic()
        self._passes = passes
        passes()

    async def send(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        self._passes()
        writer.write(data)
        await writer.drain()
        self.last = time.monotonic()

    async def is_idle(self) -> None:
        """Wait until nothing has passed for IDLE_SECONDS."""
        while True:
            left = self.last + IDLE_SECONDS - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(left)


async def _both(flow: _Flow, near: Streams, far: Streams) -> None:
    """Copy both ways until both sides end or the flow is idle."""
    out = asyncio.ensure_future(_all(flow, near[0], far[1]))
    back = asyncio.ensure_future(_all(flow, far[0], near[1]))
    await _until(flow, {out, back}, {out, back})


async def _one_request(
    request: RequestHead, secret: tuple[str, str] | None, flow: _Flow, near: Streams, far: Streams
) -> None:
    """Serve exactly one request, so that no second one can hide behind it."""
    await flow.send(request.forwarded(secret), far[1])
    out = asyncio.ensure_future(_body(flow, request.length, near[0], far[1]))
    back = asyncio.ensure_future(_reply(flow, far[0], near[1]))
    await _until(flow, {back}, {out, back})


async def _until(flow: _Flow, ended: set[Task], tasks: set[Task]) -> None:
    """Wait until ``ended`` are done, one has failed or the flow is idle. Then cancel all."""
    idle = asyncio.ensure_future(flow.is_idle())
    waiting = {idle, *tasks}
    try:
        while not idle.done() and not all(one.done() for one in ended):
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if any(one.exception() is not None for one in done):
                break
    finally:
        for one in (idle, *tasks):
            one.cancel()
        await asyncio.gather(idle, *tasks, return_exceptions=True)


async def _reply(flow: _Flow, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy the answer, and announce the end of the connection: the program must not send a second
    request on it, even if the host would keep it."""
    while True:
        try:
            lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[:-2]
        except asyncio.LimitOverrunError:
            raise ConnectionError("an answer that cannot be read") from None
        more = lines[0].split(b" ")[1:2] == [b"100"]
        kept = [one for one in lines if not one.lower().startswith(_KEEPS)]
        closing = [] if more else [b"Connection: close"]
        await flow.send(b"\r\n".join([*kept, *closing, b"", b""]), writer)
        if not more:
            return await _all(flow, reader, writer)


async def _all(flow: _Flow, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(PIECE):
        await flow.send(data, writer)
    if writer.can_write_eof():
        writer.write_eof()


async def _body(
    flow: _Flow, length: int | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Copy exactly the body. Raises OSError."""
    if length is not None:
        await _bytes(flow, length, reader, writer)
        return
    while size := await _size(reader):
        await flow.send(b"%x\r\n" % size, writer)
        await _bytes(flow, size, reader, writer)
        if await reader.readexactly(2) != b"\r\n":
            raise ConnectionError("a chunk that cannot be read")
        await flow.send(b"\r\n", writer)
    # Drop trailers.
    await flow.send(b"0\r\n\r\n", writer)


async def _size(reader: asyncio.StreamReader) -> int:
    try:
        line = await reader.readuntil(b"\r\n")
    except asyncio.LimitOverrunError:
        raise ConnectionError("a chunk that cannot be read") from None
    found = re.fullmatch(rb"([0-9A-Fa-f]{1,15})[ \t]*(;[\t -~]*)?\r\n", line)
    if found is None:
        raise ConnectionError("a chunk that cannot be read")
    return int(found[1], 16)


async def _bytes(
    flow: _Flow, count: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    while count:
        data = await reader.read(min(count, PIECE))
        if not data:
            raise ConnectionError("a body that ends early")
        count -= len(data)
        await flow.send(data, writer)


async def run(listener: socket.socket, sandbox: int, proxy: Proxy) -> None:
    """Serve until the process of the pidfd ``sandbox`` ends."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sandbox, ended.set)
    await asyncio.start_unix_server(proxy.serve, sock=listener, limit=LARGEST)
    await ended.wait()


def main() -> None:
    """Arguments: the descriptors of the listening socket, of the sandbox's first process, of the
    two books, and of the list and the credentials as JSON."""
    listener, sandbox, refused, made, policy = map(int, sys.argv[1:6])
    with os.fdopen(policy, "rb") as file:
        wanted = json.load(file)
    added = {Target(host, port): (name, value) for host, port, name, value in wanted["credentials"]}
    proxy = Proxy(AllowedHosts(wanted["allow"]), ConnectionLog(refused), ConnectionLog(made), added)
    asyncio.run(_until_the_end(socket.socket(fileno=listener), sandbox, proxy))


async def _until_the_end(listener: socket.socket, sandbox: int, proxy: Proxy) -> None:
    await run(listener, sandbox, proxy)
    # Do not wait for threads that still look up a name.
    os._exit(0)
