"""Drops what the person typed before a question appeared: it answers nothing."""

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
