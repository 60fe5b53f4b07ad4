"""Cells tried in a fork of a real kernel: what comes back, and that nothing else does."""

from __future__ import annotations

import asyncio
import json
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.adapters.kernels.zmq import ZmqKernel
from jupyter_codeinterp.kernel_side.forks.bpf import ARCHITECTURES, CALLS
from tests.kernels import python, python_and_person, run, text, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")

SECONDS = 20.0
"""A machine at work needs longer than a person would wait."""
FUNCTION = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"


def shown(answer: dict[str, Any]) -> str:
    """All text of a rehearsal."""
    parts: list[str] = []
    for _, content in answer["messages"]:
        parts.append(content.get("text") or content.get("evalue") or "")
        parts.append(content.get("data", {}).get("text/plain", ""))
    return "".join([*parts, answer["native"]])


async def tried(kernel: ZmqKernel, code: str, seconds: float = SECONDS) -> dict[str, Any]:
    answer = await kernel.rehearse(code, seconds)
    assert "refused" not in answer, answer
    return answer


async def called(kernel: ZmqKernel, call: str) -> dict[str, Any]:
    place = list(ARCHITECTURES).index(platform.machine())
    call = call.replace("{ioprio_set}", str(CALLS["ioprio_set"][place]))
    return await tried(kernel, f"{FUNCTION}print({call}, ctypes.get_errno())")


