"""A program that speaks MCP on its standard input and output, within bounds.

The package's own transport reads lines of any length, passes on no death signal, and takes the
standard error of this process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

MOST_BYTES = 10_000_000
"""Most bytes of one message."""
LATEST = 1_000
"""Characters of standard error that explain a server's end."""
ENDS_WITHIN = 2.0
"""Seconds from the end of the program's input to SIGTERM, and from SIGTERM to SIGKILL."""
INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER")
"""Variables of this process that programs get; none is a key."""
_WINDOWS = ("APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "TEMP", "USERPROFILE")
_CHILD = Path(__file__).with_name("child.py")


class ServerProgram:
    """``errors``: the end of its standard error. ``fault``: why we ended it; "" if we did not."""

    def __init__(self) -> None:
        self.errors = ""
        self.fault = ""

    def add_errors(self, data: bytes) -> None:
        self.errors = (self.errors + data.decode("utf-8", "replace"))[-LATEST:]


@asynccontextmanager
async def stdio(
    command: Sequence[str],
    env: Mapping[str, str],
    folder: str,
    program: ServerProgram,
    received: Callable[[bytes], None],
    ended: Callable[[], None],
) -> AsyncIterator[Any]:
    """The program's read and write streams for a session of the package. ``received`` gets each
    message, and may raise ValueError to end the program. Calls ``ended`` at the end of its
    output. Raises OSError."""
    argv = list(command)
    if sys.platform == "linux":
        argv = [sys.executable, "-I", "-S", str(_CHILD), str(os.getpid()), *argv]
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**_inherited(), **env},
        cwd=folder,
        limit=MOST_BYTES,
        start_new_session=True,
    )
    from_server, read = anyio.create_memory_object_stream[Any](0)
    write, to_server = anyio.create_memory_object_stream[Any](0)
    tasks = [
        asyncio.ensure_future(_read(process, from_server, program, received, ended)),
        asyncio.ensure_future(_write(process, to_server, from_server)),
        asyncio.ensure_future(_listen(process, program)),
    ]
    try:
        yield read, write
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (from_server, read, write, to_server):
                await stream.aclose()


def _inherited() -> dict[str, str]:
    names = (*INHERITED, *(_WINDOWS if sys.platform == "win32" else ()))
    return {name: os.environ[name] for name in names if name in os.environ}


async def _read(
    process: asyncio.subprocess.Process,
    messages: Any,
    program: ServerProgram,
    received: Callable[[bytes], None],
    ended: Callable[[], None],
) -> None:
    output: Any = process.stdout
    async with messages:
        while True:
            try:
                line = await output.readuntil(b"\n")
                received(line)
            except asyncio.IncompleteReadError:
                ended()
                return
            except asyncio.LimitOverrunError:
                program.fault = f"It sent a message of more than {MOST_BYTES:,} bytes."
                ended()
                return
            except ValueError as error:
                program.fault = str(error)
                ended()
                return
            try:
                parsed = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                message: Any = SessionMessage(parsed)
            except ValueError:
                # Not a message, for example a line that the program prints.
                continue
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await messages.send(message)


async def _write(process: asyncio.subprocess.Process, messages: Any, from_server: Any) -> None:
    into: Any = process.stdin
    try:
        async with messages:
            async for one in messages:
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                into.write(text.encode() + b"\n")
                await into.drain()
    except OSError:
        # The program has ended, so no answer will come.
        await from_server.aclose()


async def _listen(process: asyncio.subprocess.Process, program: ServerProgram) -> None:
    errors: Any = process.stderr
    while data := await errors.read(4_096):
        program.add_errors(data)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close the program's input, then end it and its child processes."""
    if process.stdin is not None:
        process.stdin.close()
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if await _has_ended(process):
            break
        _signal(process, number)
    await _has_ended(process)
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # Its child processes.
    transport: Any = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    # Not ``process.wait``: that also waits for children which hold the pipes.
    for _ in range(round(ENDS_WITHIN / 0.02)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(0.02)
    return False


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        elif process.returncode is None:
            process.send_signal(number)
