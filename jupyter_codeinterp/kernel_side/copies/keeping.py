"""Keeps copies of the kernel's process, and puts one in its place. This file's text runs **in the
kernel**, in a sandbox.

A copy is a fork that sleeps (``sleeping.py``), with the variables of its time. Most of its memory
is shared with the kernel. When it wakes, it makes new sockets on the same paths (``reviving.py``),
and the kernel ends. Before, the kernel forks, too: a redo wakes that copy in the same way.
bubblewrap ends a sandbox with its first process. So the first kernel does not exit: it becomes a
small supervisor that passes signals on, and exits as the last kernel did. Standard library and
ipykernel only.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import sys
import warnings
from contextlib import suppress
from typing import Any

from ..forks.preflight import mapped, native_threads, refusal
from .refusing import Refusing
from .reviving import hear_no_more, park, revive, unlike_ours
from .sleeping import Copy, handed_over, new_copy

NAME = "codeinterp_copies"
"""The shell's attribute that holds them."""
SOON = 0.5
"""Seconds after a cell."""
ANSWERED = 0.05
"""Seconds after which an answer has left."""
GONE = "The copy of the variables is no longer there."
RAN = "A cell has run since."
TOO_LARGE = "The kernel keeps little memory for copies. This one is gone."
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


class Copies:
    """Two lists of copies, each with the oldest first: ``kept`` from before turns, which an undo
    wakes, and ``undone``, which undos left, and a redo wakes. A cell ends all of ``undone``."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.kept: dict[str, Copy] = {}
        self.undone: dict[str, Copy] = {}
        self.lost = ""
        """Why the last copies of ``undone`` ended."""
        self.first = os.getpid()
        self.most = self.most_bytes = 0
        self.is_due = False
        self.refusing: Refusing | None = None
        """Set while a copy that has woken may take this kernel's place."""
        self.mine: Copy | None = None
        """What was made of this kernel then."""
        self.told, self.tells = os.pipe()
        os.set_blocking(self.told, False)

    def answer(self, asked: str) -> str:
        """Do one of the things below. JSON both ways."""
        given = json.loads(asked)
        return json.dumps(getattr(self, given["do"])(**given["with"]))

    def keep(self, key: str, most: int, most_bytes: int) -> dict[str, Any]:
        """Fork. Answers which copies there are then, and why there is no new one, or ""."""
        self.most, self.most_bytes = most, most_bytes
        why = ""
        if key not in self.kept:
            self.runs(None)
            copy, why = self.fork()
            if copy is not None:
                self.kept[key] = copy
        for oldest in list(self.kept)[:-most]:
            self.kept.pop(oldest).end()
        self.watch()
        return {**self.look(), "why": why}

    def look(self) -> dict[str, Any]:
        """Which copies there are."""
        both = {"kept": self.kept, "undone": self.undone}
        living = {
            name: [key for key, copy in copies.items() if copy.lives]
            for name, copies in both.items()
        }
        return {**living, "lost": self.lost}

    def fork(self) -> tuple[Copy | None, str]:
        """A new copy, or why there is none."""
        why = unlike_ours(self.shell) or unsafe()
        if why:
            return None, why
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        # Python gives each fork other random numbers. This one shall go on as the kernel would.
        module = sys.modules.get("random")
        state = module.getstate() if module is not None else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the threads are ours
            try:
                copy, channel = new_copy()
            except OSError as error:
                return None, f"The kernel could not be copied: {error.strerror}."
        if copy is not None:
            return copy, ""
        try:
            for other in (*self.kept.values(), *self.undone.values()):
                other.forget()
            park(channel)
            revive(self.shell, channel, lambda: self.begin(channel, module, state))
        finally:
            os._exit(1)

    def begin(self, channel: Any, random: Any, state: Any) -> None:
        """Be the kernel's copies, in a fork that becomes the kernel."""
        given = handed_over(channel)
        self.kept, self.undone = given.get("kept", {}), given.get("undone", {})
        self.lost = ""
        self.watch()
        self.is_due = False  # the timer was the old loop's
        self.ran(None)
        if random is not None:
            random.setstate(state)

    def watch(self) -> None:
        """End and bound copies with each cell."""
        for event, callback in (("pre_run_cell", self.runs), ("post_run_cell", self.ran)):
            if callback not in self.shell.events.callbacks[event]:
                self.shell.events.register(event, callback)

    def runs(self, info: Any) -> None:
        """After another cell, the kernel is no longer as the undo made it."""
        if self.undone:
            self.lost = RAN
        for key in list(self.undone):
            self.undone.pop(key).end()

    def ran(self, result: Any) -> None:
        """What a cell changes is no longer shared. Measure it soon: that takes some time."""
        if (self.kept or self.undone) and not self.is_due:
            self.is_due = True
            self.shell.kernel.io_loop.call_later(SOON, self.bound)

    def bound(self) -> None:
        """End the oldest copies while they hold too much, and forget those that have ended."""
        self.is_due = False
        if self.refusing is not None:
            self.ran(None)  # later, if this kernel stays: one copy may be the next kernel
            return
        for copies in (self.undone, self.kept):
            for key in [key for key, copy in copies.items() if not copy.lives]:
                copies.pop(key).end()
        while self.undone and self.size > self.most_bytes:
            self.lost = TOO_LARGE
            self.undone.pop(next(iter(self.undone))).end()
        while self.kept and self.size > self.most_bytes:
            self.kept.pop(next(iter(self.kept))).end()

    @property
    def size(self) -> int:
        """Bytes that the copies hold beside the kernel's. A page that n processes share counts 1/n
        in each, so the sum of all counts every page once."""
        mine, copies = memory("self"), (*self.kept.values(), *self.undone.values())
        shares = [mine["Pss_Anon"], *(memory(copy.pid)["Pss_Anon"] for copy in copies)]
        return sum(shares) - mine["Anonymous"]

    def wake(self, key: str) -> dict[str, Any]:
        """Wake a copy, of ``kept`` or of ``undone``. It binds its sockets while this kernel still
        has its own, and then knows a copy of this kernel in the other list, by the same key.
        Answers why it did not wake, or ""; and ``other``, why there is no copy of this kernel, or
        "". Then cells of others are refused until ``leave`` or ``stay``."""
        copy = self.kept.get(key) or self.undone.get(key)
        if copy is None or not copy.lives:
            return {"why": GONE}
        copy.wake()
        self.mine, other = self.fork()  # while that one makes its sockets
        copy.hand_over(self.others(key))
        said = copy.answer()
        if said == "ready":
            kernel = self.shell.kernel
            server = kernel.get_parent("shell")["header"]["session"]
            self.refusing = Refusing(kernel, server)
            return {"why": "", "other": other}
        self.stay(key)
        return {"why": f"The copy of the variables did not wake: {said or 'it did not answer'}."}

    def others(self, key: str) -> dict[str, dict[str, Copy]]:
        """Both lists, once this copy is the kernel."""
        mine = {key: self.mine} if self.mine is not None else {}
        if key in self.kept:
            keys = list(self.kept)
            earlier = {one: self.kept[one] for one in keys[: keys.index(key)]}
            return {"kept": earlier, "undone": {**self.undone, **mine}}
        undone = {one: copy for one, copy in self.undone.items() if one != key}
        return {"kept": {**self.kept, **mine}, "undone": undone}

    def leave(self, key: str) -> dict[str, Any]:
        """Make way for the copy that has woken, as soon as this is answered, or answer why not.
        An undo ends all copies after that one. May be asked again."""
        copy = self.kept.get(key) or self.undone.get(key)
        if self.refusing is None or copy is None or not copy.lives:
            return {"why": GONE}
        if key in self.kept:
            keys = list(self.kept)
            for later in keys[keys.index(key) + 1 :]:
                self.kept.pop(later).end()
        asyncio.get_running_loop().call_later(ANSWERED, self.end_hearing, copy.pid)
        return {"why": ""}

    def end_hearing(self, pid: int) -> None:
        if self.refusing is not None:  # or it stays after all
            hear_no_more(self.shell.kernel.parent.shell_port)
            # What was heard until now is refused, also where this process was held up.
            asyncio.get_running_loop().call_later(ANSWERED, self.end, pid)

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
        for copy in (self.kept.pop(key, None), self.undone.pop(key, None), self.mine):
            if copy is not None:
                copy.end()
        self.mine = None


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
