"""Keeps a Python kernel usable after cells of the agent. This file's text runs **in the
kernel**.

A cell may replace ``sys.stdout``, IPython's display or the kernel's own methods. Then later cells
show no output or never end. So this saves them before each cell of our connection, restores them
afterwards, and reports that on stderr. It ignores the person's cells. Standard library only. It is
no defence: code can circumvent it.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import signal
import sys
import types
from typing import Any

FUNCTIONS = {"display_pub": ("publish", "clear_output"), "displayhook": ("__call__",)}
"""Methods that every display goes through; only a running cell replaces them."""
BUILTINS = vars(builtins)
MISSING = object()
INTERRUPTED = ("KeyboardInterrupt", "Py4JNetworkError")
"""Errors of an interrupted cell. Spark's own handler may break the cell's connection."""
CANCELS = 2
"""Seconds for Dask to accept a cancellation."""
NOTICE = "Restored after this cell, so that other cells keep working: {}.\n"


class Guard:
    def __init__(self, shell: Any, session: str) -> None:
        self.shell = shell
        self.kernel = shell.kernel
        self.session = session
        self.pid = os.getpid()
        self.before: dict[str, Any] = {}
        self.ours = False
        """Whether the running cell is from our connection."""
        self.futures: set[Any] = set()
        """Keys of Dask's futures before the cell."""
        self.names = [(owner, method_names(type(owner))) for owner in (shell, shell.kernel)]

    def begin(self) -> None:
        header = self.kernel.get_parent("shell").get("header", {})
        if header.get("session") != self.session or header.get("msg_type") != "execute_request":
            return
        self.ours = True
        with contextlib.suppress(Exception):
            self.futures = dask_futures()
        shell = self.shell
        self.before = {
            "streams": (sys.stdout, sys.stderr),
            "objects": {name: getattr(shell, name) for name in FUNCTIONS},
            "functions": {
                (owner, function): vars(owner).get(function)
                for name, functions in FUNCTIONS.items()
                for owner in owners(getattr(shell, name))
                for function in functions
            },
            "methods": self.methods(),
            "builtins": dict(BUILTINS),
            "count": shell.execution_count,
            "key": self.kernel.session.key,
            "limit": sys.getrecursionlimit(),
            "mask": signal.pthread_sigmask(signal.SIG_BLOCK, ()) if posix() else None,
            "In": shell.user_ns.get("In"),
            "Out": shell.user_ns.get("Out"),
            "parsed": shell.history_manager.input_hist_parsed,
            "raw": shell.history_manager.input_hist_raw,
        }

    def end(self) -> None:
        if os.getpid() != self.pid:
            os._exit(0)  # a fork that outlives its cell is no second kernel
        before, self.before = self.before, {}
        if not before:
            return
        # Restore names that Python itself needs first, without using them.
        for name, value in before["builtins"].items():
            if name not in BUILTINS:
                BUILTINS[name] = value
        if sys.getrecursionlimit() < before["limit"]:
            sys.setrecursionlimit(before["limit"])
        if before["mask"] is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before["mask"])
        self.kernel.session.key = before["key"]
        broken = [*self.streams(before), *self.displays(before), *self.replaced(before)]
        broken += self.counted(before)
        if broken:
            sys.stderr.write(NOTICE.format(", ".join(broken)))

    def ended(self, result: Any) -> None:
        """Cancel the work of an interrupted cell: Spark and Dask would go on."""
        ours, self.ours = self.ours, False
        futures, self.futures = self.futures, set()
        error = type(getattr(result, "error_in_exec", None)).__name__
        if ours and error in INTERRUPTED:
            with contextlib.suppress(Exception):  # The engine itself may be gone.
                cancel_jobs()
            with contextlib.suppress(Exception):
                cancel_futures(futures)

    def streams(self, before: dict[str, Any]) -> list[str]:
        now = (sys.stdout, sys.stderr)
        sys.stdout, sys.stderr = before["streams"]
        pairs = zip(("sys.stdout", "sys.stderr"), now, before["streams"])  # noqa: B905
        return [name for name, is_now, was in pairs if is_now is not was]

    def displays(self, before: dict[str, Any]) -> list[str]:
        broken = []
        for name, was in before["objects"].items():
            if getattr(self.shell, name) is not was:
                setattr(self.shell, name, was)
                broken.append(f"IPython's {name}")
        for (owner, function), was in before["functions"].items():
            if vars(owner).get(function) is was:
                continue
            broken.append("IPython's display")
            if was is None:
                delattr(owner, function)
            else:
                setattr(owner, function, was)
        return broken

    def methods(self) -> dict[tuple[Any, str], Any]:
        """Overrides of the shell's and the kernel's methods, in the object and in each class."""
        return {
            (place, name): vars(place)[name]
            for owner, names in self.names
            for place in owners(owner)
            for name in names & vars(place).keys()
        }

    def replaced(self, before: dict[str, Any]) -> list[str]:
        """Restore methods of the shell and the kernel, unless a package has wrapped them."""
        broken = []
        was, now = before["methods"], self.methods()
        for place, name in [*was, *(key for key in now if key not in was)]:
            value, earlier = (methods.get((place, name), MISSING) for methods in (now, was))
            if value is earlier or self.is_packaged(value):
                continue
            if earlier is MISSING:
                delattr(place, name)
            else:
                setattr(place, name, earlier)
            kind = place if isinstance(place, type) else type(place)
            broken.append(f"{kind.__name__}.{name}")
        return broken

    def is_packaged(self, value: Any) -> bool:
        """Whether it is a function from outside the notebook."""
        function = getattr(value, "__func__", value)
        if not isinstance(function, types.FunctionType):
            return False
        return function.__globals__ is not self.shell.user_global_ns

    def counted(self, before: dict[str, Any]) -> list[str]:
        shell, broken = self.shell, []
        count = shell.execution_count
        if type(count) is not int or not 0 < count < 2**31:
            shell.execution_count = before["count"] + 1
            broken.append("the execution count")
        history = shell.history_manager
        for name, was in (
            ("input_hist_parsed", before["parsed"]),
            ("input_hist_raw", before["raw"]),
        ):
            if not isinstance(getattr(history, name), list):
                setattr(history, name, was)
        for name, kind in (("In", list), ("Out", dict)):
            for place in (shell.user_ns, shell.user_ns_hidden):
                known = "_ih" if name == "In" else "_oh"
                if not isinstance(place.get(known, before[name]), kind):
                    place[known] = before[name]
            if not isinstance(shell.user_ns.get(name), kind):
                shell.user_ns[name] = before[name]
                broken.append(name)
        return broken


