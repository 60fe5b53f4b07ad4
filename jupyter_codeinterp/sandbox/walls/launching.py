"""Starts a sandbox and sets the limits before anything runs in it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from ..network.gate import Gate
from ..shared import groups, limits

LAUNCHER = ThreadPoolExecutor(1, thread_name_prefix="sandbox")
"""One thread that lives as long as the program: a sandbox ends when the thread that started it
ends."""


class LaunchError(RuntimeError):
    """The sandbox did not start."""


class SandboxProcess:
    """``popen`` is bubblewrap; ``init`` is the pid of the kernel's parent, whose end ends all
    others; ``group`` holds the limits that all its processes share, or is None, as is ``gate``
    without a network."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        init: int,
        group: groups.Group | None,
        gate: Gate | None,
    ) -> None:
        self.popen = popen
        self.init = init
        self.group = group
        self.gate = gate
        self._handle = os.pidfd_open(init)
        if gate is not None:
            gate.start(self._handle)
        threading.Thread(target=self._drop_output, daemon=True).start()

    def send(self, number: int) -> None:
        """Send a signal to the kernel, the first child of its parent."""
        with suppress(OSError, IndexError):
            # A kernel that has just ended has no children entry, or none that can be signalled.
            children = Path(f"/proc/{self.init}/task/{self.init}/children")
            os.kill(int(children.read_text("ascii").split()[0]), number)

    def kill(self) -> None:
        """End every process of the sandbox."""
        with suppress(OSError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        with suppress(OSError):
            self.popen.kill()
        if self.gate is not None:
            self.gate.close()

    def end(self) -> None:
        """End and close the sandbox."""
        self.kill()
        self.popen.wait()
        self.close()

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
            if self.gate is not None:
                self.gate.close()
            if self.group is not None:
                self.group.remove()

    def _drop_output(self) -> None:
        # A pipe, not the server's own output: code in the sandbox could open a log file anew
        # through /proc and read it.
        stream = self.popen.stdout
        while stream is not None and os.read(stream.fileno(), 65_536):
            pass
        if stream is not None:
            stream.close()


def launch(
    program: Sequence[str],
    made: Callable[[int, int], list[str]],
    inherited: list[int],
    bounds: limits.KernelLimits,
    gate: Gate | None = None,
) -> SandboxProcess:
    """Start a sandbox. ``program``: bubblewrap, after a command that runs before it. ``made`` takes
    two descriptors and returns the arguments: bubblewrap writes the child's pid to the first, and
    the child waits for the second. Closes ``inherited``. Raises LaunchError with the output."""
    told, tells = os.pipe()
    waits, go = os.pipe()
    ours = [told, go]
    theirs = [tells, waits, *inherited]
    try:
        popen = subprocess.Popen(
            [*program, *made(tells, waits)],
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=theirs,
            start_new_session=True,
        )
        while theirs:
            os.close(theirs.pop())
        with open(told, "rb", closefd=False) as file:
            text = file.read()
        try:
            child = int(json.loads(text)["child-pid"])
            limits.apply(child, bounds)
            group = groups.join(child, bounds.memory, bounds.processes)
            process = SandboxProcess(popen, child, group, gate)
        except (ValueError, KeyError, OSError) as error:
            popen.kill()
            output = popen.communicate()[0].decode(errors="replace").strip()
            raise LaunchError(f"The sandbox did not start: {output or error}") from None
        os.write(go, b"1")
        return process
    finally:
        for number in (*ours, *theirs):
            os.close(number)


async def launched(work: Callable[[], SandboxProcess]) -> SandboxProcess:
    """Run ``work`` in the thread that starts sandboxes."""
    started = LAUNCHER.submit(work)
    try:
        return await asyncio.wrap_future(started)
    except BaseException:
        # A cancelled launch may still go on in its thread.
        started.add_done_callback(_end_started)
        raise


def _end_started(started: Future[SandboxProcess]) -> None:
    """End a sandbox that nobody holds. A thread waits for its end."""
    if not started.cancelled() and started.exception() is None:
        started.result().kill()
        threading.Thread(target=started.result().end, daemon=True).start()
