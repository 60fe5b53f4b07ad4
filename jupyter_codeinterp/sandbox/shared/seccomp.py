"""A seccomp filter in the form that ``bwrap --seccomp`` reads: compiled BPF.

It denies what namespaces leave open: system calls with a history of kernel faults, and sockets that
no network namespace holds back (vsock, for one). Where there are no namespaces, it also denies what
Landlock leaves open.
"""

from __future__ import annotations

import errno
import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
DENIED = {
    # name: number on x86_64, number on aarch64; None where there is none
    "ptrace": (101, 117),
    "syslog": (103, 116),
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
    "unshare": (272, 97),
    "move_pages": (279, 239),
    "perf_event_open": (298, 241),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "finit_module": (313, 273),
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
    "pidfd_getfd": (438, 438),
    "mount_setattr": (442, 442),
    "quotactl_fd": (443, 443),
}
_CLONE, _CLONE3 = (56, 220), 435
_IOCTL = (16, 29)
_SOCKET, _SOCKETPAIR = (41, 198), (53, 199)
_MODES: tuple[tuple[tuple[int | None, int | None], int], ...] = (
    # of calls that set a file's mode: numbers as above, and the mode's place
    ((90, None), 1),  # chmod
    ((91, 52), 1),  # fchmod
    ((268, 53), 2),  # fchmodat
    ((452, 452), 2),  # fchmodat2
    ((85, None), 1),  # creat
    ((133, None), 1),  # mknod
    ((259, 33), 2),  # mknodat
)
_OPENS: tuple[tuple[tuple[int | None, int | None], int], ...] = (
    ((2, None), 1),  # open
    ((257, 56), 2),  # openat
)
"""Numbers, and the place of the flags. The mode follows."""
_OPENAT2 = 437
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
SHARED = {
    # what no namespace separates: as DENIED
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "migrate_pages": (256, 238),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    # a program that listens in the file system may do anything for who connects
    "connect": (42, 203),
    # what Landlock does not ask about, on any path
    "chown": (92, None),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "inotify_add_watch": (254, 27),
}
_PRLIMIT = (302, 261)
_SCHEDULES: tuple[tuple[tuple[int | None, int | None], int], ...] = (
    # without effect on another process or thread: numbers, and the place of its id
    ((141, 140), 1),  # setpriority
    ((142, 118), 0),  # sched_setparam
    ((144, 119), 0),  # sched_setscheduler
    ((203, 122), 0),  # sched_setaffinity
    ((314, 274), 0),  # sched_setattr
    ((251, 30), 1),  # ioprio_set
)
"""Landlock does not check them. ZeroMQ ends with an error if one fails for its threads."""
_WITHOUT_EFFECT: tuple[tuple[int | None, int | None], ...] = (
    (90, None),  # chmod
    (91, 52),  # fchmod
    (268, 53),  # fchmodat
    (452, 452),  # fchmodat2
    (132, None),  # utime
    (235, None),  # utimes
    (261, None),  # futimesat
    (280, 88),  # utimensat
)
"""Modes and times, also of files that it may only read. Programs that copy a file set them: an
error would end them."""
TERMINAL = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""


def compiled(machine: str = "", *, namespaces: bool = True) -> bytes:
    """``namespaces``: whether the kernel has its own. Raises ValueError for a machine that this
    module has no numbers of."""
    machine = machine or platform.machine()
    if machine not in ARCHITECTURES:
        raise ValueError(f"no system call numbers of {machine or 'this machine'}")
    one = list(ARCHITECTURES).index(machine)
    deny = _ERRNO | errno.EPERM
    code = [
        *_load(_ARCHITECTURE),
        *_unless(_EQUAL, ARCHITECTURES[machine], _KILL),
        *_load(_NUMBER),
        *_when(_AT_LEAST, _X32, deny),
        # Programs then fall back to clone and openat, whose flags can be read here.
        *_when(_EQUAL, _CLONE3, _ERRNO | errno.ENOSYS),
        *_when(_EQUAL, _OPENAT2, _ERRNO | errno.ENOSYS),
    ]
    denied = DENIED if namespaces else {**DENIED, **SHARED}
    for numbers in denied.values():
        number = numbers[one]
        if number is not None:
            code += _when(_EQUAL, number, deny)
    if not namespaces:
        code += _without_namespaces(one, deny)
    families = FAMILIES if namespaces else UNIX
    code += _block(_CLONE[one], [*_load(_ARGUMENTS), *_when(_ANY_BIT, NEW_NAMESPACES, deny)])
    for both, place in _MODES:
        code += _block(both[one], _mode(place, deny))
    for both, place in _OPENS:
        makes = [*_load(_ARGUMENTS + 8 * place), *_unless(_ANY_BIT, _MAKES, _ALLOW)]
        code += _block(both[one], [*makes, *_mode(place + 1, deny)])
    requests = [step for number in TERMINAL for step in _when(_EQUAL, number, deny)]
    code += _block(_IOCTL[one], [*_load(_ARGUMENTS + 8), *requests])
    # Without a network, the error after which ZeroMQ does not stop the program.
    no_family = _ERRNO | (errno.EAFNOSUPPORT if namespaces else errno.EOPNOTSUPP)
    family = [
        *([] if namespaces else _kind(no_family)),
        *_load(_ARGUMENTS),
        *(_step(_EQUAL, number, len(families) - place, 0) for place, number in enumerate(families)),
        _step(_RETURN, no_family),
    ]
    for number in (_SOCKET[one], _SOCKETPAIR[one]):
        code += _block(number, family)
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def _without_namespaces(one: int, deny: int) -> list[bytes]:
    code = _block(_PRLIMIT[one], [*_load(_ARGUMENTS), *_unless(_EQUAL, 0, deny)])
    for both, place in _SCHEDULES:
        named = [*_load(_ARGUMENTS + 8 * place), *_unless(_EQUAL, 0, _ERRNO)]
        code += _block(both[one], named)
    for both in _WITHOUT_EFFECT:
        code += _block(both[one], [_step(_RETURN, _ERRNO)])
    return code


def _kind(otherwise: int) -> list[bytes]:
    """Of a socket, without its flags."""
    kinds = [_step(_EQUAL, one, len(CONNECTED) - place) for place, one in enumerate(CONNECTED)]
    return [*_load(_ARGUMENTS + 8), _step(_AND, 0xF), *kinds, _step(_RETURN, otherwise)]


def _mode(place: int, deny: int) -> list[bytes]:
    return [*_load(_ARGUMENTS + 8 * place), *_when(_ANY_BIT, RUN_AS_OWNER, deny)]


def _step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def _load(offset: int) -> list[bytes]:
    return [_step(_LOAD, offset)]


def _when(test: int, value: int, result: int) -> list[bytes]:
    return [_step(test, value, 0, 1), _step(_RETURN, result)]


def _unless(test: int, value: int, result: int) -> list[bytes]:
    return [_step(test, value, 1, 0), _step(_RETURN, result)]


def _block(number: int | None, steps: list[bytes]) -> list[bytes]:
    """These steps for one system call, if the machine has it. Its end allows it."""
    if number is None:
        return []
    inner = [*steps, _step(_RETURN, _ALLOW)]
    return [_step(_EQUAL, number, 0, len(inner)), *inner]
