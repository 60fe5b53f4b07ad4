"""Makes a fork of a kernel's process a kernel. This file's text runs **in the kernel**.

A fork has one thread and must not touch the sockets of ZMQ that it inherits. So it closes their
descriptors and waits. When it wakes, it makes a new ``IPKernelApp`` with new sockets, threads and
event loop around the shell that it has. Frames of the old event loop stay below it for ever.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import socket
import stat
import sys
from contextlib import suppress
from typing import Any

from .sleeping import is_woken

SOCKETS = "/run/kernel/"
"""The folder of the kernel's sockets in the sandbox."""
FRAMES = 20
"""Of the old event loop, at most."""
OURS = ("iopub_thread", "control_thread", "heartbeat", "connection_file", "_ports")


def unlike_ours(shell: Any) -> str:
    """Why this kernel could not be revived; "" if nothing speaks against it."""
    kernel: Any = getattr(shell, "kernel", None)
    app = getattr(kernel, "parent", None)
    if type(app).__module__ != "ipykernel.kernelapp" or not all(hasattr(app, one) for one in OURS):
        return "This kernel is not an ipykernel that can be copied."
    if not all(hasattr(one, "_original_stdstream_copy") for one in (sys.stdout, sys.stderr)):
        return "The kernel's standard streams were replaced."
    if kernel.eventloop is not None:
        return "A graphical event loop runs in the kernel."
    return ""


def park(channel: Any) -> None:
    """Return when the kernel wakes this fork. Ends it if nobody can."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    close_sockets()
    if not is_woken(channel):
        os._exit(0)


def close_sockets() -> None:
    """Those of the kernel: as long as this process held them, nobody would miss the kernel."""
    for number, _ in sockets():
        os.close(number)


def hear_no_more(port: int) -> None:
    """Cut what clients send on a channel. They connect to the kernel that listens there now, and
    send it what waits. Messages that came before can still be read."""
    for number, at in sockets():
        if at.endswith(f"-{port}"):
            one = socket.socket(fileno=number)
            with suppress(OSError):  # its client has left
                # ZMQ ends a process whose listening socket it cannot use.
                if not one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    one.shutdown(socket.SHUT_RD)
            one.detach()


def sockets() -> list[tuple[int, str]]:
    """The descriptors of the kernel's sockets, and their paths."""
    found = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        number = int(name)
        with suppress(OSError):
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            one = socket.socket(fileno=number)
            try:
                at = one.getsockname()
            finally:
                one.detach()
            if isinstance(at, str) and at.startswith(SOCKETS):
                found.append((number, at))
    return found


def revive(shell: Any, channel: Any, begin: Any) -> None:
    """Be the kernel until it is shut down; then end the process. ``begin`` is called at last."""
    try:
        kernel = new_kernel(shell)
        begin()
        said = "ready"
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"[:300]
    channel.send(said.encode(errors="replace"))
    channel.close()
    if said != "ready":
        os._exit(1)
    # The frames below are none of the person's.
    sys.setrecursionlimit(sys.getrecursionlimit() + FRAMES)
    with suppress(KeyboardInterrupt):
        kernel.io_loop.start()
    atexit._run_exitfuncs()
    os._exit(0)


def new_kernel(shell: Any) -> Any:
    old = shell.kernel
    app = old.parent
    with suppress(Exception):
        old._restore_input()  # a request of the old kernel was being answered
    leave_loop()
    for function in (app.close, app.iopub_thread.stop):
        atexit.unregister(function)
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        os.dup2(stream._original_stdstream_copy, stream._original_stdstream_fd)
        os.close(stream._original_stdstream_copy)
        os.close(stream._fid)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    type(old).clear_instance()
    type(app).clear_instance()
    new = type(app).instance(
        config=app.config,
        connection_file=app.connection_file,
        profile_dir=app.profile_dir,
        log=app.log,
    )
    # As ``IPKernelApp.initialize`` does, without what the shell has gone through already.
    new.init_connection_file()
    new.init_sockets()
    new.init_heartbeat()
    new._ports = dict(app._ports)
    for stream in streams:
        # The same objects: loggers and other code hold them.
        type(stream).__init__(stream, new.session, new.iopub_thread, stream.name)
    sys.stdout, sys.stderr = streams
    new.displayhook = app.displayhook
    new.displayhook.session, new.displayhook.pub_socket = new.session, new.iopub_socket
    new.init_signal()
    new.init_kernel()
    kernel = new.kernel
    shell.kernel = shell.parent = kernel
    shell.configurables = [
        one for one in shell.configurables if one not in (app, kernel.comm_manager)
    ]
    shell.configurables.append(kernel.comm_manager)
    new.init_shell()
    for comm in kernel.comm_manager.comms.values():
        comm.kernel = kernel
    forget_ours(shell)
    with suppress(Exception):  # the old kernel goes on with the session's numbers
        shell.history_manager.new_session()
    kernel.start()
    kernel.codeinterp_before = (old, app)  # never collected: their sockets are the other's
    return kernel


def leave_loop() -> None:
    """The old event loop is running a callback in this thread. Put a new loop in its place."""
    loop = asyncio._get_running_loop()
    task = asyncio.current_task(loop) if loop is not None else None
    if loop is not None and task is not None:
        asyncio.tasks._leave_task(loop, task)
    asyncio._set_running_loop(None)
    asyncio.set_event_loop(asyncio.new_event_loop())


def forget_ours(shell: Any) -> None:
    """The server installs its guard and its watch anew. These know the old kernel, and one of them
    ends forks."""
    for event, callbacks in shell.events.callbacks.items():
        for callback in list(callbacks):
            owner = getattr(callback, "__self__", None)
            if type(owner).__module__.startswith("jupyter_codeinterp."):
                shell.events.unregister(event, callback)
