"""Total limits of a sandboxed kernel, and the sentences about limits that it reached."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.sandbox.provisioner import SandboxProvisioner
from jupyter_codeinterp.sandbox.shared import groups
from jupyter_codeinterp.sandbox.shared.limits import (
    KEPT,
    NO_NETWORK,
    size,
)
from jupyter_codeinterp.sandbox.walls import disk
from tests.kernels import kernel_manager, run, running_kernel, text
from tests.sandbox.here import MISSING, groups_work, runs_here
from tests.sandbox.test_agents_runs import NAMED, folder, install

__all__ = ["folder"]
MIB = 1024**2
TOTALS = not MISSING and groups_work()


@pytest.mark.parametrize(
    ("count", "words"), [(512 * MIB, "512 MB"), (1536 * MIB, "1.5 GB"), (100, "100 bytes")]
)
def test_a_size_in_words(count: int, words: str) -> None:
    assert size(count) == words


UNKNOWN_HOST = "URLError: <urlopen error [Errno -3] Temporary failure in name resolution>"


@pytest.mark.parametrize(("allow", "said"), [([], NO_NETWORK), (["example.org:443"], "")])
def test_only_a_kernel_without_hosts_has_no_network(allow: list[str], said: str) -> None:
    made = SandboxProvisioner(allow=allow, memory=2**31)
    assert made.hit(UNKNOWN_HOST, 0) == said
    assert made.hit("ValueError: a", 0) == ""
    for error in ("MemoryError: ", "OSError: [Errno 12] Cannot allocate memory"):
        found = made.hit(error, 0)
        assert "2 GB of memory" in found and KEPT in found
    assert SandboxProvisioner().hit("MemoryError: ", 0) == ""


@runs_here
async def test_more_memory_is_an_error_and_the_variables_stay(tmp_path: Path, folder: Path) -> None:
    async with (
        kernel_manager(install(tmp_path, *NAMED, memory=512 * MIB)) as kernels,
        running_kernel(kernels, "sandboxed") as (_, kernel, _),
    ):
        await run(kernel, "x = 1")
        _, done = await run(kernel, "large = bytearray(2**30)")
        assert done.status == "error"
        assert "512 MB of memory" in done.note
        _, done = await run(kernel, "print(x)")
        assert (text(done), done.note) == ("1\n", "")


MANY_SMALL = """
import os, time
for number in range(2000):
    with open(str(number), 'wb') as file:
        file.write(bytes(64 * 1024))
    time.sleep(0.001)
"""
"""Above 20 MB after a third of a second."""
IN_A_PROGRAM = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {MANY_SMALL!r}])"
EMPTY_FOLDERS = "import os\nfor number in range(40_000):\n    os.mkdir(str(number))"
"""Linux does not count them as written."""


@runs_here
@pytest.mark.parametrize(
    ("config", "code", "words"),
    [
        ({}, IN_A_PROGRAM, "more, restart the kernel"),
        ({"overlay": True, "disk": 5 * MIB}, EMPTY_FOLDERS, "more, delete large files"),
    ],
)
async def test_many_small_files_are_stopped_and_the_variables_stay(
    tmp_path: Path,
    folder: Path,
    config: dict[str, Any],
    code: str,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(disk, "EVERY", 0.05)
    layers = str(tmp_path / "layers")
    spec = install(tmp_path, *NAMED, overlay_folder=layers, **{"disk": 20 * MIB, **config})
    async with (
        kernel_manager(spec) as kernels,
        running_kernel(kernels, "sandboxed") as (_, kernel, _),
    ):
        await run(kernel, "x = 1")
        _, done = await run(kernel, code)
        assert (done.status, "MB written" in done.note) == ("error", True), done
        assert words in done.note
        _, done = await run(kernel, "print(x)")
        assert (text(done), done.note) == ("1\n", "")


@runs_here
async def test_code_that_goes_on_writing_ends_with_its_kernel(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "EVERY", 0.05)
    monkeypatch.setattr(disk, "GRACE", 0.1)
    ignores = "import signal\nsignal.signal(signal.SIGINT, lambda *_: None)"
    async with (
        kernel_manager(install(tmp_path, *NAMED, disk=20 * MIB)) as kernels,
        running_kernel(kernels, "sandboxed") as (_, kernel, _),
    ):
        _, done = await run(kernel, f"{ignores}\n{MANY_SMALL}")
        assert done.status == "dead"
        assert "stopped it at 20 MB written. It ignored" in done.note


PROCESSES = """
import ctypes, os, signal, sys
from jupyter_codeinterp.sandbox.walls import disk

libc = ctypes.CDLL(None)

def prctl(option, value):
    assert libc.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))) == 0

def started(does):
    heard, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        does()
        os.write(told, b"1")
        signal.pause()
    os.close(told)
    os.read(heard, 1)
    return pid

def hide():
    prctl(4, 0)  # not dumpable