def owners(value: Any) -> tuple[Any, ...]:
    """The object and its classes that are not built in."""
    return (value, *(kind for kind in type(value).__mro__ if kind.__module__ != "builtins"))


def method_names(kind: type) -> set[str]:
    return {
        name
        for each in kind.__mro__
        for name, value in vars(each).items()
        if isinstance(value, types.FunctionType)
    }


def cancel_jobs() -> None:
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    active = getattr(context, "_active_spark_context", None)
    if active is not None:
        active.cancelAllJobs()


def dask_client() -> Any:
    module = sys.modules.get("distributed.client")
    client = module._get_global_client() if module is not None else None
    return client if getattr(client, "status", "") == "running" else None


def dask_futures() -> set[Any]:
    client = dask_client()
    return set(client.futures) if client is not None else set()


def cancel_futures(before: set[Any]) -> None:
    """Cancel pending futures, except those from ``before`` the cell."""
    client = dask_client()
    if client is None:
        return
    kind = sys.modules["distributed.client"].Future
    states = [(key, state) for key, state in list(client.futures.items()) if key not in before]
    left = [kind(key, client) for key, state in states if state.status == "pending"]
    client.sync(client._cancel, left, callback_timeout=CANCELS)


def posix() -> bool:
    return hasattr(signal, "pthread_sigmask")


def install(shell: Any, session: str) -> None:
    for callback in shell.events.callbacks["pre_execute"]:
        if getattr(getattr(callback, "__self__", None), "session", "") == session:
            return
    guard = Guard(shell, session)
    shell.events.register("pre_execute", guard.begin)
    shell.events.register("post_execute", guard.end)
    shell.events.register("post_run_cell", guard.ended)
    for stream in (sys.stdout, sys.stderr):
        if type(stream).__module__.startswith("ipykernel"):
            stream.close = lambda: None  # type: ignore[method-assign]


if __name__ == "jupyter_codeinterp.guard":
    install(sys.modules["IPython"].get_ipython(), globals()["SESSION"])
