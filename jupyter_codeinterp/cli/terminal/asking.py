"""Asks the person at the terminal for a line of text."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

_LONGEST = 100_000


class InputClosed(Exception):
    """The terminal's input ended (Ctrl-D, or closed)."""


async def ask(prompt: str) -> str:
    """Ask for a line. Discards what was typed before the question. Raises InputClosed."""
    _forget_typed()
    sys.stdout.write(prompt)
    sys.stdout.flush()
    if sys.platform == "win32":
        typed = await asyncio.to_thread(sys.stdin.readline)
    else:
        typed = await _line()
    if not typed:
        raise InputClosed
    return typed.partition("\n")[0].strip()


def _forget_typed() -> None:
    """Drop pending terminal input: what a person typed before the question is no answer. Raises
    InputClosed."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
        return
    import termios

    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except termios.error:
        raise InputClosed from None


async def agrees(question: str) -> bool:
    """Whether the answer is yes. A closed input counts as no."""
    try:
        return (await ask(question)).casefold() in ("y", "yes")
    except InputClosed:
        return False


async def _line() -> str:
    """Read a line without blocking the event loop; can be cancelled."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()
    typed = bytearray()
    fd = sys.stdin.fileno()

    def read() -> None:
        try:
            piece = os.read(fd, 4096)
        except OSError:
            piece = b""
        typed.extend(piece)
        if not line.done() and (not piece or b"\n" in piece or len(typed) > _LONGEST):
            line.set_result(bytes(typed) if piece else b"")

    loop.add_reader(fd, read)
    try:
        return (await line).decode("utf-8", "replace")
    finally:
        loop.remove_reader(fd)


class NoEditor(Exception):
    pass


def edit(source: str, suffix: str) -> str:
    """Let the person edit the source in their editor, and wait for it. Raises NoEditor."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="codeinterp-") as folder:
        file = Path(folder, f"cell{suffix}")
        file.write_text(f"{source}\n", encoding="utf-8", errors="replace", newline="\n")
        try:
            code = subprocess.call([*command, str(file)])
        except OSError as error:
            raise NoEditor(f"Cannot start {command[0]}: {error.strerror}. Set EDITOR.") from None
        if code:
            raise NoEditor(f"{command[0]} failed. The cell was not changed.")
        try:
            edited = file.read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise NoEditor("Cannot read the text from the editor.") from None
    return edited.removesuffix("\n")
