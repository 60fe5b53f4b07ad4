"""Starts bubblewrap and sets the limits before anything runs in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from . import groups, limits
from .folders import PROTECTED
from .network.gate import Gate
from .seen.files import FolderWatch

LAUNCHER = ThreadPoolExecutor(1, thread_name_prefix="sandbox")
"""One thread that lives as long as the program: ``--die-with-parent`` kills the sandbox when the
thread that started it ends."""
KEPT = 4_000
"""Bytes of what the kernel writes outside its messages; the last ones."""


class LaunchError(RuntimeError):
    """bubblewrap did not start the sandbox."""


class Process:
    """``popen`` is bubblewrap; ``init`` is the pid of the sandbox's first process; ``group`` holds
    the limits that all its processes share, or is None, as is ``gate`` without a network; ``files``
    watches the notebook's folder."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        init: int,
        group: groups.Group | None,
        gate: Gate | None,
        notebook: Path,
    ) -> None:
        self.popen = popen
        self.init = init
        self.group = group
        self.gate = gate
        self.files = FolderWatch(notebook, PROTECTED)
        self.said = b""
        self._handle = os.pidfd_open(init)
        if gate is not None:
            gate.start(self._handle)
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, number: int) -> None:
        """To the kernel, which is the child of the sandbox's first process."""
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

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
            self.files.close()
            if self.gate is not None:
                self.gate.close()
            if self.group is not None:
                self.group.remove()

    def _listen(self) -> None:
        # A pipe, not the server's own output: code in the sandbox could open a log file anew
        # through /proc and read it.
        stream = self.popen.stdout
        while stream is not None and (text := os.read(stream.fileno(), 65_536)):
            self.said = (self.said + text)[-KEPT:]
        if stream is not None:
            stream.close()


def launch(
    program: str,
    made: Callable[[int, int], list[str]],
    inherited: list[int],
    bounds: limits.Limits,
    notebook: Path,
    gate: Gate | None = None,
) -> Process:
    """``made`` gives the arguments for two descriptors, of ``--info-fd`` and ``--block-fd``. Closes
    ``inherited``. Raises LaunchError with what bubblewrap said."""
    told, tells = os.pipe()
    waits, go = os.pipe()
    ours = [told, go]
    theirs = [tells, waits, *inherited]
    try:
        popen = subprocess.Popen(
            [program, *made(tells, waits)],
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
            init = int(json.loads(text)["child-pid"])
            limits.apply(init, bounds)
            group = groups.join(init, bounds.memory, bounds.processes)
            process = Process(popen, init, group, gate, notebook)
        except (ValueError, KeyError, OSError) as error:
            popen.kill()
            said = popen.communicate()[0].decode(errors="replace").strip()
            raise LaunchError(f"The sandbox did not start: {said or error}") from None
        os.write(go, b"1")
        return process
    finally:
        for number in (*ours, *theirs):
            os.close(number)
