"""Data for another program, by an open descriptor."""

from __future__ import annotations

import os


def data(content: bytes) -> int:
    """A descriptor that another program reads this from."""
    number = os.memfd_create("sandbox", os.MFD_CLOEXEC)
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number
