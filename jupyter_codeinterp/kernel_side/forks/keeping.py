"""Keeps copies of the kernel's process, and puts one in its place. This file's text runs **in the
kernel**, in a sandbox.

A copy is a fork that waits on a pipe, with the variables of its time. Most of its memory is shared
with the kernel. When it wakes, it makes new sockets on the same paths (``reviving.py``), and the
kernel ends. bubblewrap ends a sandbox with its first process. So the first kernel does not exit: it
becomes a small supervisor that passes signals on, and exits as the last kernel did. Standard
library and ipykernel only.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import select
import signal
import sys
import warnings
from contextlib import suppress
from typing import Any

from .preflight import mapped, native_threads, refusal
from .refusing import Refusing
from .reviving import hear_no_more, park, revive, unlike_ours

NAME = "codeinterp_copies"
"""The shell's attribute that holds them."""
SOON = 0.5
"""Seconds after a cell."""
WAKES = 10.0
"""Seconds that a copy may take to wake."""
ANSWERED = 0.05
"""Seconds after which an answer has left."""
GONE = "The copy of the variables is no longer there."
SUPERVISOR = """
import os, signal, sys
told, current = int(sys.argv[1]), int(sys.argv[2])
def send(number, frame):
    try:
        os.kill(current, number)
    except ProcessLookupError:
        pass
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, send)
while True:
    pid, status = os.waitpid(-1, 0)
    if pid != current:
        continue
    try:
        text = os.read(told, 20)
    except BlockingIOError:
        text = b""
    if text:
        current = int(text)  # it has made way for this one
    else:
        os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
"""
WHY = {
    "not_linux": "Copies of a kernel need Linux.",
    "not_main_thread": "The kernel's main thread is not free.",
    "thread": "A thread of yours ({detail}) was running, which a copy would lack.",
    "task": "A task of asyncio ({detail}) was running, which a copy would lack.",
    "pool": "A library ({detail}) had threads running, which a copy would lack.",
    "gpu": "The kernel used a graphics processor ({detail}), which a copy cannot.",
    "shared_memory": "The kernel had a file in shared memory ({detail}).",
    "memory": "Too little memory was free: {detail}.",
}
"""By the codes of ``preflight.py``, without ``hidden``: bubblewrap shows a kernel its processes,
and one behind Landlock alone is never asked."""
SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER: orphans become this process's children."""


