"""Limits of a sandboxed kernel, and sentences about the limit that stopped it."""

from __future__ import annotations

import re
import resource
import signal
from typing import NamedTuple


class KernelLimits(NamedTuple):
    """``memory``, ``file_size``, ``disk`` in bytes, ``cpu`` in seconds; 0: no limit. They hold for
    each process; ``disk`` for all together (``walls/disk.py``), as do ``memory`` and ``processes``
    with a control group (``groups.py``)."""

    memory: int
    processes: int
    open_files: int
    file_size: int
    cpu: int
    disk: int = 0


def apply(pid: int, limits: KernelLimits) -> None:
    """Set limits of the first process of a sandbox, before it starts another."""
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


def why_ended(code: int, limits: KernelLimits, out_of_memory: bool = False) -> str:
    """A sentence for the person and the model about a process that ended by itself; "" if no limit
    explains it. ``code``: bubblewrap's exit code, 128 plus the number for a signal.
    ``out_of_memory``: as its control group reports."""
    number = -code if code < 0 else code - 128
    if out_of_memory and number == signal.SIGKILL:
        return f"The sandbox stopped it at {size(limits.memory)} of memory."
    if limits.cpu and number in (signal.SIGXCPU, signal.SIGKILL):
        sure = "" if number == signal.SIGXCPU else " probably"
        return f"The sandbox{sure} stopped it at its limit of {limits.cpu} CPU seconds."
    if number == signal.SIGKILL:
        return "The system killed it, most often because memory ran out."
    if number == signal.SIGSYS:
        return "The sandbox stopped it at a system call of another architecture."
    return ""


KEPT = "The kernel and its variables are still there."
_MESSAGES = (
    # pattern in an error, name of the limit, its words
    (r"MemoryError|Cannot allocate memory|bad_alloc", "memory", "{size} of memory"),
    (r"Errno 27\b", "file_size", "{size} for a file"),
    (r"Errno 24\b", "open_files", "{count} open files"),
    (r"Errno 11\b|can't start new thread", "processes", "{count} processes and threads"),
)
_NO_NETWORK = re.compile(
    r"Errno -[235]\b|Errno 101\b|name resolution|Name or service not known|Network is unreachable"
    r"|[Cc]ould not resolve|Failed to resolve"
)
NO_NETWORK = "The sandbox has no network. An admin can allow hosts (SandboxProvisioner.allow)."
_READ = 1_000
"""Characters of an error that are searched."""


def what_was_hit(error: str, limits: KernelLimits, process_ended: bool = False) -> str:
    """A sentence about a run that failed in a live kernel; "" if no limit explains it. ``error``:
    the exception's name and text, untrusted. ``process_ended``: the control group reports that a
    process was ended for its memory."""
    if process_ended:
        return f"The sandbox stopped a process at {size(limits.memory)} of memory. {KEPT}"
    for pattern, name, words in _MESSAGES:
        most: int = getattr(limits, name)
        if most and re.search(pattern, error[:_READ]):
            return f"The sandbox allows {words.format(size=size(most), count=f'{most:,}')}. {KEPT}"
    return ""


HIDES = "The sandbox stopped it: a program in it hides from Linux how much it writes"


def went_on_writing(limits: KernelLimits, *, hides: bool) -> str:
    """A sentence about a kernel that the limit ``disk`` ended. ``hides``: it hid how much it
    writes."""
    stopped = HIDES if hides else f"The sandbox stopped it at {size(limits.disk)} written"
    return f"{stopped}. It ignored interrupts."


def wrote_too_much(limits: KernelLimits, *, overlay: bool, hides: bool) -> str:
    """A sentence about an interrupted run. ``hides`` as for ``went_on_writing``."""
    if hides:
        return f"{HIDES}. {KEPT} The sandbox ends it if that program goes on."
    deletes = "delete large files in it, then " if overlay else ""
    return (
        f"The sandbox stopped it at {size(limits.disk)} written. {KEPT} "
        f"To write more, {deletes}restart the kernel."
    )


def is_without_network(error: str) -> bool:
    """Whether a kernel's error reads like that of a program without a network."""
    return _NO_NETWORK.search(error[:_READ]) is not None


def size(count: int) -> str:
    """Bytes in words: "2 GB"."""
    for unit, name in ((1024**3, "GB"), (1024**2, "MB"), (1024, "kB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return "1 byte" if count == 1 else f"{count} bytes"
