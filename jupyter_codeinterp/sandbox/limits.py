"""Limits of a sandboxed kernel, and which of them ended it."""

from __future__ import annotations

import resource
import signal
from typing import NamedTuple


class Limits(NamedTuple):
    """0 is no limit. ``memory``, ``file_size`` in bytes, ``cpu`` in seconds; all but ``processes``
    are for each process."""

    memory: int
    processes: int
    open_files: int
    file_size: int
    cpu: int


def apply(pid: int, limits: Limits) -> None:
    """To the first process of a sandbox, before it starts another."""
    for kind, most in (
        # Not the address space, of which libraries reserve far more than they use.
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_CPU, limits.cpu),
    ):
        if most:
            _, hard = resource.prlimit(pid, kind)
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, kind, (bound, bound))
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def why_ended(code: int, limits: Limits) -> str:
    """A sentence for the person and the model on a process that ended by itself; "" if no limit
    explains it. ``code`` is bubblewrap's: 128 and the signal's number, for a signal."""
    number = -code if code < 0 else code - 128
    if limits.cpu and number in (signal.SIGXCPU, signal.SIGKILL):
        sure = "" if number == signal.SIGXCPU else " probably"
        return f"The sandbox{sure} stopped it at its limit of {limits.cpu} CPU seconds."
    if number == signal.SIGKILL:
        return "The system killed it, most often because memory ran out."
    if number == signal.SIGSYS:
        return "The sandbox stopped it at a system call of another architecture."
    return ""
