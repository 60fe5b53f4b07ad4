"""What the filters of system calls answer, as a table: the compiled programs are run here."""

from __future__ import annotations

import errno
import operator
import struct
from collections.abc import Callable

import pytest

from jupyter_codeinterp.sandbox.shared import bpf, seccomp

ALLOWED = "allowed"
REFUSED, UNKNOWN = "EPERM", "ENOSYS"
KILLED = "killed"
FILE = 3
NOT_NAMED = {
    "chown": (92, None), "connect": (42, 203), "execve": (59, 221), "linkat": (265, 37),
    "setpriority": (141, 140), "utimensat": (280, 88),
}  # fmt: skip
"""Numbers of system calls that the filter does not know, as in ``bpf.CALLS``."""
CASES: list[tuple[str, tuple[int, ...], str]] = [
    ("execve", (), ALLOWED),
    ("ptrace", (), REFUSED),
    ("open_tree", (), REFUSED),
    ("open_tree_attr", (), REFUSED),
    ("io_uring_setup", (), REFUSED),
    ("clone3", (), UNKNOWN),
    ("openat2", (), UNKNOWN),
    ("clone", (17,), ALLOWED),
    ("clone", (0x10000000 | 17,), REFUSED),
    # Files and programs: namespaces hold the others.
    ("chown", (FILE,), ALLOWED),
    ("utimensat", (FILE,), ALLOWED),
    ("setpriority", (0, 77, 5), ALLOWED),
    ("connect", (), ALLOWED),
    # Space on a disk that does not count as written.
    ("fallocate", (), "ENOTSUP"),
    ("ioctl", (FILE, 0x40305828), "ENOTTY"),  # FS_IOC_RESVSP
    ("ioctl", (FILE, 0x4030582A), "ENOTTY"),  # FS_IOC_RESVSP64
    ("ioctl", (FILE, 0x40305839), "ENOTTY"),  # FS_IOC_ZERO_RANGE
    ("ioctl", (FILE, 0x5412), REFUSED),  # TIOCSTI
    ("ioctl", (FILE, 0x541C), REFUSED),  # TIOCLINUX
    ("ioctl", (FILE, 0x5401), ALLOWED),  # TCGETS
    ("ioctl", (FILE, 0x5421), ALLOWED),  # FIONBIO
    # Files that run as their owner.
    ("fchmod", (FILE, 0o644), ALLOWED),
    ("fchmod", (FILE, 0o4755), REFUSED),
    ("openat", (0, 0, 0, 0o7777), ALLOWED),
    ("openat", (0, 0, 0o100, 0o644), ALLOWED),
    ("openat", (0, 0, 0o100, 0o4755), REFUSED),
    ("open", (0, 0o20000000, 0o2755), REFUSED),
    ("mknodat", (0, 0, 0o2755), REFUSED),
    # Links, pipes and devices.
    ("symlink", (), REFUSED),
    ("symlinkat", (), REFUSED),
    ("linkat", (), ALLOWED),
    ("mknod", (0, 0o010644), REFUSED),
    ("mknodat", (0, 0, 0o010644), REFUSED),
    ("mknodat", (0, 0, 0o020644), REFUSED),
    ("mknodat", (0, 0, 0o060644), REFUSED),
    ("mknodat", (0, 0, 0o140644), REFUSED),
    ("mknodat", (0, 0, 0o100644), ALLOWED),
    ("renameat2", (0, 0, 0, 0, 0), ALLOWED),
    ("renameat2", (0, 0, 0, 0, 2), ALLOWED),  # RENAME_EXCHANGE
    ("renameat2", (0, 0, 0, 0, 4), "EINVAL"),  # RENAME_WHITEOUT makes a device.
    # Sockets.
    ("socket", (1, 1), ALLOWED),
    ("socket", (1, 0o2000001), ALLOWED),
    ("socket", (2, 1), ALLOWED),
    ("socket", (17, 3), "EAFNOSUPPORT"),
    ("socket", (40, 1), "EAFNOSUPPORT"),
]


@pytest.mark.parametrize("machine", bpf.ARCHITECTURES)
@pytest.mark.parametrize(("name", "given", "answer"), CASES)
def test_the_table(machine: str, name: str, given: tuple[int, ...], answer: str) -> None:
    number = _number(name, machine)
    if number is None:
        pytest.skip(f"{machine} has no {name}")
    assert _answer(seccomp.compiled(machine), machine, number, given) == answer


@pytest.mark.parametrize("machine", bpf.ARCHITECTURES)
@pytest.mark.parametrize(("name", "mode"), [("symlinkat", 0), ("mknodat", 0o010644)])
def test_links_and_pipes_can_be_made_in_an_overlay(machine: str, name: str, mode: int) -> None:
    number = _number(name, machine)
    assert number is not None
    assert _answer(seccomp.compiled(machine, links=True), machine, number, (0, 0, mode)) == ALLOWED


@pytest.mark.parametrize("machine", bpf.ARCHITECTURES)
def test_system_calls_of_other_tables(machine: str) -> None:
    program = seccomp.compiled(machine)
    for other in bpf.ARCHITECTURES:
        answer = _answer(program, other, 59)
        assert (answer == KILLED) == (other != machine)
    assert _answer(program, machine, bpf.X32 | 59) == REFUSED


@pytest.mark.parametrize("name", seccomp.DENIED)
def test_each_named_call_is_refused(name: str) -> None:
    for machine in bpf.ARCHITECTURES:
        number = _number(name, machine)
        if number is not None:
            program = seccomp.compiled(machine)
            assert _answer(program, machine, number) == REFUSED


def _number(name: str, machine: str) -> int | None:
    return {**bpf.CALLS, **NOT_NAMED}[name][list(bpf.ARCHITECTURES).index(machine)]


TESTS: dict[int, Callable[[int, int], object]] = {
    bpf.EQUAL: operator.eq,
    bpf.AT_LEAST: operator.ge,
    bpf.ANY_BIT: operator.and_,
}


def _answer(program: bytes, machine: str, number: int, given: tuple[int, ...] = ()) -> str:
    """Of the program, run as Linux runs it, in words."""
    arguments = [*given, 0, 0, 0, 0, 0, 0][:6]
    call = struct.pack("=IIQ6Q", number, bpf.ARCHITECTURES[machine], 0, *arguments)
    steps = list(struct.iter_unpack("=HBBI", program))
    at = held = 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == bpf.LOAD:
            (held,) = struct.unpack_from("=I", call, value)
        elif code == bpf.RETURN:
            return _words(value)
        else:
            at += then if TESTS[code](held, value) else otherwise


def _words(answer: int) -> str:
    known = {bpf.ALLOW: ALLOWED, bpf.KILL: KILLED}
    return known.get(answer) or errno.errorcode[answer & 0xFFFF]