class Copy:
    """``pid`` and a handle that no other process can get; the pipe that ``wakes`` it, and the one
    on which it says that it is ``ready``."""

    def __init__(self, pid: int, wakes: int, ready: int) -> None:
        self.pid, self.wakes, self.ready = pid, wakes, ready
        self.handle = os.pidfd_open(pid)

    @property
    def lives(self) -> bool:
        return not select.select([self.handle], [], [], 0)[0]

    def end(self) -> None:
        with suppress(OSError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        with suppress(OSError):  # or it is the child of an earlier kernel
            os.waitpid(self.pid, 0)
        for number in (self.handle, self.wakes, self.ready):
            os.close(number)


class Copies:
    """``kept`` in the order in which they were made."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.kept: dict[str, Copy] = {}
        self.first = os.getpid()
        self.most = self.most_bytes = 0
        self.is_due = False
        self.refusing: Refusing | None = None
        """Set while a copy that has woken may take this kernel's place."""
        self.told, self.tells = os.pipe()
        os.set_blocking(self.told, False)

    def answer(self, asked: str) -> str:
        """Do one of the things below. JSON both ways."""
        given = json.loads(asked)
        return json.dumps(getattr(self, given["do"])(**given["with"]))

    def keep(self, key: str, most: int, most_bytes: int) -> dict[str, Any]:
        """Fork. Answers which copies there are then, and why there is no new one, or ""."""
        self.most, self.most_bytes = most, most_bytes
        why = "" if key in self.kept else unlike_ours(self.shell) or unsafe() or self.fork(key)
        for oldest in list(self.kept)[:-most]:
            self.kept.pop(oldest).end()
        self.watch()
        return {"kept": list(self.kept), "why": why}

    def look(self) -> dict[str, Any]:
        """Which copies there are."""
        return {"kept": [key for key, copy in self.kept.items() if copy.lives], "why": ""}

    def fork(self, key: str) -> str:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        waits, wakes = os.pipe()
        ready, says = os.pipe()
        # Python gives each fork other random numbers. This one shall go on as the kernel would.
        module = sys.modules.get("random")
        state = module.getstate() if module is not None else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the threads are ours
            try:
                pid = os.fork()
            except OSError as error:
                for number in (waits, wakes, ready, says):
                    os.close(number)
                return f"The kernel could not be copied: {error.strerror}."
        if pid:
            os.close(waits)
            os.close(says)
            self.kept[key] = Copy(pid, wakes, ready)
            return ""
        try:
            os.close(wakes)
            os.close(ready)
            park(waits)
            revive(self.shell, says, lambda: self.begin(module, state))
        finally:
            os._exit(1)

    def begin(self, random: Any, state: Any) -> None:
        """Be the kernel's copies, in a fork that becomes the kernel."""
        self.is_due = False  # the timer was the old loop's
        self.watch()
        if random is not None:
            random.setstate(state)

    def watch(self) -> None:
        """Bound the copies after each cell."""
        callbacks = self.shell.events.callbacks["post_run_cell"]
        if self.ran not in callbacks:
            self.shell.events.register("post_run_cell", self.ran)

    def ran(self, result: Any) -> None:
        """What a cell changes is no longer shared. Measure it soon: that takes some time."""
        if self.kept and not self.is_due:
            self.is_due = True
            asyncio.get_running_loop().call_later(SOON, self.bound)

    def bound(self) -> None:
        """End the oldest copies while they hold too much, and forget those that have ended."""
        self.is_due = False
        if self.refusing is not None:
            self.ran(None)  # later, if this kernel stays: one copy may be the next kernel
            return
        for key in [key for key, copy in self.kept.items() if not copy.lives]:
            self.kept.pop(key).end()
        while self.kept and self.size > self.most_bytes:
            self.kept.pop(next(iter(self.kept))).end()

    @property
    def size(self) -> int:
        """Bytes that the copies hold beside the kernel's. A page that n processes share counts 1/n
        in each, so the sum of all counts every page once."""
        mine = memory("self")
        shares = [mine["Pss_Anon"], *(memory(c.pid)["Pss_Anon"] for c in self.kept.values())]
        return sum(shares) - mine["Anonymous"]

    def wake(self, key: str) -> dict[str, Any]:
        """Wake a copy. It binds its sockets while this kernel still has its own. Answers why it
        did not wake, or "". Then cells of others are refused until ``leave`` or ``stay``."""
        copy = self.kept.get(key)
        if copy is None or not copy.lives:
            return {"why": GONE}
        os.write(copy.wakes, b"w")
        said = b""
        while select.select([copy.ready], [], [], WAKES)[0]:
            text = os.read(copy.ready, 4_096)
            if not text:
                break
            said += text
        if said == b"ready":
            kernel = self.shell.kernel
            server = kernel.get_parent("shell")["header"]["session"]
            self.refusing = Refusing(kernel, server)
            return {"why": ""}
        self.kept.pop(key).end()
        why = said.decode(errors="replace")[-300:] or "it did not answer"
        return {"why": f"The copy of the variables did not wake: {why}."}

    def leave(self, key: str) -> dict[str, Any]:
        """Make way for the copy that has woken, as soon as this is answered, or answer why not.
        All copies after that one end. May be asked again."""
        copy = self.kept.get(key)
        if self.refusing is None or copy is None or not copy.lives:
            return {"why": GONE}
        keys = list(self.kept)
        for later in keys[keys.index(key) + 1 :]:
            self.kept.pop(later).end()
        later_on = asyncio.get_running_loop().call_later
        later_on(ANSWERED, self.end_hearing)
        later_on(2 * ANSWERED, self.end, copy.pid)  # what was heard until then is refused
        return {"why": ""}

    def end_hearing(self) -> None:
        if self.refusing is not None:  # or it stays after all
            hear_no_more(self.shell.kernel.parent.shell_port)

    def end(self, pid: int) -> None:
        if self.refusing is None:
            return
        try:
            self.make_way(pid)
        finally:
            os._exit(1)

    def make_way(self, pid: int) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # also in the supervisor until it is ready
        if os.getpid() != self.first:
            os.write(self.tells, str(pid).encode())
            os._exit(0)
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
        os.set_inheritable(self.told, True)
        command = [sys.executable, "-I", "-S", "-c", SUPERVISOR, str(self.told), str(pid)]
        os.execv(sys.executable, command)

    def stay(self, key: str) -> None:
        """The copy that has woken is not wanted after all."""
        if self.refusing is not None:
            self.refusing.end()
            self.refusing = None
        copy = self.kept.pop(key, None)
        if copy is not None:
            copy.end()


def memory(pid: Any) -> dict[str, int]:
    """``Anonymous``: bytes of a process's pages that are no file's; ``Pss_Anon``: its share of
    them. 0 where Linux does not say."""
    found = {"Anonymous": 0, "Pss_Anon": 0}
    with suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123
        for line in file:
            name = line.partition(":")[0]
            if name in found:
                found[name] = 1024 * int(line.split()[1])
    return found


def unsafe() -> str:
    """Why a copy would not work, as a sentence; "" if nothing speaks against it."""
    found = refusal()
    if found is None and native_threads() and any("libgomp" in path for path in mapped()):
        # A fork of it works in one thread: good for a look, too slow for good.
        found = {"refused": "pool", "detail": "libgomp"}
    if found is None:
        return ""
    words = WHY.get(found["refused"], found["refused"])
    return words.format(detail=found["detail"])


def copies_of(shell: Any) -> Copies:
    if NAME not in vars(shell):
        vars(shell)[NAME] = Copies(shell)
    return vars(shell)[NAME]  # type: ignore[no-any-return]


if __name__ == "jupyter_codeinterp.keeping":
    ANSWER = copies_of(sys.modules["IPython"].get_ipython()).answer(globals()["ASKED"])
