"""Limits of a sandboxed kernel, and sentences about the limit that stopped it."""

from __future__ import annotations

import re
import resource
from typing import NamedTuple

from ...base.sentences import Sentence, together


class KernelLimits(NamedTuple):
    """``memory``, ``file_size`` and ``disk`` in bytes; 0: no limit. They hold for each process;
    ``disk`` for all together (``walls/disk.py``), as do ``memory`` and ``processes`` with a control
    group (``groups.py``)."""

    memory: int
    processes: int
    open_files: int
    file_size: int
    disk: int = 0


def apply(pid: int, limits: KernelLimits) -> None:
    """Set limits of the first process of a sandbox, before it starts another."""
    for kind, most in (
        # Not the address space, of which libraries reserve far more than they use.
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.file_size),
    ):
        if most:
            _, hard = resource.prlimit(pid, kind)
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, kind, (bound, bound))
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


KEPT = Sentence("The kernel and its variables are still there.")
_OUT_OF_MEMORY = re.compile(r"MemoryError|Cannot allocate memory|bad_alloc")
_NO_NETWORK = re.compile(
    r"Errno -[235]\b|Errno 101\b|name resolution|Name or service not known|Network is unreachable"
    r"|[Cc]ould not resolve|Failed to resolve"
)
NO_NETWORK = Sentence(
    "The sandbox has no network. An admin can allow hosts (SandboxProvisioner.allow)."
)
_READ = 1_000
"""Characters of an error that are searched."""


def is_out_of_memory(error: str) -> bool:
    """Whether a kernel's error is one of memory."""
    return _OUT_OF_MEMORY.search(error[:_READ]) is not None


def memory_limit(limits: KernelLimits) -> Sentence:
    """A sentence about a run that failed for want of memory."""
    words = "The sandbox allows {size} of memory."
    return together(Sentence(words, size=size(limits.memory)), KEPT)


HIDES = Sentence("The sandbox stopped it: a program in it hides from Linux how much it writes.")


def _stopped(limits: KernelLimits, *, hides: bool) -> Sentence:
    """``hides``: it hid how much it writes."""
    words = "The sandbox stopped it at {size} written."
    return HIDES if hides else Sentence(words, size=size(limits.disk))


def went_on_writing(limits: KernelLimits, *, hides: bool) -> Sentence:
    """A sentence about a kernel that the limit ``disk`` ended."""
    return together(_stopped(limits, hides=hides), Sentence("It ignored interrupts."))


RESTART = "To write more, restart the kernel."
DELETE_FIRST = "To write more, delete large files in it, then restart the kernel."


def wrote_too_much(limits: KernelLimits, *, overlay: bool, hides: bool) -> Sentence:
    """A sentence about an interrupted run."""
    then = Sentence(DELETE_FIRST if overlay else RESTART)
    return together(_stopped(limits, hides=hides), KEPT, then)


def is_without_network(error: str) -> bool:
    """Whether a kernel's error reads like that of a program without a network."""
    return _NO_NETWORK.search(error[:_READ]) is not None


def size(count: int) -> str:
    """Bytes in words: "2 GB"."""
    for unit, name in ((1024**3, "GB"), (1024**2, "MB"), (1024, "kB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return "1 byte" if count == 1 else f"{count} bytes"
