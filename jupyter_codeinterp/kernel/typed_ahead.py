"""Drops or hides input that a person types before a question appears, so that it is no answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class NoTerminal(Exception):
    """The terminal is closed."""


def forget() -> None:
    """Drop pending terminal input. Raises NoTerminal."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
        return
    import termios

    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except termios.error:
        raise NoTerminal from None


def set_echo(on: bool) -> bool:
    """Set whether the terminal shows what is typed; return the earlier setting."""
    if sys.platform == "win32":
        return on
    import termios

    with suppress(termios.error, OSError, ValueError):  # no terminal
        state = termios.tcgetattr(sys.stdin)
        before = bool(state[3] & termios.ECHO)
        state[3] = state[3] | termios.ECHO if on else state[3] & ~termios.ECHO
        termios.tcsetattr(sys.stdin, termios.TCSANOW, state)
        return before
    return on


@contextmanager
def echo(on: bool) -> Iterator[None]:
    before = set_echo(on)
    try:
        yield
    finally:
        set_echo(before)
