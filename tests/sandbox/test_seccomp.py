"""What the filters of system calls answer, as a table: the compiled programs are run here."""

from __future__ import annotations

import errno
import operator
import struct
from collections.abc import Callable

import pytest

from jupyter_codeinterp.sandbox.shared import bpf, seccomp

ALLOWED, NO_EFFECT = "allowed", "no effect"
REFUSED, UNKNOWN = "EPERM", "ENOSYS"
KILLED = "killed"
READ_ONLY_FILE = 3
CASES: list[tuple[str, tuple[int, ...], str, str]] = [
    # system call, its arguments, the answer beside namespaces, and with Landlock
    ("execve", (), ALLOWED, ALLOWED),
    ("ptrace", (), REFUSED, REFUSED),
    ("open_tree", (), REFUSED, REFUSED),
    ("open_tree_attr", (), REFUSED, REFUSED),
    ("io_uring_setup", (), REFUSED, REFUSED),
    ("clone3", (), UNKNOWN, UNKNOWN),
    ("openat2", (), UNKNOWN, UNKNOWN),
    ("clone", (17,), ALLOWED, ALLOWED),
    ("clone", (0x10000000 | 17,), REFUSED, REFUSED),
    # A file that it may only read: namespaces have a read-only mount there.
    *(
        (name, (READ_ONLY_FILE,), ALLOWED, REFUSED)
        for name in (
            *("chown", "lchown", "fchown", "fchownat"),
            *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
            *("removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr"),
        )
    ),
    *((name, (READ_ONLY_FILE,), ALLOWED, NO_EFFECT) for name in ("utime", "utimes", "utimensat")),
    ("fchmod", (READ_ONLY_FILE, 0o644), ALLOWED, NO_EFFECT),
    ("fchmod", (READ_ONLY_FILE, 0o4755), REFUSED, NO_EFFECT),
    ("ioctl", (READ_ONLY_FILE, 0x40086602), ALLOWED, "ENOTTY"),  # FS_IOC_SETFLAGS
    ("ioctl", (READ_ONLY_FILE, 0x401C5820), ALLOWED, "ENOTTY"),  # FS_IOC_FSSETXATTR
    ("ioctl", (READ_ONLY_FILE, 0x40806685), ALLOWED, "ENOTTY"),  # FS_IOC_ENABLE_VERITY
    ("ioctl", (READ_ONLY_FILE, 0x5000940E), ALLOWED, "ENOTTY"),  # BTRFS_IOC_SUBVOL_CREATE
    ("ioctl", (READ_ONLY_FILE, 0x5401), ALLOWED, "ENOTTY"),  # TCGETS
    # Space on a disk that does not count as written.
    ("fallocate", (), "ENOTSUP", "ENOTSUP"),
    ("ioctl", (READ_ONLY_FILE, 0x40305828), "ENOTTY", "ENOTTY"),  # FS_IOC_RESVSP
    ("ioctl", (READ_ONLY_FILE, 0x4030582A), "ENOTTY", "ENOTTY"),  # FS_IOC_RESVSP64
    ("ioctl", (READ_ONLY_FILE, 0x40305839), "ENOTTY", "ENOTTY"),  # FS_IOC_ZERO_RANGE
    ("ioctl", (READ_ONLY_FILE, 0x5412), REFUSED, REFUSED),  # TIOCSTI
    ("ioctl", (READ_ONLY_FILE, 0x541C), REFUSED, REFUSED),  # TIOCLINUX
    ("ioctl", (READ_ONLY_FILE, 0x5421), ALLOWED, ALLOWED),  # FIONBIO
    ("ioctl", (READ_ONLY_FILE, 0x40049409), ALLOWED, ALLOWED),  # FICLONE
    # Other processes: namespaces have none.
    ("setpriority", (0, 0, 5), ALLOWED, ALLOWED),
    ("setpriority", (0, 77, 5), ALLOWED, NO_EFFECT),
    ("setpriority", (1, 0, 5), ALLOWED, NO_EFFECT),  # PRIO_PGRP
    ("setpriority", (2, 0, 5), ALLOWED, NO_EFFECT),  # PRIO_USER: all programs of the person
    ("ioprio_set", (1, 0, 0x6000), ALLOWED, ALLOWED),
    ("ioprio_set", (1, 77, 0x6000), ALLOWED, NO_EFFECT),
    ("ioprio_set", (3, 0, 0x6000), ALLOWED, NO_EFFECT),  # IOPRIO_WHO_USER
    ("sched_setaffinity", (0,), ALLOWED, ALLOWED),
    ("sched_setaffinity", (77,), ALLOWED, NO_EFFECT),
    ("sched_setattr", (77,), ALLOWED, NO_EFFECT),
    ("prlimit64", (0,), ALLOWED, ALLOWED),
    ("prlimit64", (77,), ALLOWED, REFUSED),
    ("shmget", (), ALLOWED, REFUSED),
    ("inotify_add_watch", (), ALLOWED, REFUSED),
    # Files that run as their owner.
    ("openat", (0, 0, 0, 0o7777), ALLOWED, ALLOWED),
    ("openat", (0, 0, 0o100, 0o644), ALLOWED, ALLOWED),
    ("openat", (0, 0, 0o100, 0o4755), REFUSED, REFUSED),
    ("open", (0, 0o20000000, 0o2755), REFUSED, REFUSED),
    ("mknodat", (0, 0, 0o2755), REFUSED, REFUSED),
    # Sockets.
    ("socket", (1, 1), ALLOWED, ALLOWED),
    ("socket", (1, 0o2000001), ALLOWED, ALLOWED),
    ("socket", (1, 2), ALLOWED, "ENOTSUP"),
    ("socket", (2, 1), ALLOWED, "ENOTSUP"),
    ("socket", (17, 3), "EAFNOSUPPORT", "ENOTSUP"),
    ("socket", (40, 1), "EAFNOSUPPORT", "ENOTSUP"),
    ("connect", (), ALLOWED, REFUSED),
]