# Root with all its rights would see everything.
prctl(38, 1)
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
capset = {"x86_64": 126, "aarch64": 91}[os.uname().machine]
assert libc.syscall(ctypes.c_long(capset), header, (ctypes.c_uint32 * 6)()) == 0
first, below = sys.argv[1:]
does = {"shows": lambda: None, "hides": hide, "ended": lambda: os._exit(0)}
written = disk.BytesWritten(started(lambda: (started(does[below]), does[first]())), None)
print(written.look(), written.hides, flush=True)
os.killpg(0, signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("first", "below", "hides"),
    [
        ("shows", "shows", False),
        ("shows", "hides", True),
        ("shows", "ended", False),
        # As where Linux shows nothing of any sandbox.
        ("hides", "hides", False),
    ],
)
def test_a_process_that_hides_what_it_writes_is_noticed(
    first: str, below: str, hides: bool
) -> None:
    command = [sys.executable, "-c", PROCESSES, first, below]
    ran = subprocess.run(command, capture_output=True, text=True, start_new_session=True)
    assert (ran.stdout, ran.stderr) == (f"True {hides}\n", "")


class Scripted(disk.BytesWritten):
    """Each look finds the next of these: bytes, and whether a process hides them."""

    def __init__(self, looks: list[tuple[int, bool]]) -> None:
        super().__init__(os.getpid(), None)
        self._looks = iter(looks)

    def look(self) -> bool:
        self.bytes, self.hides = next(self._looks, (0, False))
        return self.bytes > 0


@pytest.mark.parametrize(
    ("looks", "interrupts", "ends", "hides"),
    [
        ([(1, False)] * 9, 0, False, False),
        ([(1, False), (1, True), (1, False), (1, True), (1, False)], 0, False, False),
        ([(1, False), (1, True), (1, True), (1, True), (1, False)], 1, False, True),
        ([(1, True)] * 9, 2, True, True),
        ([(1, False), (11, False), (11, False), (11, False)], 1, False, False),
        ([(number * 2 * MIB + 1, False) for number in range(9)], 2, True, False),
    ],
)
def test_code_is_interrupted_and_then_ended(
    looks: list[tuple[int, bool]],
    interrupts: int,
    ends: bool,
    hides: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("EVERY", "SELDOM", "GRACE"):
        monkeypatch.setattr(disk, name, 0.0)
    sent: list[int] = []
    before = time.monotonic()
    guard = disk.DiskGuard(Scripted(looks), 10, sent.append, lambda: None)
    guard.thread.join(5)
    assert (len(sent), guard.has_ended_it, guard.hides) == (interrupts, ends, hides)
    assert guard.hit(before) == (interrupts > 0)
    assert not guard.hit(time.monotonic()), "a later run was not stopped"


@pytest.mark.parametrize(
    ("left", "seconds"), [(-1, 0.5), (2 * disk.SPEED, 2), (20 * 1024**3, 5), (1024**4, 10)]
)
def test_the_more_is_left_the_rarer_the_looks(left: int, seconds: float) -> None:
    assert disk.pause(left) == seconds


@pytest.mark.skipif(not TOTALS, reason="this user cannot make control groups")
async def test_all_processes_together_have_the_limit(tmp_path: Path, folder: Path) -> None:
    # Each takes less than a process may.
    many = (
        "import subprocess, sys\n"
        "code = \"x = b'1' * (200 * 2**20); import sys, time; sys.stdin.read(); time.sleep(1)\"\n"
        "made = [subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.PIPE)"
        " for _ in range(4)]\n"
        "for one in made:\n    one.stdin.close()\n"
        "print([one.wait(20) for one in made])"
    )
    async with (
        kernel_manager(install(tmp_path, *NAMED, memory=400 * MIB)) as kernels,
        running_kernel(kernels, "sandboxed") as (_, kernel, _),
    ):
        _, done = await run(kernel, many)
        assert "-9" in text(done), done


@pytest.mark.skipif(not TOTALS, reason="this user cannot make control groups")
def test_a_group_goes_with_its_processes_and_with_its_server() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        group = groups.join(process.pid, 0, 100)
        assert group is not None
        (made,) = group._folders.values()
        assert str(process.pid) in (made / "cgroup.procs").read_text().split()
        left = made.parent / f"{groups.NAME}{2**22 + 1}-1"
        left.mkdir()
        process.kill()
    group.remove()
    assert not made.exists()
    with subprocess.Popen(["sleep", "60"]) as other:
        again = groups.join(other.pid, 0, 100)
        other.kill()
    assert again is not None
    again.remove()
    assert not left.exists()


def test_without_a_place_for_groups_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_lines", lambda path: [])
    assert groups.join(os.getpid(), MIB, 1) is None


def test_systemd_is_asked_for_a_scope(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    program = tmp_path / "busctl"
    program.write_text(f'#!/bin/sh\necho "$@" > {asked}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    lines = {
        "/proc/self/cgroup": ["0::/user.slice/user@1.service/app.slice/lab.scope"],
        "/proc/self/mountinfo": ["1 2 0:1 / /groups rw - cgroup2 cgroup2 rw"],
    }

    def read(path: str) -> list[str]:
        name = (
            asked.read_text().split(" StartTransientUnit ssa(sv)a(sa(sv)) ")[1].split()[0]
            if (asked.exists())
            else ""
        )
        moved = [f"0::/user.slice/user@1.service/app.slice/{name}"]
        return lines.get(path, moved if path == "/proc/77/cgroup" else [])

    monkeypatch.setattr(groups, "_lines", read)
    group = groups.join(77, 2 * MIB, 9)
    assert group is not None
    (place,) = set(group._folders.values())
    assert str(place).startswith("/groups/user.slice/user@1.service/app.slice/codeinterp-")
    words = asked.read_text()
    assert "fail 4 PIDs au 1 77 MemoryMax t 2097152 MemorySwapMax t 0 TasksMax t 9 0" in words