SHOWN = {
    # code: what the person sees of it
    "print('out')": "out\n",
    "x + 1": "42",
    "print('a'); x": "a\n41",
    "import sys; print('to stderr', file=sys.stderr)": "to stderr\n",
    "1 / 0": "division by zero",
    "a = = 1": "invalid syntax",
    "raise SystemExit(3)": "3",
    "import os; _ = os.write(1, b'below Python')": "below Python",
    "import asyncio; await asyncio.sleep(0.01); print('awaited')": "awaited\n",
    "%time print('magic')": "magic\n",
    "file.readline()": "'second\\n'",
    "import logging; logging.warning('logged')": "logged\n",
    "import threading\nt = threading.Thread(target=lambda: print('thread'))\nt.start(); t.join()": (
        "thread\n"
    ),
    "from concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(2) as pool: print(sum(pool.map(int, '123')))": "6\n",
    "import numpy as np; print(np.ones((400, 400)).dot(np.ones((400, 400))).sum())": "64000000.0\n",
    "import pandas as pd; pd.DataFrame({'a': [1, 2]}).a.sum()": "3",
    "import sqlite3; sqlite3.connect(':memory:').execute('select 7').fetchone()": "(7,)",
}
REACHED = {
    # code: what it would do
    "open('new.txt', 'w').write('a')": ("write", "new.txt"),
    "open('kept.txt', 'a').write('a')": ("write", "kept.txt"),
    "from pathlib import Path; Path('kept.txt').write_text('')": ("write", "kept.txt"),
    "import os; os.remove('kept.txt')": ("delete", "kept.txt"),
    "import shutil; shutil.rmtree('folder')": ("delete", "folder"),
    "import os; os.rename('kept.txt', 'new.txt')": ("move", "kept.txt \u2192 new.txt"),
    "import os; os.mkdir('new')": ("write", "new"),
    "import pandas as pd; pd.DataFrame({'a': [1]}).to_csv('new.csv')": ("write", "new.csv"),
    "import socket; socket.create_connection(('127.0.0.1', 9))": ("connect", "127.0.0.1:9"),
    "import urllib.request; urllib.request.urlopen('http://example.invalid/')": (
        "connect",
        "example.invalid:80",
    ),
    "!touch new.txt": ("start", "touch new.txt"),
    "found = !ls": ("start", "ls"),
    "import subprocess; subprocess.run(['touch', 'new.txt'])": ("start", "touch new.txt"),
    "import os; os.system('touch new.txt')": ("start", "touch new.txt"),
    "import os; os.fork()": ("start", ""),
    "import os; os.kill(os.getppid(), 9)": ("signal", "{kernel}"),
}
HELD = {
    # native code, which no audit hook sees: the number of the error
    "libc.open(b'new.txt', 0o101, 0o600)": 30,
    "libc.open(b'kept.txt', 2)": 30,
    "libc.unlink(b'kept.txt')": 30,
    "libc.rename(b'kept.txt', b'new.txt')": 30,
    "libc.mkdir(b'new', 0o700)": 30,
    "libc.chmod(b'kept.txt', 0o777)": 30,
    "libc.truncate(b'kept.txt', 0)": 30,
    "libc.socket(2, 1, 0)": 13,
    "libc.fork()": 13,
    "libc.kill(libc.getppid(), 9)": 13,
    "libc.ptrace(16, libc.getppid(), 0, 0)": 13,
    "libc.execv(b'/bin/true', None)": 13,
    "libc.setrlimit(1, b'\\xff' * 16)": 13,
    "libc.ioctl(file.fileno(), 0x40086602, b'\\0' * 8)": 25,
    "libc.syscall(463, -100, b'kept.txt', 0, b'user.x', None, 16)": 30,
    "libc.syscall(466, -100, b'kept.txt', 0, b'user.x')": 30,
    "libc.syscall(469, -100, b'kept.txt', b'\\0' * 24, 24, 0)": 30,
    "libc.sched_setaffinity(libc.getppid(), 8, b'\\1' + b'\\0' * 7)": 13,
    "libc.sched_setscheduler(libc.getppid(), 3, b'\\0' * 4)": 13,
    "libc.sched_setparam(libc.getppid(), b'\\0' * 4)": 13,
    "libc.syscall({ioprio_set}, 1, libc.getppid(), 0)": 13,
    "libc.syscall({ioprio_set}, 2, 0, 0)": 13,
    "libc.fcntl(1, 8, libc.getppid())": 13,
    "libc.fcntl(1, 10, 9)": 13,
    "libc.fcntl(file.fileno(), 1024, 0)": 13,
    "libc.flock(file.fileno(), 2)": 13,
    "libc.prctl(1, 0, 0, 0, 0)": 13,
    "libc.setresuid(-1, -1, -1)": 13,
    "libc.shmctl(0, 0, None)": 13,
    "libc.semctl(0, 0, 0)": 13,
    "libc.msgctl(0, 0, None)": 13,
    "libc.process_vm_readv(libc.getppid(), None, 0, None, 0, 0)": 13,
    "libc.klogctl(5, None, 0)": 13,
    "libc.madvise(None, 4096, 100)": 13,
    "libc.write(file.fileno(), b'x', 1)": 9,
    "libc.write(sock.fileno(), b'x', 1)": 9,
}
ALLOWED = (
    # of the same system calls: what concerns this process alone
    "libc.sched_setaffinity(0, 8, b'\\xff' * 8)",
    "libc.sched_setscheduler(os.getpid(), 0, b'\\0' * 4)",
    "libc.syscall({ioprio_set}, 1, 0, 0)",
    "libc.flock(file.fileno(), 1)",
    "libc.fcntl(file.fileno(), 2, 1)",
    "libc.prctl(15, b'name', 0, 0, 0)",
    "libc.madvise(None, 0, 4)",
)
ENDS = {
    # code: how the rehearsal ends
    "import time; time.sleep(60)": "timeout",
    "while True: pass": "timeout",
    "while True: print('more')": "timeout",
    "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()": "stalled",
    "import os; os._exit(3)": "crashed",
    "import ctypes; ctypes.string_at(0)": "crashed",
    "import os; [os.write(pipe, b'x' * 10**6) for pipe in range(3, 30)]": "ended",
}


async def begin(kernel: ZmqKernel, folder: Path) -> None:
    _, done = await run(
        kernel,
        f"import os, socket\nos.chdir({str(folder)!r})\nx = 41\n"
        "open('kept.txt', 'w').write('first\\nsecond\\n')\nos.mkdir('folder')\n"
        "file = open('kept.txt', 'r+')\nfile.readline()\nsock, other = socket.socketpair()",
    )
    assert done.status == "ok", done.outputs


