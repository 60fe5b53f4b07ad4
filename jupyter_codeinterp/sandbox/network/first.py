"""Runs in the sandbox before the kernel: ``python first.py SOCKET COMMAND…``.

The sandbox has only a loopback network. A process listens there and passes each connection to the
proxy's Unix socket, because programs reach proxies by host and port. The proxy knows tunnels alone,
so a request of plain HTTP gets one here. Then the kernel takes this process's place.
Standard library only, of any Python from 3.8 on.
"""

import os
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio  # the kernel's own process needs none

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
MOST = 256


def main() -> None:
    path, command = sys.argv[1], sys.argv[2:]
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(MOST)
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    for name in NAMES:
        os.environ[name] = os.environ[name.lower()] = f"http://{address}"
    child = os.fork()
    if child == 0:
        os.setsid()
        # A grandchild, because the kernel waits for its children.
        if os.fork():
            os._exit(0)
        relay(listener, path)
        os._exit(1)
    os.waitpid(child, 0)
    listener.close()
    os.execv(command[0], command)


def plain(head: bytes) -> "tuple[bytes, bytes]":
    """The host and port of a request of plain HTTP to a proxy, and its head for the host."""
    from urllib.parse import urlsplit

    method, url, rest = head.split(b" ", 2)
    parts = urlsplit(url)
    at = parts.netloc.rpartition(b"@")[2]
    has_port = b":" in at.rpartition(b"]")[2]
    path = (parts.path or b"/") + (b"?" + parts.query if parts.query else b"")
    place = at if has_port else at + b":80"
    return place, closing(b" ".join((method, path, rest)))


def closing(head: bytes) -> bytes:
    """A head that announces the end of the connection: the next request may be for another host."""
    dropped = (b"connection:", b"keep-alive:", b"proxy-")
    lines = [one for one in head.split(b"\r\n")[:-2] if not one.lower().startswith(dropped)]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


async def answered(reader: "asyncio.StreamReader", writer: "asyncio.StreamWriter") -> None:
    """Copy an answer of HTTP."""
    head = b""
    while head.split(b" ")[1:2] in ([], [b"100"]):
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(closing(head))
    await copied(reader, writer)


async def copied(reader: "asyncio.StreamReader", writer: "asyncio.StreamWriter") -> None:
    while True:
        data = await reader.read(65536)
        if not data:
            break
        writer.write(data)
        await writer.drain()
    writer.write_eof()


def relay(listener: socket.socket, path: str) -> None:
    import asyncio

    async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far = await asyncio.open_unix_connection(path)
            try:
                await through(reader, writer, far_reader, far)
            finally:
                far.close()
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            pass  # one side has closed its connection, or does not speak HTTP
        finally:
            writer.close()

    async def through(
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far: asyncio.StreamWriter,
    ) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        back = copied
        if asked.startswith(b"CONNECT "):
            far.write(asked)
        else:
            place, inner = plain(asked)
            far.write(b"CONNECT " + place + b" HTTP/1.1\r\n\r\n")
            answer = await far_reader.readuntil(b"\r\n\r\n")
            if answer.startswith(b"HTTP/1.1 200 "):
                far.write(inner)
                back = answered
            else:
                writer.write(answer)
        sending = asyncio.ensure_future(copied(reader, far))
        try:
            await back(far_reader, writer)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def serve() -> None:
        await asyncio.start_server(passed, sock=listener)
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
