"""Forks the kernel and follows the fork, which never makes it wait longer than told. This file's
text runs **in the kernel**. Standard library only."""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import time
import warnings
from collections.abc import Callable
from typing import Any

MOST_BYTES = 16_000_000
"""Of all lines. A fork that sends more is ended."""
MOST_NATIVE = 100_000
"""Bytes of what native code prints; the rest is left out."""
LOOK = 0.25
"""Seconds between two looks at the fork."""
STALLED = 2.0
"""Seconds without work, in which all its threads wait for a lock."""
REAP = 1.0
"""Seconds to wait for the end of a fork that was told to end."""
FUTEX = ("202", "98")
"""The system call of a lock, on x86_64 and aarch64."""

Live = Callable[[int, int, Any], None]


def follow(live: Live, seconds: float) -> dict[str, Any]:
    """Run ``live(lines, native, state)`` in a fork. Returns ``{how, lines, native, seconds}``,
    where ``how`` is ended, timeout, stalled, too_much, interrupted or crashed."""
    lines, into_lines = os.pipe()
    native, into_native = os.pipe()
    state = random.getstate()
    begun = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of the kernel's own threads, which Python counts.
        pid = os.fork()
    if pid == 0:
        try:
            live(into_lines, into_native, state)
        finally:
            os._exit(1)
    os.close(into_lines)
    os.close(into_native)
    read = {lines: bytearray(), native: bytearray()}
    how = "interrupted"
    try:
        how = followed(pid, read, lines, begun + seconds)
    finally:
        end(pid)
        os.close(lines)
        os.close(native)
        told = [parsed(line) for line in bytes(read[lines]).splitlines()]
        return {  # noqa: B012, the person's interrupt has done what it was for
            "how": how,
            "lines": [line for line in told if line is not None],
            "native": bytes(read[native]).decode(errors="replace"),
            "seconds": time.monotonic() - begun,
        }


def followed(pid: int, read: dict[int, bytearray], lines: int, deadline: float) -> str:
    poll = select.poll()
    for number in read:
        poll.register(number, select.POLLIN)
    stall = Stall(pid)
    open_pipes = set(read)
    while lines in open_pipes:
        left = deadline - time.monotonic()
        if left <= 0:
            return "timeout"
        if stall.seen():
            return "stalled"
        for number, _ in poll.poll(1000 * min(left, LOOK)):
            piece = os.read(number, 1 << 16)
            if not piece:
                poll.unregister(number)
                open_pipes.discard(number)
            elif number == lines:
                read[number] += piece
            else:
                read[number] += piece[: max(0, MOST_NATIVE - len(read[number]))]
        if len(read[lines]) > MOST_BYTES:
            return "too_much"
        if has_ended(read[lines]):
            return "ended"
    return "crashed"


def has_ended(text: bytearray) -> bool:
    """Whether the last whole line says so."""
    if not text.endswith(b"\n"):
        return False
    last = text[text.rfind(b"\n", 0, len(text) - 1) + 1 :]
    return last.startswith((b'["ended"', b'["refused"'))


class Stall:
    """Whether the fork waits for what never comes: a lock of a thread that it does not have."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.looked = time.monotonic()
        self.worked = self.looked
        self.ticks = ""

    def seen(self) -> bool:
        now = time.monotonic()
        if now - self.looked < LOOK:
            return False
        self.looked = now
        ticks = self.used()
        if ticks != self.ticks or not self.waits():
            self.ticks, self.worked = ticks, now
        return now - self.worked > STALLED

    def used(self) -> str:
        fields = content(f"/proc/{self.pid}/stat").rpartition(")")[2].split()
        return " ".join(fields[11:13])

    def waits(self) -> bool:
        """Whether all its threads wait for locks; False where the system does not tell."""
        try:
            threads = os.listdir(f"/proc/{self.pid}/task")  # noqa: PTH208
        except OSError:
            return False
        calls = (content(f"/proc/{self.pid}/task/{thread}/syscall") for thread in threads)
        return all(call.split(" ")[0] in FUTEX for call in calls)


def content(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""


def end(pid: int) -> None:
    """End the fork and everything that it started."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):  # It has no group of its own yet, or has ended.
            kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + REAP
    while time.monotonic() < deadline:
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                return
        except ChildProcessError:
            return
        time.sleep(0.001)


def parsed(line: bytes) -> Any:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    known = isinstance(found, list) and len(found) == 2 and isinstance(found[0], str)
    return found if known and isinstance(found[1], dict) else None
