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
    # files and what belongs to them, also queues of messages with a name
    "rename", "mkdir", "rmdir", "creat", "link", "unlink", "symlink", "chmod", "fchmod",
    "chown", "fchown", "lchown", "truncate", "utime", "mknod", "setxattr", "lsetxattr",
    "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utimes", "mq_open",
    "mq_unlink", "mkdirat", "mknodat", "fchownat", "futimesat", "unlinkat", "renameat",
    "linkat", "symlinkat", "fchmodat", "utimensat", "open_by_handle_at", "renameat2",
    "fchmodat2", "setxattrat", "removexattrat", "file_setattr",
)  # fmt: skip
OTHERS = (
    # what other programs share: memory, semaphores, messages, sockets
    "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd",
    "msgrcv", "msgctl", "mq_timedsend", "mq_timedreceive", "mq_notify", "socket", "connect",
    "sendmsg", "sendmmsg", "bind",
    # other programs
    "fork", "vfork", "execve", "execveat", "kill", "tkill", "rt_sigqueueinfo",
    "rt_tgsigqueueinfo", "pidfd_send_signal", "pidfd_getfd", "ptrace", "process_vm_readv",
    "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "migrate_pages",
    "move_pages", "setpriority", "setrlimit", "perf_event_open",
    # a process with other rights no longer dies with the kernel
    "setuid", "setgid", "setreuid", "setregid", "setgroups", "setresuid", "setresgid", "setfsuid",
    "setfsgid", "capset",
    # the system, for a kernel with an administrator's rights
    "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "mount", "umount2", "open_tree",
    "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
    "pivot_root", "chroot", "unshare", "setns", "quotactl", "quotactl_fd", "acct", "swapon",
    "swapoff", "reboot", "sethostname", "setdomainname", "iopl", "ioperm", "init_module",
    "finit_module", "delete_module", "kexec_load", "kexec_file_load", "bpf", "syslog", "vhangup",
    "fanotify_init", "fanotify_mark",
    # ways round this filter, and keys that outlive the process
    "io_uring_setup", "io_uring_enter", "io_uring_register", "add_key", "request_key", "keyctl",
)  # fmt: skip
SCHEDULES: dict[str, dict[int, tuple[int | str, ...]]] = {
    # arguments that make it this process's own: by their places
    "sched_setparam": {0: (0, "pid")}, "sched_setscheduler": {0: (0, "pid")},
    "sched_setattr": {0: (0, "pid")}, "sched_setaffinity": {0: (0, "pid")},
    "ioprio_set": {0: (1,), 1: (0, "pid")},
}  # fmt: skip
CONTROLS = {
    # for a call: the place of its request, and the requests that reach beyond this process
    "fcntl": (1, (8, 10, 15, 1024, 1026, 1036, 1038)),
    "prctl": (0, (1, 62)),
    "madvise": (2, (100, 101)),
}
"""fcntl: who gets a file's signals (F_SETOWN, F_SETSIG, F_SETOWN_EX), leases, notices of a folder
and hints of a file. prctl: not to die with the kernel, and to share a processor with others.
madvise: to mark memory as broken, which the kernel may share."""
LOCK_EX = 2
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
    for name, own in SCHEDULES.items():
        looks = [
            [load(place), *among([one if isinstance(one, int) else pid for one in values], no)]
            for place, values in own.items()
        ]
        made.look(name, [one for look in looks for one in look])
    for name, (place, requests) in CONTROLS.items():
        refused = [one for request in requests for one in when(EQUAL, request, no)]
        made.look(name, [load(place), *refused])
    made.look("flock", [load(1), *when(ANY_BIT, LOCK_EX, no)])
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
