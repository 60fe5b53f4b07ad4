"""A seccomp filter in the form that ``bwrap --seccomp`` reads: compiled BPF.

It denies what namespaces leave open: system calls with a history of kernel faults, and sockets that
no network namespace holds back (vsock, for one). Where there are no namespaces, it also denies what
Landlock leaves open.
"""

from __future__ import annotations

import errno
import platform

from .bpf import (
    ALLOW,
    AND,
    ANY_BIT,
    EQUAL,
    ERROR,
    RETURN,
    Filter,
    among,
    load,
    step,
    unless,
    when,
)

DENIED = (
    "ptrace", "syslog", "modify_ldt", "pivot_root", "chroot", "acct", "settimeofday",
    "mount", "umount2", "swapon", "swapoff", "reboot", "iopl", "ioperm", "init_module",
    "delete_module", "quotactl", "lookup_dcookie", "clock_settime", "kexec_load", "add_key",
    "request_key", "keyctl", "unshare", "move_pages", "perf_event_open", "fanotify_init",
    "name_to_handle_at", "open_by_handle_at", "setns", "process_vm_readv",
    "process_vm_writev", "kcmp", "finit_module", "kexec_file_load", "bpf", "userfaultfd",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "open_tree", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "pidfd_getfd", "mount_setattr", "quotactl_fd",
    "open_tree_attr",
)  # fmt: skip
_MODES = {
    # calls that set a file's mode, and the mode's place
    "chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2,
}  # fmt: skip
_OPENS = {"open": 1, "openat": 2}
"""And the place of the flags. The mode follows."""
_MAKES = 0o100 | 0o20000000
"""O_CREAT and O_TMPFILE: without them the mode is whatever was in the register."""
RUN_AS_OWNER = 0o6000
"""A file with these bits runs as its owner for everyone who may run it, also outside."""
NEW_NAMESPACES = 0x7E020080
"""CLONE_NEW*: user, pid, net, ipc, uts, cgroup, mount, time."""
FAMILIES = (1, 2, 10, 16)
"""Sockets that may be made: Unix, IPv4, IPv6, netlink."""
UNIX = (1,)
CONNECTED = (1, 5)
"""Kinds of sockets that send nothing unless connected: SOCK_STREAM and SOCK_SEQPACKET."""
SHARED = (
    # what no namespace separates
    "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd",
    "msgrcv", "msgctl", "mq_open", "mq_unlink", "migrate_pages", "process_madvise",
    "process_mrelease",
    # a program that listens in the file system may do anything for who connects
    "connect",
    # what Landlock does not ask about, on any path or open file
    "chown", "lchown", "fchown", "fchownat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat",
    "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
    "inotify_add_watch",
)  # fmt: skip
_SCHEDULES = {
    # places of arguments, and what they are for the calling thread
    "setpriority": {0: 0, 1: 0}, "ioprio_set": {0: 1, 1: 0}, "sched_setparam": {0: 0},
    "sched_setscheduler": {0: 0}, "sched_setaffinity": {0: 0}, "sched_setattr": {0: 0},
}  # fmt: skip
"""Without effect on other processes, groups and users: Landlock does not check them. ZeroMQ ends
with an error if one fails for its threads."""
_WITHOUT_EFFECT = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat",
)  # fmt: skip
"""Modes and times, also of files that it may only read. Programs that copy a file set them: an
error would end them."""
TERMINAL = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""
_TAKES_SPACE = (0x40305828, 0x4030582A, 0x40305839)
"""FS_IOC_RESVSP, FS_IOC_RESVSP64 and FS_IOC_ZERO_RANGE: as ``fallocate``."""
_CONTROLS = (
    0x5411,  # TIOCOUTQ
    0x541B,  # FIONREAD
    0x5421,  # FIONBIO
    0x5450,  # FIONCLEX
    0x5451,  # FIOCLEX
    0x5452,  # FIOASYNC
    0x40049409,  # FICLONE
    0x4020940D,  # FICLONERANGE
)
"""Requests of ``ioctl`` that change no file but one that is open for writing. Landlock checks those
of devices alone: others set flags of a file that it may only read, or make folders."""


def compiled(machine: str = "", *, namespaces: bool = True) -> bytes:
    """``namespaces``: whether the kernel has its own. Raises ValueError for a machine that this
    module has no numbers of."""
    deny = ERROR | errno.EPERM
    made = Filter(machine or platform.machine(), deny)
    # Programs then fall back to clone and openat, whose flags can be read here.
    made.answer(("clone3", "openat2"), ERROR | errno.ENOSYS)
    # They take space on a disk that does not count as written. As on a file system without them.
    made.answer(("fallocate",), ERROR | errno.EOPNOTSUPP)
    made.answer(DENIED, deny)
    if not namespaces:
        made.answer(SHARED, deny)
        _without_namespaces(made, deny)
    made.look("clone", [load(0), *when(ANY_BIT, NEW_NAMESPACES, deny)])
    for name, place in _MODES.items():
        made.look(name, _mode(place, deny))
    for name, place in _OPENS.items():
        made.look(name, [load(place), *unless(ANY_BIT, _MAKES, ALLOW), *_mode(place + 1, deny)])
    typing = [one for number in TERMINAL for one in when(EQUAL, number, deny)]
    # As a file answers that does not know the request.
    unknown = ERROR | errno.ENOTTY
    taking = [one for number in _TAKES_SPACE for one in when(EQUAL, number, unknown)]
    known = [] if namespaces else among(_CONTROLS, unknown)
    made.look("ioctl", [load(1), *typing, *taking, *known])
    # Without a network, the error after which ZeroMQ does not stop the program.
    no_family = ERROR | (errno.EAFNOSUPPORT if namespaces else errno.EOPNOTSUPP)
    family = [load(0), *among(FAMILIES if namespaces else UNIX, no_family)]
    # The kind of a socket, without its flags.
    kind = [] if namespaces else [load(1), step(AND, 0xF), *among(CONNECTED, no_family)]
    for name in ("socket", "socketpair"):
        made.look(name, [*kind, *family])
    return made.compiled()


def _without_namespaces(made: Filter, deny: int) -> None:
    made.look("prlimit64", [load(0), *unless(EQUAL, 0, deny)])
    for name, own in _SCHEDULES.items():
        looks = [[load(place), *unless(EQUAL, value, ERROR)] for place, value in own.items()]
        made.look(name, [one for look in looks for one in look])
    for name in _WITHOUT_EFFECT:
        made.look(name, [step(RETURN, ERROR)])


def _mode(place: int, deny: int) -> list[bytes]:
    return [load(place), *when(ANY_BIT, RUN_AS_OWNER, deny)]
