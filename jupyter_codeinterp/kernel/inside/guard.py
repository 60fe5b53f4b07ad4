"""Keeps a Python kernel usable after cells of the agent. This file's text runs **in the
kernel**.

A cell may replace ``sys.stdout``, IPython's display or the kernel's own methods. Then later cells
show no output or never end. So this saves them before each cell of our connection, restores them
afterwards, and reports that on stderr. It ignores the person's cells. Standard library only. It is
no defence: code can circumvent it.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys
import types
from typing import Any

DISPLAYS = ("display_pub", "displayhook")
"""Objects of the shell that every display goes through."""
BUILTINS = vars(builtins)
MISSING = object()
HISTORY = ("input_hist_parsed", "input_hist_raw")
NOTICE = "Restored after this cell, so that other cells keep working: {}.\n"


class Guard:
    def __init__(self, shell: Any, session: str) -> None:
        self.shell = shell
        self.kernel = shell.kernel
        self.session = session
        self.pid = os.getpid()
        self.before: dict[str, Any] = {}
        self.names: list[tuple[Any, set[str]]] = []
        """Objects whose methods a cell may replace, and the names of these methods."""

    def begin(self) -> None:
        header = self.kernel.get_parent("shell").get("header", {})
        if header.get("session") != self.session or header.get("msg_type") != "execute_request":
            return
        shell = self.shell
        objects = {name: getattr(shell, name) for name in DISPLAYS}
        guarded = (shell, self.kernel, *objects.values())
        self.names = [(owner, method_names(type(owner))) for owner in guarded]
        self.before = {
            "streams": (sys.stdout, sys.stderr),
            "objects": objects,
            "methods": self.methods(),
            "builtins": dict(BUILTINS),
            "count": shell.execution_count,
            "key": self.kernel.session.key,
            "limit": sys.getrecursionlimit(),
            "mask": signal.pthread_sigmask(signal.SIG_BLOCK, ()) if posix() else None,
            "In": shell.user_ns.get("In"),
            "Out": shell.user_ns.get("Out"),
            **{name: getattr(shell.history_manager, name) for name in HISTORY},
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
        return broken

    def methods(self) -> dict[tuple[Any, str], Any]:
        """The methods of these objects, in the object and in each class."""
        return {
            (place, name): vars(place)[name]
            for owner, names in self.names
            for place in owners(owner)
            for name in names & vars(place).keys()
        }

    def replaced(self, before: dict[str, Any]) -> list[str]:
        """Restore methods, unless a package has wrapped them."""
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
        for name in HISTORY:
            if not isinstance(getattr(history, name), list):
                setattr(history, name, before[name])
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


def posix() -> bool:
    return hasattr(signal, "pthread_sigmask")


def install(shell: Any, session: str) -> None:
    for callback in shell.events.callbacks["pre_execute"]:
        if getattr(getattr(callback, "__self__", None), "session", "") == session:
            return
    guard = Guard(shell, session)
    shell.events.register("pre_execute", guard.begin)
    shell.events.register("post_execute", guard.end)
    for stream in (sys.stdout, sys.stderr):
        if type(stream).__module__.startswith("ipykernel"):
            stream.close = lambda: None  # type: ignore[method-assign]


if __name__ == "jupyter_codeinterp.guard":
    install(sys.modules["IPython"].get_ipython(), globals()["SESSION"])
