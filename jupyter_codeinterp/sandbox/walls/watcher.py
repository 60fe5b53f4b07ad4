"""Starts a kernel behind Landlock and ends all its processes: ``python … POLICY INFO BLOCK``.

This process stays outside of the wall. Its signals reach only what it has started, so with one call
it ends all of that, however fast new processes appear. It ends with the server's thread that
started it, and when the kernel ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from . import landlock

_PARENT_DEATH, _SECCOMP, _SUBREAPER = 1, 22, 36
_FILTER = 2
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITIES = 0x20080522


def main() -> None:
    """Arguments: the descriptors of the policy as JSON, of a pipe that learns the kernel's process
    id, and of one that says when it may start."""
    policy, info, block = map(int, sys.argv[1:4])
    with os.fdopen(policy, "rb") as file:
        wanted: dict[str, Any] = json.load(file)
    _prctl(_PARENT_DEATH, signal.SIGTERM)
    _prctl(_SUBREAPER, 1)
    if os.getppid() != wanted["server"]:
        return
    landlock.hold_signals()
    awaited = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    watcher = os.getpid()
    kernel = os.fork()
    if kernel == 0:
        os.close(info)
        _become(wanted, watcher, block)
    os.close(block)
    os.write(info, json.dumps({"child-pid": kernel}).encode())
    os.close(info)
    code = None
    while code is None and signal.sigwait(awaited) == signal.SIGCHLD:
        code = _ended(kernel)
    with suppress(ProcessLookupError):  # none is left
        os.kill(-1, signal.SIGKILL)
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            break
        code = _code(status) if pid == kernel else code
    # Without waiting for anything of Python.
    os._exit(128 + signal.SIGKILL if code is None else code)


def _ended(kernel: int) -> int | None:
    """The kernel's exit code; None while it runs. Other processes that have ended are removed."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == kernel:
            return _code(status)
        if pid == 0:
            return None


def _code(status: int) -> int:
    """As bubblewrap gives it: 128 and the signal's number, for a signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _become(wanted: dict[str, Any], watcher: int, block: int) -> None:
    """The kernel, behind the wall."""
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        # A session of its own: an interrupt to a group reaches no process outside.
        os.setsid()
        _prctl(_PARENT_DEATH, signal.SIGKILL)
        if os.getppid() != watcher or os.read(block, 1) != b"1":
            os._exit(1)
        os.close(block)
        os.chdir(wanted["folder"])
        _drop_capabilities()
        landlock.enclose([(path, rights) for path, rights in wanted["rules"]])
        _filter(bytes.fromhex(wanted["filter"]))
        os.execve(wanted["command"][0], wanted["command"], wanted["environment"])
    except OSError as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(1)


def _drop_capabilities() -> None:
    """Also root's. As no new privileges can come, none comes back with a new program."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(_CAPSET[os.uname().machine]), header, (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "cannot give up capabilities")


def _filter(code: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

    program = Program(len(code) // 8, code)
    _prctl(_SECCOMP, _FILTER, ctypes.byref(program))


def _prctl(*given: Any) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    longs = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in given[1:]]
    if libc.prctl(int(given[0]), *longs, *[ctypes.c_ulong(0)] * (4 - len(longs))):
        raise OSError(ctypes.get_errno(), f"prctl {int(given[0])}")
