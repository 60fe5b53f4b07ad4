"""Runs a cell in the fork, tells what it did, and ends. This file's text runs **in the kernel**."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import random
import sys
import time
from typing import Any

from ..variables import details
from ..watching.changes import changes, fingerprints
from .capture import Pipe, capture, stand_in
from .preflight import mapped
from .reached import Reached, Stopped
from .walls import build

MOST_CHANGES = 50
OWN_WATCHERS = ("Guard", "Watch")


def live(shell: Any, code: str, lines: int, native: int, seconds: float, state: Any) -> None:
    """Never returns. ``lines`` and ``native`` are pipes: for messages, and for what native code
    prints. ``state`` is that of Python's random numbers, which a fork seeds again."""
    pipe = Pipe(lines)
    try:
        try:
            prepare(shell, pipe, native, state)
            build({lines, 0, 1, 2}, seconds)
        except Exception as error:
            pipe.write("refused", {"refused": "walls", "detail": str(error)[:100]})
            return
        pipe.write("ended", ended(shell, code, pipe))
    finally:
        os._exit(0)


def prepare(shell: Any, pipe: Pipe, native: int, state: Any) -> None:
    gc.freeze()  # A collection would copy the kernel's pages, and end what the kernel still has.
    random.setstate(state)
    sys.dont_write_bytecode = True
    nothing = os.open("/dev/null", os.O_RDONLY)
    for own, number in ((nothing, 0), (native, 1), (native, 2)):
        os.dup2(own, number)
    own_streams = capture(shell, pipe)
    for name, ours in zip(("stdout", "stderr"), own_streams):  # noqa: B905
        stand_in(getattr(sys, name), ours)
        setattr(sys, name, ours)
    for event in shell.events.callbacks.values():
        event[:] = [one for one in event if not is_watcher(one)]
    one_thread()


def is_watcher(callback: Any) -> bool:
    owner = getattr(callback, "__self__", None)
    return type(owner).__name__ in OWN_WATCHERS and hasattr(owner, "session")


def one_thread() -> None:
    """GNU's OpenMP waits for the threads that it had before the fork, unless it needs none."""
    for path in mapped():
        if "/libgomp" in path:
            library = ctypes.CDLL(path)
            library.omp_set_num_threads(1)


def ended(shell: Any, code: str, pipe: Pipe) -> dict[str, Any]:
    reached = Reached()
    before = fingerprints(shell.user_ns, shell.user_ns_hidden, time.perf_counter() + 0.1)
    show = shell.showtraceback
    shell.showtraceback = lambda *a, **k: None if is_stopped(sys.exc_info()[1]) else show(*a, **k)
    for name in ("system", "getoutput"):
        setattr(shell, name, lambda command, *_, **__: reached.stop("start", (command,)))
    reached.install()
    result = in_own_loop(shell, code)
    reached.on = False
    pipe.flush()
    error = result.error_before_exec or result.error_in_exec
    after = fingerprints(shell.user_ns, shell.user_ns_hidden, time.perf_counter() + 0.1)
    return {
        "success": bool(result.success),
        "stopped": is_stopped(error),
        "changes": described(changes(before, after), shell.user_ns),
        "reached": reached.found,
    }


def is_stopped(error: BaseException | None) -> bool:
    """Whether it comes from where the rehearsal stops, also below the errors of a library."""
    for _ in range(20):
        if error is None or isinstance(error, Stopped):
            break
        error = error.__cause__ or error.__context__
    return isinstance(error, Stopped)


def described(found: list[dict[str, Any]], namespace: dict[str, Any]) -> list[dict[str, Any]]:
    """The changes, each with the variable as it would be afterwards."""
    told = []
    for change in found[:MOST_CHANGES]:
        name = change["name"]
        facts = details(namespace[name]) if name in namespace else {}
        told.append(dict(change, value=facts.get("value", "")))
    return told


def in_own_loop(shell: Any, code: str) -> Any:
    """The kernel's loop stays untouched: its selector is the kernel's, too."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        loop = None
    task = asyncio.current_task(loop) if loop is not None else None
    if loop is not None and task is not None:
        asyncio.tasks._leave_task(loop, task)
    asyncio._set_running_loop(None)
    own = asyncio.new_event_loop()
    asyncio.set_event_loop(own)
    return own.run_until_complete(run(shell, code))


async def run(shell: Any, code: str) -> Any:
    """As the kernel runs a cell, without a history."""
    try:
        cell, trouble = shell.transform_cell(code), None
    except Exception:
        cell, trouble = code, sys.exc_info()
    parsed = {"transformed_cell": cell, "preprocessing_exc_tuple": trouble}
    if shell.should_run_async(code, **parsed):
        return await shell.run_cell_async(code, store_history=False, **parsed)
    return shell.run_cell(code, store_history=False)
