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

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FILES = {
    # name: number on x86_64, number on aarch64; None where there is none
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
    "truncate": (76, 45),
    "utime": (132, None),
    "mknod": (133, None),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "utimes": (235, None),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mkdirat": (258, 34),
    "mknodat": (259, 33),
    "fchownat": (260, 54),
    "futimesat": (261, None),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
    "fchmodat": (268, 53),
    "utimensat": (280, 88),
    "open_by_handle_at": (304, 265),
    "renameat2": (316, 276),
    "fchmodat2": (452, 452),
}
OTHERS = {
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "socket": (41, 198),
    "connect": (42, 203),
    "sendmsg": (46, 211),
    "bind": (49, 200),
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "kill": (62, 129),
    "msgget": (68, 186),
    "ptrace": (101, 117),
    "rt_sigqueueinfo": (129, 138),
    "setpriority": (141, 140),
    "setrlimit": (160, 164),
    "settimeofday": (164, 170),
    "mount": (165, 40),
    "umount2": (166, 39),
    "reboot": (169, 142),
    "pivot_root": (155, 41),
    "adjtimex": (159, 171),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "tkill": (200, 130),
    "clock_settime": (227, 112),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "rt_tgsigqueueinfo": (297, 240),
    "perf_event_open": (298, 241),
    "clock_adjtime": (305, 266),
    "sendmmsg": (307, 269),
    "setns": (308, 268),
    "process_vm_writev": (311, 271),
    "finit_module": (313, 273),
    "bpf": (321, 280),
    "execveat": (322, 281),
    "pidfd_send_signal": (424, 424),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "pidfd_getfd": (438, 438),
    "mount_setattr": (442, 442),
}
OPEN, OPENAT, OPENAT2 = (2, None), (257, 56), 437
CLONE, CLONE3 = (56, 220), 435
SENDTO, TGKILL, PRLIMIT, IOCTL = (44, 206), (234, 131), (302, 261), (16, 29)
HARMLESS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Requests to a file that ask (is it a terminal, how wide, how much to read) or concern only this
process (blocking, closing). Others may change the file, also one that is open for reading."""
FOR_WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o20000000
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND and the bit of O_TMPFILE."""
CLONE_THREAD = 0x10000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERROR, KILL = 0x7FFF0000, 0x00050000, 0x80000000
X32 = 0x40000000
NO_NEW_PRIVILEGES, SECCOMP, FILTER, DEATH_SIGNAL = 38, 22, 2, 1


def program(machine: str, pid: int) -> bytes:
    """Compiled BPF for the process ``pid``. Raises ValueError for another machine."""
    if machine not in ARCHITECTURES:
        raise ValueError(f"no system call numbers of {machine}")
    one = list(ARCHITECTURES).index(machine)
    no_file, no = ERROR | errno.EROFS, ERROR | errno.EACCES
    steps = [step(LOAD, 4), step(EQUAL, ARCHITECTURES[machine], 1, 0), step(RETURN, KILL)]
    steps += [step(LOAD, 0), *when(AT_LEAST, X32, no)]
    # Programs then fall back to clone and openat, whose flags can be read here.
    steps += [*when(EQUAL, CLONE3, ERROR | errno.ENOSYS)]
    steps += [*when(EQUAL, OPENAT2, ERROR | errno.ENOSYS)]
    for table, answer in ((FILES, no_file), (OTHERS, no)):
        for numbers in table.values():
            steps += when(EQUAL, numbers[one], answer) if numbers[one] is not None else []
    steps += block(OPEN[one], [load(1), *when(ANY_BIT, FOR_WRITING, no_file)])
    steps += block(OPENAT[one], [load(2), *when(ANY_BIT, FOR_WRITING, no_file)])
    steps += block(CLONE[one], [load(0), *unless(ANY_BIT, CLONE_THREAD, no)])
    steps += block(TGKILL[one], [load(0), *unless(EQUAL, pid, no)])
    known = [step(EQUAL, request, len(HARMLESS) - at, 0) for at, request in enumerate(HARMLESS)]
    steps += block(IOCTL[one], [load(1), *known, step(RETURN, ERROR | errno.ENOTTY)])
    for numbers, place in ((SENDTO, 4), (PRLIMIT, 2)):
        # A pointer: the address to send to, or a new limit.
        halves = [load(place), *when(ANY_BIT, 0xFFFFFFFF, no)]
        halves += [load(place, 4), *when(ANY_BIT, 0xFFFFFFFF, no)]
        steps += block(numbers[one], halves)
    return b"".join([*steps, step(RETURN, ALLOW)])


def step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def load(argument: int, half: int = 0) -> bytes:
    return step(LOAD, 16 + 8 * argument + half)


def when(test: int, value: int | None, answer: int) -> list[bytes]:
    return [step(test, value or 0, 0, 1), step(RETURN, answer)]


def unless(test: int, value: int, answer: int) -> list[bytes]:
    return [step(test, value, 1, 0), step(RETURN, answer)]


def block(number: int | None, steps: list[bytes]) -> list[bytes]:
    """Steps for one system call; all others skip them."""
    if number is None:
        return []
    return [step(EQUAL, number, 0, len(steps) + 1), *steps, step(RETURN, ALLOW)]


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
