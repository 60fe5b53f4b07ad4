"""Limits of a sandboxed kernel, and sentences about the limit that stopped it."""

from __future__ import annotations

import re
import resource
import signal
from typing import NamedTuple

from ...base.sentences import Sentence, together


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


CPU = "The sandbox stopped it at its limit of {seconds} CPU seconds."
CPU_PROBABLY = "The sandbox probably stopped it at its limit of {seconds} CPU seconds."


def why_ended(code: int, limits: KernelLimits, out_of_memory: bool = False) -> Sentence:
    """A sentence for the person and the model about a process that ended by itself; "" if no limit
    explains it. ``code``: bubblewrap's exit code, 128 plus the number for a signal.
    ``out_of_memory``: as its control group reports."""
    number = -code if code < 0 else code - 128
    if out_of_memory and number == signal.SIGKILL:
        return Sentence("The sandbox stopped it at {size} of memory.", size=size(limits.memory))
    if limits.cpu and number in (signal.SIGXCPU, signal.SIGKILL):
        return Sentence(CPU if number == signal.SIGXCPU else CPU_PROBABLY, seconds=limits.cpu)
    if number == signal.SIGKILL:
        return Sentence("The system killed it, most often because memory ran out.")
    if number == signal.SIGSYS:
        return Sentence("The sandbox stopped it at a system call of another architecture.")
    return Sentence()


KEPT = Sentence("The kernel and its variables are still there.")
_PATTERNS = (
    # pattern in an error, name of the limit
    (r"MemoryError|Cannot allocate memory|bad_alloc", "memory"),
    (r"Errno 27\b", "file_size"),
    (r"Errno 24\b", "open_files"),
    (r"Errno 11\b|can't start new thread", "processes"),
)
ALLOWS = {
    "memory": "The sandbox allows {size} of memory.",
    "file_size": "The sandbox allows {size} for a file.",
    "open_files": "The sandbox allows {count} open files.",
    "processes": "The sandbox allows {count} processes and threads.",
}
_NO_NETWORK = re.compile(
    r"Errno -[235]\b|Errno 101\b|name resolution|Name or service not known|Network is unreachable"
    r"|[Cc]ould not resolve|Failed to resolve"
)
NO_NETWORK = Sentence(
    "The sandbox has no network. An admin can allow hosts (SandboxProvisioner.allow)."
)
_READ = 1_000
"""Characters of an error that are searched."""


def what_was_hit(error: str, limits: KernelLimits, process_ended: bool = False) -> Sentence:
    """A sentence about a run that failed in a live kernel; "" if no limit explains it. ``error``:
    the exception's name and text, untrusted. ``process_ended``: the control group reports that a
    process was ended for its memory."""
    if process_ended:
        words = "The sandbox stopped a process at {size} of memory."
        return together(Sentence(words, size=size(limits.memory)), KEPT)
    for pattern, name in _PATTERNS:
        most: int = getattr(limits, name)
        if most and re.search(pattern, error[:_READ]):
            return together(Sentence(ALLOWS[name], size=size(most), count=f"{most:,}"), KEPT)
    return Sentence()


HIDES = Sentence("The sandbox stopped it: a program in it hides from Linux how much it writes.")


def _written(limits: KernelLimits) -> Sentence:
    return Sentence("The sandbox stopped it at {size} written.", size=size(limits.disk))


def went_on_writing(limits: KernelLimits, *, hides: bool) -> Sentence:
    """A sentence about a kernel that the limit ``disk`` ended. ``hides``: it hid how much it
    writes."""
    stopped = HIDES if hides else _written(limits)
    return together(stopped, Sentence("It ignored interrupts."))


RESTART = "To write more, restart the kernel."
DELETE_FIRST = "To write more, delete large files in it, then restart the kernel."


def wrote_too_much(limits: KernelLimits, *, overlay: bool, hides: bool) -> Sentence:
    """A sentence about an interrupted run. ``hides`` as for ``went_on_writing``."""
    if hides:
        return together(HIDES, KEPT, Sentence("The sandbox ends it if that program goes on."))
    return together(_written(limits), KEPT, Sentence(DELETE_FIRST if overlay else RESTART))


def is_without_network(error: str) -> bool:
    """Whether a kernel's error reads like that of a program without a network."""
    return _NO_NETWORK.search(error[:_READ]) is not None


def size(count: int) -> str:
    """Bytes in words: "2 GB"."""
    for unit, name in ((1024**3, "GB"), (1024**2, "MB"), (1024, "kB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return "1 byte" if count == 1 else f"{count} bytes"
