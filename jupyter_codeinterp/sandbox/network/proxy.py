"""The proxy of one sandboxed kernel: a process outside of the sandbox that ends with it.

It takes CONNECT on a Unix socket, looks the name up once, and opens a tunnel to an address that it
has checked. It reads nothing of what passes. Standard library only.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from .book import NOT_LISTED, NOT_PUBLIC, ConnectionLog
from .rules import AllowedHosts, Target, target

MOST = 64
"""Connections at once."""
LARGEST = 32_768
"""Bytes of a request's head."""
SECONDS = 10.0
"""For a head, for looking up a name, and for connecting to each of its addresses."""
PIECE = 65_536
_CONNECT = re.compile(rb"CONNECT ([!-~]+) HTTP/1\.[01]\r\n")
T = TypeVar("T")


class RefusedRequest(Exception):
    """``status`` and words for the program in the sandbox. ``target``: also report this target to
    the person and the model."""

    def __init__(self, status: int, words: str, target: Target | None = None) -> None:
        super().__init__(words)
        self.status = status
        self.target = target


class Proxy:
    def __init__(self, rules: AllowedHosts, log: ConnectionLog) -> None:
        self._rules = rules
        self._log = log
        self._open = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end."""
        self._open += 1
        try:
            if self._open > MOST:
                raise RefusedRequest(503, "too many connections at once")
            await self._tunnel(reader, writer)
        except RefusedRequest as error:
            if error.target is not None:
                # Record it before the program learns of it.
                self._log.write(error.target, str(error))
            await _say(writer, error.status, str(error))
        except (OSError, asyncio.IncompleteReadError):
            pass  # one side has closed its connection
        finally:
            self._open -= 1
            writer.close()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await _asked(reader)
        far_reader, far = await self._connect(asked)
        passes = partial(self._log.write, asked)
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_copied(passes, reader, far), _copied(passes, far_reader, writer))
        finally:
            far.close()

    async def _connect(self, asked: Target) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if not self._rules.allows(asked):
            raise RefusedRequest(403, NOT_LISTED, asked)
        try:
            loop = asyncio.get_running_loop()
            looking = loop.getaddrinfo(asked.host, asked.port, type=socket.SOCK_STREAM)
            found = await _in_time(looking)
        except (OSError, UnicodeError):
            raise RefusedRequest(502, f"{asked.host} has no address") from None
        addresses = dict.fromkeys(str(one[4][0]) for one in found)
        allowed = [one for one in addresses if self._rules.may_connect(one, asked.port)]
        if not allowed:
            raise RefusedRequest(403, NOT_PUBLIC, asked)
        for address in allowed:
            with suppress(OSError):
                # An address, so that the name is not looked up again.
                return await _in_time(asyncio.open_connection(address, asked.port))
        raise RefusedRequest(502, f"{asked} does not answer")


async def _in_time(what: Awaitable[T]) -> T:
    """Raises OSError after ``SECONDS``."""
    try:
        return await asyncio.wait_for(what, SECONDS)
    except asyncio.TimeoutError:
        raise TimeoutError("it took too long") from None


async def _asked(reader: asyncio.StreamReader) -> Target:
    """The target of a CONNECT request. Its headers do not count."""
    try:
        head = await _in_time(reader.readuntil(b"\r\n\r\n"))
    except asyncio.LimitOverrunError:
        raise RefusedRequest(431, "headers that are too large") from None
    except TimeoutError:
        raise RefusedRequest(408, "headers that come too slowly") from None
    found = _CONNECT.match(head)
    if found is None:
        raise RefusedRequest(400, "not a CONNECT request")
    try:
        return target(found[1].decode("ascii"))
    except ValueError as error:
        raise RefusedRequest(400, str(error)) from None


async def _say(writer: asyncio.StreamWriter, status: int, words: str) -> None:
    body = f"The sandbox refused this connection: {words}.\n".encode()
    first = f"HTTP/1.1 {status} Refused by the sandbox: {words}"
    lines = (first, "Content-Type: text/plain", f"Content-Length: {len(body)}", "Connection: close")
    writer.write("\r\n".join([*lines, "", ""]).encode("ascii", "replace") + body)
    with suppress(OSError):
        await _in_time(writer.drain())


async def _copied(
    passes: Callable[[], None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Copy to the end. Calls ``passes`` before each piece: a tunnel may outlive the run that opened
    it."""
    while data := await reader.read(PIECE):
        passes()
        writer.write(data)
        await writer.drain()
    writer.write_eof()


async def run(listener: socket.socket, sandbox: int, proxy: Proxy) -> None:
    """Serve until the process of the pidfd ``sandbox`` ends."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sandbox, ended.set)
    await asyncio.start_unix_server(proxy.serve, sock=listener, limit=LARGEST)
    await ended.wait()
    # Do not wait for threads that still look up a name.
    os._exit(0)


def main() -> None:
    """Arguments: the descriptors of the listening socket, of the sandbox's first process and of the
    log, and the allowed hosts."""
    listener, sandbox, log = map(int, sys.argv[1:4])
    proxy = Proxy(AllowedHosts(sys.argv[4:]), ConnectionLog(log))
    asyncio.run(run(socket.socket(fileno=listener), sandbox, proxy))
