"""A rehearsal's fork in a sandboxed kernel. Outside, the same code runs in a plain kernel itself.

An attempt succeeds if its code comes to its end in the fork. A fork that is refused counts as a
success, too: it would show nothing.
"""

from __future__ import annotations

from jupyter_codeinterp.adapters.kernels.zmq.kernel_files import kept_function
from jupyter_codeinterp.kernel_side.forks import REHEARSE, REHEARSE_FILES
from scripts.escapes.attempt import Attempt, Control

SECONDS = 4.0
TRIED = f"""
def tried(code):
    if FOLDER == "plain":
        exec(code, globals())
        return
    import json
    answer = json.loads({kept_function(REHEARSE_FILES, REHEARSE, "answer")}(code, {SECONDS}))
    if "refused" not in answer and not answer.get("success"):
        raise PermissionError(str(answer)[-300:])
"""
_CODES = {
    "write a file": "open('from-a-fork.txt', 'w').close()",
    "write a file, by native code": "assert LIBC.open(b'from-a-fork.txt', 0o101, 0o600) >= 0",
    "make a folder, by native code": "assert LIBC.mkdir(b'from-a-fork', 0o700) == 0",
    "change the mode of the folder, by native code": "assert LIBC.chmod(b'.', 0o755) == 0",
    "change the times of the folder, by native code": (
        "assert LIBC.utimensat(-100, b'.', None, 0) == 0"
    ),
    "write into a temporary file": "import tempfile; tempfile.TemporaryFile()",
    "start a program": "subprocess.run(['true'], check=True)",
    "fork, by native code": "pid = LIBC.fork(); pid or LIBC._exit(0); assert pid > 0",
    "fork twice, and leave": (
        "pid = os.fork()\nif not pid:\n    os.setsid(); os.fork(); os._exit(0)\nos.waitpid(pid, 0)"
    ),
    "not die with the kernel": "assert LIBC.prctl(1, 0, 0, 0, 0) == 0",
    "signal the kernel": "os.kill(os.getppid(), 0)",
    "signal the kernel, by native code": "assert LIBC.kill(os.getppid(), 0) == 0",
    "signal the kernel, by a pipe of its own": (
        "ends = os.pipe(); assert LIBC.fcntl(ends[0], 8, os.getppid()) == 0"
    ),
    "signal the kernel, by a handle": (
        "held = os.pidfd_open(os.getppid()); assert LIBC.syscall(424, held, 0, None, 0) == 0"
    ),
    "move the kernel to another processor": (
        "os.sched_setaffinity(os.getppid(), os.sched_getaffinity(os.getppid()))"
    ),
    "slow the kernel down": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 0)",
    "limit the kernel": (
        "import resource\nmost = resource.prlimit(os.getppid(), resource.RLIMIT_NPROC)\n"
        "resource.prlimit(os.getppid(), resource.RLIMIT_NPROC, most)"
    ),
    "answer in the kernel's name": (
        "names = []\n"
        "for number in map(int, os.listdir('/proc/self/fd')):\n"
        "    try:\n        names.append(socket.socket(fileno=os.dup(number)).getsockname())\n"
        "    except OSError:\n        pass\n"
        "assert any(names), 'no socket of it is open'"
    ),
    "connect to the network": "socket.create_server(('127.0.0.1', 0)).close()",
    "make a socket, by native code": "assert LIBC.socket(2, 1, 0) >= 0",
    "find out a host": "socket.getaddrinfo('localhost', 80)",
    "get semaphores that others share": "assert LIBC.semget(0, 1, 0o600) >= 0",
    "change a variable of the kernel": "CHANGED = True",
}
_OF_ROOT = {
    "read the kernel's memory": (
        "where = ctypes.create_string_buffer(8)\n"
        "part = (ctypes.c_void_p * 2)(ctypes.addressof(where), 8)\n"
        "assert LIBC.process_vm_readv(os.getppid(), part, 1, part, 1, 0) != -1\\\n"
        "    or ctypes.get_errno() == errno.EFAULT"
    ),
    "write into the kernel's memory": "open(f'/proc/{os.getppid()}/mem', 'r+b').close()",
    "trace the kernel": "reaches('ptrace', 0x4206, os.getppid(), 0, 0)",
}
_ENDLESS = {
    "run for ever": "while True: pass",
    "wait for ever": "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "fill the output": "while True: print('x' * 10**6)",
    "fill the memory": "held = []\nwhile True: held.append(bytearray(2**28))",
}


def _attempt(name: str, code: str, control: Control = Control.PLAIN) -> Attempt:
    after = "\nassert 'CHANGED' in globals()" if "CHANGED" in code else ""
    return Attempt(name, f"{TRIED}tried({code!r}){after}", control)


FORKS = (
    *(_attempt(name, code) for name, code in _CODES.items()),
    *(_attempt(name, code, Control.SOME) for name, code in _OF_ROOT.items()),
    *(_attempt(name, code, Control.NONE) for name, code in _ENDLESS.items()),
)
