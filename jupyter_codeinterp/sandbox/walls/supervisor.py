"""Starts a kernel on macOS, and ends its process group when it ends or the server does.

The first line of the input says what to start. The input ends with the server, however that ends.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Any

_PASSED = (signal.SIGINT, signal.SIGTERM)
"""To the kernel."""


def main() -> None:
    wanted: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED)
    kernel = os.fork()
    if kernel == 0:
        _become(wanted)

    def send(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(kernel, number)

    for one in _PASSED:
        signal.signal(one, send)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED)
    threading.Thread(target=_end_with_server, args=(kernel,), daemon=True).start()
    _, status = os.waitpid(kernel, 0)
    _end(kernel)
    code = os.waitstatus_to_exitcode(status)
    # As the other walls give it: 128 and the signal's number, for a signal.
    os._exit(code if code >= 0 else 128 - code)


def _become(wanted: dict[str, Any]) -> None:
    """The kernel. In a session of its own: its group is all that it starts and that stays there."""
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for kind, most in wanted["limits"]:
            hard = resource.getrlimit(kind)[1]
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (bound, bound))
        os.chdir(wanted["folder"])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED)
        os.execve(wanted["command"][0], wanted["command"], wanted["environment"])
    except OSError as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(1)


def _end_with_server(kernel: int) -> None:
    sys.stdin.buffer.read()
    with suppress(ProcessLookupError):
        # It may have no group yet.
        os.kill(kernel, signal.SIGKILL)
    _end(kernel)


def _end(kernel: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # none is left; macOS says it both ways
        os.killpg(kernel, signal.SIGKILL)
