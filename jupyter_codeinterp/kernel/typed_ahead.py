"""Drops input that a person types before a question appears, so that it is no answer."""

from __future__ import annotations

import sys


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
