"""System calls that have opened sandboxes before. ``reaches`` gives most of them arguments that
change nothing."""

from __future__ import annotations

from scripts.escapes.attempt import Control, plain


def _in_a_process(code: str) -> str:
    return f"fresh({code!r})"


def _clones(arguments: str) -> str:
    return _in_a_process(
        f"pid = LIBC.syscall({arguments})\n"
        "if pid == 0:\n    os._exit(0)\n"
        "if pid < 0:\n    raise PermissionError(ctypes.get_errno(), 'clone')\n"
        "os.waitpid(pid, 0)"
    )


_CLONE_3 = "ctypes.c_long(435), (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17), ctypes.c_long(88)"
_32_BITS = """
import mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex('b814000000cd80c3'))
start = ctypes.addressof(ctypes.c_char.from_buffer(page))
assert ctypes.CFUNCTYPE(ctypes.c_int)(start)() == os.getpid()
"""

CALLS = (
    *plain(
        {
            "make a user namespace": "fresh('assert LIBC.unshare(0x10000000) == 0')",
            "make one as a process starts": _clones(
                "*map(ctypes.c_long, (CLONE, 0x10000000 | 17, 0, 0, 0, 0))"
            ),
            "make one by the newer call": _clones(_CLONE_3),
            "use the keys of the Linux kernel": "reaches('keyctl', 0, -3, 0, 0, 0)",
            "keep a key there": "reaches('add_key', b'user', b'x', b'y', 1, -2)",
            "ask for a file by its handle": (
                "reaches('name_to_handle_at', -100, b'.', ctypes.create_string_buffer(256),"
                " ctypes.create_string_buffer(8), 0)"
            ),
            "mount a file system": "reaches('mount', b'none', b'/no such', b'tmpfs', 0, None)",
            "detach a tree of files": "reaches('open_tree', -100, b'/no such', 0)",
            "set the clock": "reaches('settimeofday', (ctypes.c_long * 2)(0, -1), None)",
            "type into a terminal": (
                "import fcntl\n"
                "try:\n    fcntl.ioctl(0, 0x5412, b'x')\n"
                "except OSError as error:\n    assert error.errno == errno.ENOTTY, error"
            ),
        }
    ),
    *plain(
        {
            "remove a mount": "reaches('umount2', b'.git', 2)",
            "move a mount": "reaches('move_mount', -100, b'/no such', -100, b'/no such', 0)",
            "make a mount namespace": "fresh('assert LIBC.unshare(0x00020000) == 0')",
            "make a network namespace": "fresh('assert LIBC.unshare(0x40000000) == 0')",
            "enter a namespace": (
                "reaches('setns', os.open('/proc/self/ns/uts', os.O_RDONLY), 0x04000000)"
            ),
            "change the root": "fresh('os.chroot(\"/\")')",
            "open a file system": "os.close(reaches('fsopen', b'tmpfs', 0))",
            "open a file by its handle": "reaches('open_by_handle_at', -100, None, 0)",
            "load a program into the Linux kernel": (
                "reaches('bpf', 0, ctypes.create_string_buffer(128), 128)"
            ),
            "restart the machine": "reaches('reboot', 0, 0, 0, None)",
        },
        Control.ROOT,
    ),
    *plain(
        {
            "share a ring with the Linux kernel": (
                "os.close(reaches('io_uring_setup', 1, ctypes.create_string_buffer(120)))"
            ),
            "handle its own page faults": "os.close(reaches('userfaultfd', 1))",
            "measure the Linux kernel": (
                "reaches('perf_event_open', ctypes.create_string_buffer(128), 0, -1, -1, 0)"
            ),
            "watch all files": "os.close(reaches('fanotify_init', 0, 0))",
            "raise the bound of a limit": (
                "fresh('import resource\\n"
                "for most in (50, 60):\\n"
                "    resource.setrlimit(resource.RLIMIT_NOFILE, (50, most))')"
            ),
            "load a module": "reaches('init_module', None, 0, b'')",
            "load another Linux kernel": "reaches('kexec_load', 0, 100, None, 0)",
            "read the ring of kernel messages": "reaches('syslog', 10, None, 0)",
            "use the system calls of 32-bit programs": _in_a_process(_32_BITS),
            "use the system calls of x32": (
                "fresh('assert LIBC.syscall(ctypes.c_long(0x40000027)) == os.getpid()')"
            ),
        },
        Control.SOME,
    ),
)
