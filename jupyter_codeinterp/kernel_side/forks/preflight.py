"""Whether a fork of this kernel would work. This file's text runs **in the kernel**.

A fork has one thread, the one that forks. A lock that another thread held stays locked in it, and
a pool of threads has no threads there. So every doubt is a refusal. Standard library only.

A refusal is ``{refused, detail}``: a code of ``CODES``, and a name or a number to go with it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path
from typing import Any

CODES = (
    "not_linux",
    "not_main_thread",
    "thread",
    "task",
    "pool",
    "gpu",
    "shared_memory",
    "memory",
    "hidden",
)
OWN_THREADS = ("ipykernel", "IPython", "zmq", "tornado", "tqdm")
DEBUGGERS = ("debugpy", "_pydevd_bundle", "_pydev_bundle", "pydevd")
"""Packages whose threads hold no lock while the kernel runs a request, or only for an instant."""
OWN_TASKS = ("ipykernel", "IPython", "zmq", "tornado", "anyio", "asyncio", "jupyter_client")
SAFE_NAMES = ("ZMQbg", "jemalloc_bg_thd")
"""Native threads that the fork never needs, or starts again."""
NO_FORK_LIBRARIES = (
    *("libtorch", "libtensorflow", "_pywrap_tensorflow", "jaxlib", "xla_extension"),
    *("libjvm", "libtbb", "libiomp5", "libmkl_intel_thread", "grpc", "libuv"),
    *("_polars_runtime", "polars.abi3", "/polars"),
)
"""Parts of the paths of libraries that keep threads and do not start them again in a fork.
OpenBLAS, Arrow and DuckDB do, or work without them; libgomp works in one thread."""
GPU_DEVICES = ("/dev/nvidia", "/dev/kfd", "/dev/dri")
SPARE = 256 * 1024 * 1024
"""Bytes of memory that must stay free."""
SHARE = 0.5
"""Of the kernel's own memory: what the fork may have to copy."""

Refusal = dict[str, str]


def refusal() -> Refusal | None:
    """The first reason not to fork now; None if there is none."""
    if sys.platform != "linux":
        return refused("not_linux")
    if threading.current_thread() is not threading.main_thread():
        return refused("not_main_thread")
    if not sees_processes():
        return refused("hidden")
    for code, found in (
        ("thread", persons_thread),
        ("task", persons_task),
        ("gpu", gpu),
        ("pool", native_pool),
        ("shared_memory", shared_file),
        ("memory", short_memory),
    ):
        detail = found()
        if detail:
            return refused(code, detail)
    return None


def refused(code: str, detail: str = "") -> Refusal:
    return {"refused": code, "detail": detail[:100]}


def sees_processes() -> bool:
    """Whether a fork could look at itself. Landlock gives a kernel its own folder in /proc alone,
    and a fork has another."""
    try:
        os.close(os.open("/proc", os.O_RDONLY | os.O_DIRECTORY))
    except OSError:
        return False
    return True


def persons_thread() -> str:
    """The name of a Python thread that is neither the kernel's nor the debugger's."""
    main = threading.main_thread()
    known = list(threading.enumerate())
    for thread in known:
        if thread is not main and not is_own(thread):
            return thread.name or "unnamed"
    idents = {thread.ident for thread in known}
    # Made by _thread, or native and at work in Python. A debugger's threads are such ones, too.
    for ident, frame in sys._current_frames().items():
        if ident not in idents and not is_of(module_of(outermost(frame)), DEBUGGERS):
            return f"thread {ident}"
    return ""


def is_own(thread: threading.Thread) -> bool:
    target = getattr(thread, "_target", None)
    modules = (type(thread).__module__, getattr(target, "__module__", None) or "")
    if any(is_of(module, (*OWN_THREADS, *DEBUGGERS)) for module in modules):
        return True
    return bool(getattr(thread, "is_pydev_daemon_thread", False))


def is_of(module: str, packages: tuple[str, ...]) -> bool:
    return module.split(".")[0] in packages


def outermost(frame: Any) -> Any:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


def module_of(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", ""))


def persons_task() -> str:
    """The name of a task of asyncio that waits in the kernel's loop and is not the kernel's."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return ""
    current = asyncio.current_task(loop)
    for task in asyncio.all_tasks(loop):
        frame = getattr(task.get_coro(), "cr_frame", None)
        if task is not current and frame is not None and not is_of(module_of(frame), OWN_TASKS):
            return task.get_name()
    return ""


def gpu() -> str:
    """The device that this process has open: a fork cannot use its context."""
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208
        try:
            target = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115
        except OSError:
            continue  # The listing's own descriptor.
        if target.startswith(GPU_DEVICES):
            return target
    return ""


def native_pool() -> str:
    """A pool of native threads that a fork would wait for."""
    names = native_threads()
    if not names:
        return ""
    own = text_of("/proc/self/comm").strip()
    named = [name for name in names if name != own and not name.startswith(SAFE_NAMES)]
    if named:
        return named[0]
    if own in names:
        for path in mapped():
            for library in NO_FORK_LIBRARIES:
                if library in path:
                    return library.strip("/")
    return ""


def native_threads() -> list[str]:
    """The names of this process's threads that Python does not know."""
    ours = {str(thread.native_id) for thread in threading.enumerate()}
    numbers = [number for number in os.listdir("/proc/self/task") if number not in ours]  # noqa: PTH208
    return [name for number in numbers if (name := text_of(f"/proc/self/task/{number}/comm")[:-1])]


def mapped() -> list[str]:
    """The paths of the files in this process's memory."""
    lines = (line.split(None, 5) for line in text_of("/proc/self/maps").splitlines())
    return list(dict.fromkeys(parts[5] for parts in lines if len(parts) == 6))


def shared_file() -> str:
    """A file in memory that others see written: the fork would write into the kernel's."""
    for line in text_of("/proc/self/maps").splitlines():
        parts = line.split(None, 5)
        if "w" in parts[1] and parts[1].endswith("s"):
            return parts[5] if len(parts) == 6 else "unnamed"
    return ""


def short_memory() -> str:
    """How much memory is free and how much the fork may need, where that is too little."""
    pages = int(text_of("/proc/self/statm").split()[1])
    needed = int(pages * os.sysconf("SC_PAGE_SIZE") * SHARE) + SPARE
    free = free_memory()
    if free >= needed:
        return ""
    return f"{free // 2**20:,} MB free, {needed // 2**20:,} MB needed"


def free_memory() -> int:
    """Bytes, also by the limit of this process's control group."""
    left = [2**62]
    for line in text_of("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            left.append(int(line.split()[1]) * 1024)
    for line in text_of("/proc/self/cgroup").splitlines():
        if line.startswith("0::"):
            left += [*group_memory(Path("/sys/fs/cgroup") / line[3:].lstrip("/"))]
    return min(left)


def group_memory(folder: Path) -> list[int]:
    """What this group and those above it leave; pages of files can be given back."""
    left = []
    for group in (folder, *folder.parents):
        most = text_of(str(group / "memory.max")).strip()
        if most.isdigit():
            used = int(text_of(str(group / "memory.current")).strip() or 0)
            parts = (line.split() for line in text_of(str(group / "memory.stat")).splitlines())
            files = {name: int(number) for name, number in parts}.get("inactive_file", 0)
            left.append(int(most) - used + files)
    return left


def text_of(path: str) -> str:
    """ "" if the file is gone or hidden."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""
