"""Landlock, by its three system calls: a process gives up rights, for itself and all that it
starts. Standard library only."""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable

OLDEST = 6
"""The first version that holds signals and abstract sockets back: Linux 6.12."""
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR = 1 << 4, 1 << 5, 1 << 6, 1 << 7
MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK = 1 << 8, 1 << 9, 1 << 10, 1 << 11
MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV = 1 << 12, 1 << 13, 1 << 14, 1 << 15
ALL = (1 << 16) - 1
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = ALL & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV)
"""All but devices."""
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_TCP = 0b11
"""To listen and to connect."""
_SIGNALS, _ABSTRACT_SOCKETS = 1 << 1, 1 << 0
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION = 1
_BENEATH = 1
_NO_NEW_PRIVILEGES = 38


def version() -> int:
    """Of the running Linux kernel; 0 where Landlock is missing or switched off."""
    if sys.platform != "linux":
        return 0
    try:
        return _call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except OSError:
        return 0


def hold_signals() -> None:
    """From now on, signals of this process reach only what it starts. Raises OSError."""
    _restrict(_ruleset(0, 0, _SIGNALS))


def enclose(rules: Iterable[tuple[str, int]]) -> None:
    """From now on, this process has no rights on files but these: each a path, and the rights on it
    and on all below. It has no TCP, and reaches no abstract socket and no process outside. Raises
    OSError."""
    ruleset = _ruleset(ALL, _TCP, _SIGNALS | _ABSTRACT_SOCKETS)
    for path, rights in rules:
        number = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            folder = stat.S_ISDIR(os.fstat(number).st_mode)
            rule = _Beneath(rights if folder else rights & _OF_FILES, number)
            _call(_ADD, ruleset, _BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(number)
    _restrict(ruleset)


class _Attributes(ctypes.Structure):
    _fields_ = [
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


class _Beneath(ctypes.Structure):
    # Twelve bytes. The layout is named as newer versions of Python ask for.
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("rights", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def _ruleset(files: int, network: int, scoped: int) -> int:
    made = _Attributes(files, network, scoped)
    return _call(_CREATE, ctypes.byref(made), ctypes.c_size_t(ctypes.sizeof(made)), 0)


def _restrict(ruleset: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no new privileges")
    _call(_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _call(number: int, *given: object) -> int:
    result: int = ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *given)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
