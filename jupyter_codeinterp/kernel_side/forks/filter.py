"""A seccomp filter for a fork that must leave no trace. This file's text runs **in the kernel**.

The system itself then refuses to open files for writing, to change or delete them, to connect, to
start processes and to signal others, also to native code. Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

from .bpf import ANY_BIT, EQUAL, ERROR, Filter, among, load, unless, when

FILES = (
    "rename", "mkdir", "rmdir", "creat", "link", "unlink", "symlink", "chmod", "fchmod",
    "chown", "fchown", "lchown", "truncate", "utime", "mknod", "setxattr", "lsetxattr",
    "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utimes", "mq_open",
    "mq_unlink", "mkdirat", "mknodat", "fchownat", "futimesat", "unlinkat", "renameat",
    "linkat", "symlinkat", "fchmodat", "utimensat", "open_by_handle_at", "renameat2",
    "fchmodat2",
)  # fmt: skip
OTHERS = (
    "shmget", "shmat", "semget", "socket", "connect", "sendmsg", "bind", "fork", "vfork",
    "execve", "kill", "msgget", "ptrace", "rt_sigqueueinfo", "setpriority", "setrlimit",
    "settimeofday", "mount", "umount2", "reboot", "pivot_root", "adjtimex", "acct",
    "swapon", "swapoff", "sethostname", "setdomainname", "iopl", "ioperm", "init_module",
    "delete_module", "tkill", "clock_settime", "kexec_load", "add_key", "request_key",
    "keyctl", "unshare", "rt_tgsigqueueinfo", "perf_event_open", "clock_adjtime",
    "sendmmsg", "setns", "process_vm_writev", "finit_module", "bpf", "execveat",
    "pidfd_send_signal", "io_uring_setup", "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "pidfd_getfd", "mount_setattr",
)  # fmt: skip
HARMLESS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Requests to a file that ask (is it a terminal, how wide, how much to read) or concern only this
process (blocking, closing). Others may change the file, also one that is open for reading."""
FOR_WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o20000000
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND and the bit of O_TMPFILE."""
CLONE_THREAD = 0x10000
NO_NEW_PRIVILEGES, SECCOMP, FILTER, DEATH_SIGNAL = 38, 22, 2, 1


def program(machine: str, pid: int) -> bytes:
    """Compiled BPF for the process ``pid``. Raises ValueError for another machine."""
    no_file, no = ERROR | errno.EROFS, ERROR | errno.EACCES
    made = Filter(machine, no)
    # Programs then fall back to clone and openat, whose flags can be read here.
    made.answer(("clone3", "openat2"), ERROR | errno.ENOSYS)
    made.answer(FILES, no_file)
    made.answer(OTHERS, no)
    made.look("open", [load(1), *when(ANY_BIT, FOR_WRITING, no_file)])
    made.look("openat", [load(2), *when(ANY_BIT, FOR_WRITING, no_file)])
    made.look("clone", [load(0), *unless(ANY_BIT, CLONE_THREAD, no)])
    made.look("tgkill", [load(0), *unless(EQUAL, pid, no)])
    made.look("ioctl", [load(1), *among(HARMLESS, ERROR | errno.ENOTTY)])
    for name, place in (("sendto", 4), ("prlimit64", 2)):
        # A pointer: the address to send to, or a new limit.
        halves = [load(place), *when(ANY_BIT, 0xFFFFFFFF, no)]
        made.look(name, [*halves, load(place, 4), *when(ANY_BIT, 0xFFFFFFFF, no)])
    return made.compiled()


def install() -> None:
    """Hold this process and its threads for good. Raises OSError or ValueError."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = program(platform.machine(), os.getpid())
    held = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    control(libc, NO_NEW_PRIVILEGES, 1)
    control(libc, SECCOMP, FILTER, described)


def die_with_parent(signal: int) -> None:
    """End this process when the thread that forked it ends. Raises OSError."""
    control(ctypes.CDLL(None, use_errno=True), DEATH_SIGNAL, signal)


def control(libc: ctypes.CDLL, what: int, value: int, pointer: bytes | None = None) -> None:
    zero = ctypes.c_ulong(0)
    third = ctypes.c_char_p(pointer) if pointer is not None else zero
    if libc.prctl(what, ctypes.c_ulong(value), third, zero, zero):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
