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
    "madvise": (28, 233),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "socket": (41, 198),
    "connect": (42, 203),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "bind": (49, 200),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "kill": (62, 129),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "fcntl": (72, 25),
    "flock": (73, 32),
    "truncate": (76, 45),
    "rename": (82, None),
    "mkdir": (83, None),
    "rmdir": (84, None),
    "creat": (85, None),
    "link": (86, None),
    "unlink": (87, None),
    "symlink": (88, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "ptrace": (101, 117),
    "syslog": (103, 116),
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setgroups": (116, 159),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "capset": (126, 91),
    "rt_sigqueueinfo": (129, 138),
    "utime": (132, None),
    "mknod": (133, None),
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "vhangup": (153, 58),
    "modify_ldt": (154, None),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "adjtimex": (159, 171),
    "setrlimit": (160, 164),
    "chroot": (161, 51),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "mount": (165, 40),
    "umount2": (166, 39),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "quotactl": (179, 60),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "tkill": (200, 130),
    "sched_setaffinity": (203, 122),
    "lookup_dcookie": (212, 18),
    "semtimedop": (220, 192),
    "clock_settime": (227, 112),
    "tgkill": (234, 131),
    "utimes": (235, None),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "ioprio_set": (251, 30),
    "inotify_add_watch": (254, 27),
    "migrate_pages": (256, 238),
    "openat": (257, 56),
    "mkdirat": (258, 34),
    "mknodat": (259, 33),
    "fchownat": (260, 54),
    "futimesat": (261, None),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
    "fchmodat": (268, 53),
    "unshare": (272, 97),
    "move_pages": (279, 239),
    "utimensat": (280, 88),
    "fallocate": (285, 47),
    "rt_tgsigqueueinfo": (297, 240),
    "perf_event_open": (298, 241),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "prlimit64": (302, 261),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "clock_adjtime": (305, 266),
    "sendmmsg": (307, 269),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "finit_module": (313, 273),
    "sched_setattr": (314, 274),
    "renameat2": (316, 276),
    "kexec_file_load": (320, 294),
    "bpf": (321, 280),
    "execveat": (322, 281),
    "userfaultfd": (323, 282),
    "pidfd_send_signal": (424, 424),
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
    "process_madvise": (440, 440),
    "mount_setattr": (442, 442),
    "quotactl_fd": (443, 443),
    "process_mrelease": (448, 448),
    "fchmodat2": (452, 452),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "open_tree_attr": (467, 467),
    "file_setattr": (469, 469),
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