@pytest.mark.parametrize("machine", bpf.ARCHITECTURES)
@pytest.mark.parametrize(("name", "given", "beside_namespaces", "with_landlock"), CASES)
def test_the_table(
    machine: str, name: str, given: tuple[int, ...], beside_namespaces: str, with_landlock: str
) -> None:
    number = _number(name, machine)
    if number is None:
        pytest.skip(f"{machine} has no {name}")
    assert _answer(seccomp.compiled(machine), machine, number, given) == beside_namespaces
    held = seccomp.compiled(machine, namespaces=False)
    assert _answer(held, machine, number, given) == with_landlock


@pytest.mark.parametrize("machine", bpf.ARCHITECTURES)
@pytest.mark.parametrize("namespaces", [True, False])
def test_system_calls_of_other_tables(machine: str, namespaces: bool) -> None:
    program = seccomp.compiled(machine, namespaces=namespaces)
    for other in bpf.ARCHITECTURES:
        answer = _answer(program, other, 59)
        assert (answer == KILLED) == (other != machine)
    assert _answer(program, machine, bpf.X32 | 59) == REFUSED


@pytest.mark.parametrize("name", [*seccomp.DENIED, *seccomp.SHARED])
def test_each_named_call_is_refused_with_landlock(name: str) -> None:
    for machine in bpf.ARCHITECTURES:
        number = _number(name, machine)
        if number is not None:
            program = seccomp.compiled(machine, namespaces=False)
            assert _answer(program, machine, number) == REFUSED


def _number(name: str, machine: str) -> int | None:
    return bpf.CALLS[name][list(bpf.ARCHITECTURES).index(machine)]


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
        elif code == bpf.AND:
            held &= value
        elif code == bpf.RETURN:
            return _words(value)
        else:
            at += then if TESTS[code](held, value) else otherwise


def _words(answer: int) -> str:
    if answer == bpf.ERROR:
        return NO_EFFECT
    known = {bpf.ALLOW: ALLOWED, bpf.KILL: KILLED}
    return known.get(answer) or errno.errorcode[answer & 0xFFFF]
