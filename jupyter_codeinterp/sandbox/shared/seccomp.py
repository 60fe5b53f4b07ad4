"""A seccomp filter in the form that ``bwrap --seccomp`` reads: compiled BPF.

It denies what namespaces leave open: system calls with a history of kernel faults, and sockets that
no network namespace holds back (vsock, for one).
"""

from __future__ import annotations

import errno
import platform

from .bpf import ALLOW, ANY_BIT, EQUAL, ERROR, FilterProgram, among, load, unless, when

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
    # calls that set a file's mode, and the position of the mode
    "chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2,
}  # fmt: skip
_OPENS = {"open": 1, "openat": 2}
"""Calls that open a file, and the position of the flags. The mode follows them."""
_MAKES = 0o100 | 0o20000000
"""O_CREAT and O_TMPFILE: without them the mode is whatever was in the register."""
_LINKS = ("symlink", "symlinkat")
WHITEOUT = 4
"""A flag of ``renameat2`` that leaves a device in the file's place."""
_SPECIAL = 0o070000
"""Bits of a file type: a pipe, a socket or a device has one of them, a regular file none."""
RUN_AS_OWNER = 0o6000
"""Bits that run a file as its owner for all users, also outside of the sandbox."""
NEW_NAMESPACES = 0x7E020080
"""CLONE_NEW*: user, pid, net, ipc, uts, cgroup, mount, time."""
FAMILIES = (1, 2, 10, 16)
"""Allowed socket families: Unix, IPv4, IPv6, netlink."""
TERMINAL = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""
_TAKES_SPACE = (0x40305828, 0x4030582A, 0x40305839)
"""FS_IOC_RESVSP, FS_IOC_RESVSP64 and FS_IOC_ZERO_RANGE, which work like ``fallocate``."""


def compiled(machine: str = "", *, links: bool = False) -> bytes:
    """The filter. ``links``: allow symbolic links, pipes and devices, which could redirect other
    programs in the notebook's folder. Raises ValueError for an unknown architecture."""
    deny = ERROR | errno.EPERM
    made = FilterProgram(machine or platform.machine(), deny)
    # Programs then fall back to clone and openat, whose flags can be read here.
    made.answer(("clone3", "openat2"), ERROR | errno.ENOSYS)
    # Their space on disk does not count as written. Answer as a file system without them.
    made.answer(("fallocate",), ERROR | errno.EOPNOTSUPP)
    made.answer(DENIED, deny)
    made.look("clone", [load(0), *when(ANY_BIT, NEW_NAMESPACES, deny)])
    if not links:
        made.answer(_LINKS, deny)
    whiteout = when(ANY_BIT, WHITEOUT, ERROR | errno.EINVAL)  # as a file system without it
    made.look("renameat2", [load(4), *whiteout])
    for name, place in _MODES.items():
        special = [] if links or "mknod" not in name else when(ANY_BIT, _SPECIAL, deny)
        made.look(name, [*_mode(place, deny), *special])
    for name, place in _OPENS.items():
        made.look(name, [load(place), *unless(ANY_BIT, _MAKES, ALLOW), *_mode(place + 1, deny)])
    typing = [one for number in TERMINAL for one in when(EQUAL, number, deny)]
    # The answer of a file that does not know the request.
    unknown = ERROR | errno.ENOTTY
    taking = [one for number in _TAKES_SPACE for one in when(EQUAL, number, unknown)]
    made.look("ioctl", [load(1), *typing, *taking])
    family = [load(0), *among(FAMILIES, ERROR | errno.EAFNOSUPPORT)]
    for name in ("socket", "socketpair"):
        made.look(name, family)
    return made.compiled()


def _mode(place: int, deny: int) -> list[bytes]:
    return [load(place), *when(ANY_BIT, RUN_AS_OWNER, deny)]