async def test_what_a_rehearsal_shows_and_stops_at(tmp_path: Path) -> None:
    async with python_and_person() as (kernel, person, _):
        await begin(kernel, tmp_path)
        before = names(tmp_path)
        _, done = await run(kernel, "print(os.getpid())")
        pid = text(done).strip()
        await until(lambda: any(pid in str(m["content"].get("text")) for m in person.messages))
        published = len(person.messages)
        for code, expected in SHOWN.items():
            answer = await tried(kernel, code)
            assert answer["how"] == "ended" and expected in shown(answer), (code, answer)
        for code, (what, name) in REACHED.items():
            answer = await tried(kernel, code)
            reach = {"what": what, "name": name.replace("{kernel}", pid)}
            assert answer["reached"][:1] == [reach], (code, answer)
            assert answer["stopped"] and not answer["success"], (code, answer)
        for call, error in HELD.items():
            answer = await called(kernel, call)
            assert shown(answer).endswith(f"-1 {error}\n"), (call, answer)
        for call in ALLOWED:
            answer = await called(kernel, call)
            assert shown(answer).endswith("0 0\n"), (call, answer)
        # Nothing of it was published, and the kernel is as before.
        later = {m["msg_type"] for m in person.messages[published:]}
        assert later <= {"status", "execute_input"}
        _, done = await run(
            kernel, "print(x, file.readline(), open('kept.txt').read(), sorted(os.listdir()))"
        )
        assert text(done) == "41 second\n first\nsecond\n ['folder', 'kept.txt']\n"
        assert names(tmp_path) == before
        assert not children(int(pid))


async def test_how_a_rehearsal_ends(tmp_path: Path) -> None:
    async with python() as (kernel, _, _):
        await begin(kernel, tmp_path)
        for code, how in ENDS.items():
            answer = await tried(kernel, code, 4)
            assert answer["how"] == how, (code, answer)
            assert len(json.dumps(answer)) < 20_000_000, code
        _, done = await run(kernel, "print(x, os.getpid())")
        assert text(done).startswith("41 ")
        assert not children(int(text(done).split()[1]))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def children(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


async def test_changes_of_variables() -> None:
    async with python() as (kernel, _, _):
        await run(
            kernel, "import pandas as pd\na = 1\ngone = 2\ndf = pd.DataFrame({'p': [1]})\nsame = 3"
        )
        answer = await tried(kernel, "a = 5\ndel gone\ndf['q'] = 2\nnew = 'text'\nsame")
        found = {one.pop("name"): one for one in answer["changes"]}
        assert {name: one["how"] for name, one in found.items()} == {
            "a": "rebound",
            "gone": "removed",
            "df": "changed",
            "new": "added",
        }
        assert found["a"]["value"] == "5" and found["new"]["value"] == "'text'"
        assert found["df"]["new_columns"] == ["'q'"]
        _, done = await run(kernel, "print(a, gone, list(df), 'new' in globals())")
        assert text(done) == "1 2 ['p'] False\n"


async def test_random_numbers_are_those_of_the_run() -> None:
    """A fork of Python seeds them anew; here it does not. (The kernel itself uses some.)"""
    async with python() as (kernel, _, _):
        await run(kernel, "import random; random.seed(7)")
        answer = await tried(kernel, "random.getstate()[1][0]")
        _, done = await run(kernel, "print(random.getstate()[1][0])")
        assert shown(answer) == text(done).strip()


async def test_a_cell_of_the_person_is_not_disturbed() -> None:
    """A kernel at work refuses; the person's own cells and history stay as they are."""
    async with python_and_person() as (kernel, person, link):
        await run(kernel, "x = 1")
        sleeping = person.run("import time; time.sleep(2)")
        await person.begun(sleeping)
        assert (await kernel.rehearse("x", 5))["refused"] == "busy"
        await person.finished(sleeping)
        _, done = await run(kernel, "print(get_ipython().execution_count, len(In))")
        count = text(done)
        await until(lambda: not link.busy)
        await tried(kernel, "y = 2\ny")
        _, done = await run(kernel, "print(get_ipython().execution_count, len(In), 'y' in dir())")
        numbers = list(map(int, count.split()))
        assert text(done) == f"{numbers[0] + 1} {numbers[1] + 1} False\n"


async def test_giving_up_ends_the_fork() -> None:
    async with python() as (kernel, link, _):
        await run(kernel, "x = 1")
        trying = asyncio.create_task(kernel.rehearse("import time; time.sleep(60)", 60))
        await until(lambda: link.busy)
        await asyncio.sleep(1)
        trying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trying
        _, done = await asyncio.wait_for(run(kernel, "import os; print(x, os.getpid())"), 10)
        assert text(done).startswith("1 ") and not children(int(text(done).split()[1]))


async def test_other_kernels_refuse() -> None:
    async with python() as (kernel, _, _):
        await run(
            kernel,
            "import threading; end = threading.Event()\n"
            "threading.Thread(target=end.wait, name='mine').start()",
        )
        assert await kernel.rehearse("1", 5) == {"refused": "thread", "detail": "mine"}
        await run(kernel, "end.set()")
        await tried(kernel, "1")
