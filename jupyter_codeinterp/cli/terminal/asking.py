"""Questions to the person at the terminal, answered with a line each."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EDITORS = ("sensible-editor", "nano", "vim", "vi")
"""Where neither VISUAL nor EDITOR is set."""
_LONGEST = 100_000


class NobodyThere(Exception):
    """The terminal has no more to say (Ctrl-D, or it is closed)."""


async def ask(prompt: str) -> str:
    """A line. What was typed before the question is no answer to it, and is thrown away.
    Raises NobodyThere."""
    _forget_what_was_typed()
    sys.stdout.write(prompt)
    sys.stdout.flush()
    if sys.platform == "win32":
        typed = await asyncio.to_thread(sys.stdin.readline)
    else:
        typed = await _line()
    if not typed:
        raise NobodyThere
    return typed.partition("\n")[0].strip()


def _forget_what_was_typed() -> None:
    try:
        import termios
    except ImportError:
        return
    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except termios.error:
        raise NobodyThere from None


async def _line() -> str:
    """Read beside the event loop, and given up when the question is."""
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
    """The source as the person's editor leaves it; waits for that. Raises NoEditor with the
    reason."""
    command = _editor()
    with tempfile.TemporaryDirectory(prefix="codeinterp-") as folder:
        file = Path(folder, f"cell{suffix}")
        file.write_text(f"{source}\n", encoding="utf-8", errors="replace", newline="\n")
        try:
            code = subprocess.call([*command, str(file)])
        except OSError as error:
            raise NoEditor(f"{command[0]} cannot be started: {error.strerror}.") from None
        if code:
            raise NoEditor(f"{command[0]} has failed: the cell is as it was.")
        try:
            edited = file.read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise NoEditor("What the editor has written cannot be read.") from None
    return edited.removesuffix("\n")


def _editor() -> list[str]:
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if named:
        return shlex.split(named)
    found = next((name for name in EDITORS if shutil.which(name)), None)
    if found is None:
        raise NoEditor("There is no editor: set EDITOR.")
    return [found]
