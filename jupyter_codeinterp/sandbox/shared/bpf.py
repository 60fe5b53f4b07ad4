"""Seccomp filters as compiled BPF, and the numbers of system calls.

A filter loads the number of the system call, and allows calls that no step answers.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    # name: number on x86_64, number on aarch64; None where there is none
    "open": (2, None),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "creat": (85, None),
    "symlink": (88, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "ptrace": (101, 117),
    "syslog": (103, 116),
    "mknod": (133, None),
    "modify_ldt": (154, None),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "mount": (165, 40),
    "umount2": (166, 39),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "iopl": (172, None),
    "ioperm": (173, None),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "quotactl": (179, 60),
    "lookup_dcookie": (212, 18),
    "clock_settime": (227, 112),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "openat": (257, 56),
    "mknodat": (259, 33),
    "symlinkat": (266, 36),
    "fchmodat": (268, 53),
    "unshare": (272, 97),
    "move_pages": (279, 239),
    "fallocate": (285, 47),
    "perf_event_open": (298, 241),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "finit_module": (313, 273),
    "renameat2": (316, 276),
    "kexec_file_load": (320, 294),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "clone3": (435, 435),
    "openat2": (437, 437),
    "pidfd_getfd": (438, 438),
    "mount_setattr": (442, 442),
    "quotactl_fd": (443, 443),
    "fchmodat2": (452, 452),
    "open_tree_attr": (467, 467),
}
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, ERROR, KILL = 0x7FFF0000, 0x00050000, 0x80000000
X32 = 0x40000000
"""From here on, numbers belong to the table of the x32 ABI."""


class FilterProgram:
    """A filter for one architecture. Raises ValueError for an unknown one."""

    def __init__(self, machine: str, deny: int) -> None:
        """``deny``: the answer to system calls of the x32 ABI."""
        if machine not in ARCHITECTURES:
            raise ValueError(f"no system call numbers of {machine or 'this machine'}")
        self._place = list(ARCHITECTURES).index(machine)
        self.steps = [step(LOAD, 4), *unless(EQUAL, ARCHITECTURES[machine], KILL)]
        self.steps += [step(LOAD, 0), *when(AT_LEAST, X32, deny)]

    def answer(self, names: Sequence[str], answer: int) -> None:
        """Answer these system calls, if the architecture has them."""
        for name in names:
            number = CALLS[name][self._place]
            if number is not None:
                self.steps += when(EQUAL, number, answer)

    def look(self, name: str, steps: list[bytes]) -> None:
        """Add steps for one system call, which is allowed at their end."""
        number = CALLS[name][self._place]
        if number is not None:
            inner = [*steps, step(RETURN, ALLOW)]
            self.steps += [step(EQUAL, number, 0, len(inner)), *inner]

    def compiled(self) -> bytes:
        return b"".join([*self.steps, step(RETURN, ALLOW)])


def step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def load(argument: int, half: int = 0) -> bytes:
    """Load the lower (0) or upper (4) half of an argument, counted from 0."""
    return step(LOAD, 16 + 8 * argument + half)


def when(test: int, value: int, answer: int) -> list[bytes]:
    return [step(test, value, 0, 1), step(RETURN, answer)]


def unless(test: int, value: int, answer: int) -> list[bytes]:
    return [step(test, value, 1, 0), step(RETURN, answer)]


def among(values: Sequence[int], answer: int) -> list[bytes]:
    """Return ``answer`` unless the loaded value is among ``values``."""
    known = [step(EQUAL, one, len(values) - at) for at, one in enumerate(values)]
    return [*known, step(RETURN, answer)]
