"""Runs in the sandbox before the kernel, with the kernel's Python: ``first.py SOCKET COMMAND…``.

The network there is the loopback alone. A process listens on it and passes each connection to the
proxy's Unix socket, for programs know proxies by host and port. Then the kernel takes this
process's place. Standard library only, of any Python from 3.8 on.
"""

import os
import socket
import sys

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
MOST = 256


def main() -> None:
    path, command = sys.argv[1], sys.argv[2:]
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(MOST)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    for name in NAMES:
        os.environ[name] = os.environ[name.lower()] = address
    child = os.fork()
    if child == 0:
        os.setsid()
        # Not the kernel's child: it waits for its own only.
        if os.fork():
            os._exit(0)
        relay(listener, path)
        os._exit(1)
    os.waitpid(child, 0)
    listener.close()
    os.execv(command[0], command)


def relay(listener: socket.socket, path: str) -> None:
    import asyncio

    async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far = await asyncio.open_unix_connection(path)
            try:
                await asyncio.gather(copied(reader, far), copied(far_reader, writer))
            finally:
                far.close()
        except OSError:
            pass  # one of the two sides has gone
        finally:
            writer.close()

    async def copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            data = await reader.read(65536)
            if not data:
                break
            writer.write(data)
            await writer.drain()
        writer.write_eof()

    async def serve() -> None:
        await asyncio.start_server(passed, sock=listener)
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
