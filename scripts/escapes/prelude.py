"""What the code of the attempts may use: names of the world, and calls that Python has not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

HELPERS = """
import ctypes, errno, glob, os, pathlib, signal, socket, stat, subprocess, sys, time

LIBC = ctypes.CDLL(None, use_errno=True)
HELD = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH)

def number(value):
    return ctypes.c_long(value) if isinstance(value, int) else value

def reaches(name, *given):
    '''Raises if the system call is refused. A dislike of its arguments is no refusal.'''
    result = LIBC.syscall(ctypes.c_long(CALLS[name]), *map(number, given))
    if result == -1 and ctypes.get_errno() in HELD:
        raise PermissionError(ctypes.get_errno(), name)
    return result

def fresh(code):
    '''Runs code in a process of its own, which must end well.'''
    text = f"{PRELUDE_TEXT}\\nPRELUDE_TEXT = ''\\n{code}"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=15)
    if done.returncode:
        raise ChildProcessError(f"{done.returncode}: {done.stderr[-300:]}")
    return done.stdout.decode()

def answers(family, address):
    '''Raises if nothing outside answers at this address.'''
    with socket.socket(family) as one:
        one.settimeout(1)
        one.connect(address)
        assert one.recv(5) == b"hello"

def append(path, text=None):
    with open(path, "a") as file:
        file.write(text or MARK)

def program(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout
"""


def prelude(names: Mapping[str, Any]) -> str:
    """Code that a kernel runs before the attempts."""
    given = "\n".join(f"{name} = {value!r}" for name, value in names.items())
    text = f"{HELPERS}\n{given}\n"
    return f"{text}\nPRELUDE_TEXT = {text!r}\n"


def as_text(value: object) -> str:
    """In an attempt's code."""
    return json.dumps(value)
