"""Keeps a Python kernel usable after cells of the agent. This file's text runs **in the kernel**.

A cell may replace ``sys.stdout``, IPython's display or what the kernel itself needs to answer,
and then nothing that anybody runs afterwards shows or ends. So before each cell that has come
from our connection this remembers what there is, and afterwards puts back what the cell has
broken, and says so on stderr. Cells of the person are left alone. Standard library only.
It is no defence: code that means to get round it can.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys
from typing import Any

FUNCTIONS = {"display_pub": ("publish", "clear_output"), "displayhook": ("__call__",)}
"""What every display goes through; nothing replaces it but for the length of a cell."""
BUILTINS = vars(builtins)
NOTICE = "Put back after this cell, so that other cells go on working: {}.\n"


class Guard:
    def __init__(self, shell: Any, session: str) -> None:
        self.shell = shell
        self.kernel = shell.kernel
        self.session = session
        self.pid = os.getpid()
        self.before: dict[str, Any] = {}

    def begin(self) -> None:
        header = self.kernel.get_parent("shell").get("header", {})
        if header.get("session") != self.session or header.get("msg_type") != "execute_request":
            return
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
            os._exit(0)  # a fork that has outlived its cell is no second kernel
        before, self.before = self.before, {}
        if not before:
            return
        # First, and without any of them: names that Python itself must have.
        for name, value in before["builtins"].items():
            if name not in BUILTINS:
                BUILTINS[name] = value
        if sys.getrecursionlimit() < before["limit"]:
            sys.setrecursionlimit(before["limit"])
        if before["mask"] is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before["mask"])
        self.kernel.session.key = before["key"]
        broken = [*self.streams(before), *self.displays(before), *self.shadowed()]
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
        for (owner, function), was in before["functions"].items():
            if vars(owner).get(function) is was:
                continue
            broken.append("IPython's display")
            if was is None:
                delattr(owner, function)
            else:
                setattr(owner, function, was)
        return broken

    def shadowed(self) -> list[str]:
        """Methods of the shell and the kernel in whose place something is that cannot be
        called. What can be may be meant: some packages do that."""
        broken = []
        for owner in (self.shell, self.kernel):
            for name, value in list(vars(owner).items()):
                if not callable(value) and is_method(type(owner), name):
                    delattr(owner, name)
                    broken.append(f"{type(owner).__name__}.{name}")
        return broken

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
    """The object, and those of its classes that are not built in."""
    return (value, *(kind for kind in type(value).__mro__ if kind.__module__ != "builtins"))


def is_method(kind: type, name: str) -> bool:
    return any(isinstance(vars(each).get(name), type(is_method)) for each in kind.__mro__)


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
