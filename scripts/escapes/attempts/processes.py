"""Processes outside of the sandbox: ``VICTIM`` has a secret in its environment."""

from __future__ import annotations

from scripts.escapes.attempt import Attempt, Control, plain

STAYS = "a process that stays"
"""The proof of an attempt to outlive the kernel."""

PROCESSES = (
    *plain(
        {
            "read a variable of a program": (
                "assert SECRET.encode() in open(f'/proc/{VICTIM}/environ', 'rb').read()"
            ),
            "read what a program was started with": (
                "assert b'sleep' in open(f'/proc/{VICTIM}/cmdline', 'rb').read()"
            ),
            "signal a program": "os.kill(VICTIM, 0)",
            "hold a program": "os.close(os.pidfd_open(VICTIM))",
            "move a program to one processor": (
                "os.sched_setaffinity(VICTIM, [0]); assert os.sched_getaffinity(VICTIM) == {0}"
            ),
            "limit a program": (
                "import resource; resource.prlimit(VICTIM, resource.RLIMIT_CORE, (0, 0))"
            ),
            "read memory that a program shares": (
                "LIBC.shmat.restype = ctypes.c_void_p\n"
                "found = LIBC.shmat(SEGMENT, None, 0o10000)\n"
                "assert found != ctypes.c_void_p(-1).value\n"
                "assert ctypes.string_at(found, 5) == b'hello'"
            ),
        }
    ),
    *plain(
        {
            "trace a program": "fresh('assert LIBC.ptrace(0x4206, VICTIM, 0, 0) == 0')",
            "read the memory of a program": "open(f'/proc/{VICTIM}/mem', 'rb').close()",
            "take an open file of a program": (
                "held = os.pidfd_open(VICTIM); os.close(reaches('pidfd_getfd', held, 0, 0))"
            ),
            "run before all others": "fresh('os.nice(-1)')",
        },
        Control.ROOT,
    ),
    *plain(
        {
            "see the files of the first process": (
                "assert 'project' in os.listdir(f'/proc/1/root{HOME}')"
            ),
        },
        Control.SOME,
    ),
    *plain(
        {
            "read a variable of the server in the sandbox's first process": (
                "assert b'A_SECRET' in open('/proc/1/environ', 'rb').read()"
            ),
            "slow all programs of the person down": (
                "os.setpriority(os.PRIO_USER, 0, 1)\n"
                "assert os.getpriority(os.PRIO_PROCESS, VICTIM) == 1"
            ),
            "use a folder outside that a program left open": (
                "for path in glob.glob('/proc/[0-9]*/fd/*'):\n"
                "    try:\n        folder = stat.S_ISDIR(os.stat(path).st_mode)\n"
                "    except OSError:\n        continue\n"
                "    if folder:\n        os.listdir(f'{path}/..')\n        break\n"
                "else:\n    raise FileNotFoundError"
            ),
        },
        Control.NONE,
    ),
    Attempt(
        "outlive the kernel, and ignore every signal",
        "code = 'import signal, time\\n'\n"
        "code += 'for n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\\n'\n"
        "subprocess.Popen([sys.executable, '-c', code + 'time.sleep(600)', MARK],\n"
        "                 start_new_session=True)\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)",
        proof=STAYS,
    ),
)
