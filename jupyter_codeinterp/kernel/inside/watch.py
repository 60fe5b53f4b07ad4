"""Watches cells of the agent: failed commands, and what features look at. This file's text runs
**in the kernel**.

It uses one ``TimeBudget`` per cell. The reply to the cell carries the report as a payload, which
only our server reads. It watches only cells of our own connection and adds no name to the person's.
Features add to the report (``PARTS``). Standard library only.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from .absent import absent
from .expected import seen
from .mark import LOOKS_AT, WATCH

SECONDS = 0.018
"""The time budget for all work before, in and after a cell. It counts the thread's processor time,
so that a busy machine does not shorten it. The last step may take longer."""


A_CALL = 1.5e-6
"""Seconds that a wrapper takes without its look."""


class TimeBudget:
    def __init__(self) -> None:
        self.spent = 0.0

    def deadline(self, share: float) -> float:
        """The time (of ``thread_time``) at which ``share`` of the budget is spent."""
        return time.thread_time() + SECONDS * share - self.spent


def wrapped(original: Callable[..., Any], look: Any, tracer: Any, file: str) -> Callable[..., Any]:
    """A wrapper that reports calls to ``tracer``. ``file``: its file name in warnings."""
    getframe = sys._getframe

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except BaseException as error:
            tracer.spend(A_CALL)
            error.__traceback__ = error.__traceback__.tb_next  # type: ignore[union-attr]
            raise
        tracer.called(getframe(1), look, result, args, kwargs)
        return result

    call.__code__ = call.__code__.replace(co_filename=file, co_name=original.__name__)
    return functools.wraps(original)(call)


# -------------------------------------------------------------------------------------------------
# Exit statuses of ``!command``, ``x = !command``, ``subprocess`` and ``os.system`` in a cell's own
# code.
#
# IPython keeps only the last one, and none if the output is assigned. So this wraps the two
# functions that it calls with the finished command.

MOST, LONGEST = 20, 200
"""Commands, and characters of one."""


class Statuses:
    def __init__(self) -> None:
        self.failed: list[list[Any]] = []
        """Status and command of failed commands since the cell began."""
        self.namespace: Any = None

    def note(self, command: Any, status: Any) -> Any:
        if type(status) is int and status and len(self.failed) < MOST:
            parts = command if type(command) in (list, tuple) else [command]
            words = " ".join(part for part in parts if type(part) is str)[:LONGEST]
            if self.failed[-1:] != [[status, words]]:
                self.failed.append([status, words])
        return status

    def install(self, shell: Any) -> None:
        """Replace IPython's functions in the modules that call them, and wrap ``subprocess``."""
        system = type(shell).system.__globals__
        if callable(run := system.get("system")):
            system["system"] = lambda command: self.note(command, run(command))
        getoutput = type(shell).getoutput.__globals__
        common: Any = sys.modules.get("IPython.utils._process_common")
        # Windows has a ``getoutput`` of its own.
        if getattr(common, "getoutput", None) is getoutput.get("getoutput") is not None:
            getoutput["getoutput"] = lambda command: self.output(common, command)
        self.namespace = shell.user_ns
        for owner, name in ((subprocess.Popen, "wait"), (os, "system")):
            setattr(owner, name, wrapped(getattr(owner, name), None, self, subprocess.__file__))

    def called(self, frame: Any, look: Any, result: Any, args: Any, kwargs: Any) -> None:
        """Note a status from ``os.system`` or ``Popen.wait``, which all of ``subprocess`` calls."""
        process = args[0] if args else None
        while frame is not None and frame.f_code.co_filename == subprocess.__file__:
            frame = frame.f_back
        if frame is None or frame.f_globals is not self.namespace or not result:
            return
        if isinstance(process, subprocess.Popen):
            self.note(vars(process).get("args"), result)
        else:
            on_posix = os.name == "posix"
            self.note(process, os.waitstatus_to_exitcode(result) if on_posix else result)

    def spend(self, seconds: float) -> None:
        """Do nothing: these looks are outside of the budget."""

    def told(self, error: Any) -> list[list[Any]]:
        """The failed commands, without the one that ``error`` names."""
        failed = self.failed
        named = isinstance(error, subprocess.CalledProcessError) and failed[-1:]
        return failed[:-1] if named and failed[-1][0] == error.returncode else failed

    def output(self, common: Any, command: Any) -> str:
        def finish(process: Any) -> Any:
            out = process.communicate()[0]
            self.note(command, process.returncode)
            return out

        out = common.process_handler(command, finish, subprocess.STDOUT)
        return "" if out is None else str(out.decode(common.DEFAULT_ENCODING, "replace"))


# -------------------------------------------------------------------------------------------------
# The watch.

LARGEST = 100_000
"""Characters of a report."""
PARTS: list[Any] = []
"""Watches of features, each with ``begin(shell, info, budget)`` before a cell, ``finish()`` after
it, whatever happened, and then ``report(namespace, deadline)``, a list of facts with ``kind``,
``at`` (a place) and ``figures``."""


class CellWatch:
    """``session``: the one of our connection."""

    def __init__(self, shell: Any, session: str) -> None:
        self.shell = shell
        self.session = session
        self.is_watching = False
        self.budget = TimeBudget()
        self.statuses = Statuses()

    def begin(self, info: Any) -> None:
        self.finish()
        if not self.is_ours():
            return
        began, self.budget = time.thread_time(), TimeBudget()
        self.statuses.failed = []
        try:
            self.is_watching = True
            for part in PARTS:
                part.begin(self.shell, info, self.budget)
        except Exception:
            # The cell runs all the same, unwatched.
            self.finish()
        self.budget.spent += time.thread_time() - began

    def end(self, result: Any) -> None:
        if not self.is_watching:
            return
        try:
            self.finish()
            error, namespace = result.error_in_exec, self.shell.user_ns
            report: dict[str, Any] = {"statuses": self.statuses.told(error)}
            if error is not None:
                report["absent"] = absent(error, namespace)
            until = self.budget.deadline(1.0)
            report["facts"] = [fact for part in PARTS for fact in part.report(namespace, until)]
            self.tell(dict(report, **self.expected(result)))
        except Exception:
            self.finish()

    def expected(self, result: Any) -> dict[str, Any]:
        """Facts about the result, if the request asks for them."""
        metadata = self.shell.kernel.get_parent("shell").get("metadata", {})
        wanted = metadata.get(LOOKS_AT) or {}
        if "name" not in wanted:
            return {}
        try:
            return {"result": seen(wanted, self.shell.user_ns, result.result)}
        except Exception:
            # A look at values of any kind may fail. The other facts stay.
            return {}

    def finish(self) -> None:
        """Remove everything that watches the cell."""
        self.is_watching = False
        for part in PARTS:
            part.finish()

    def is_ours(self) -> bool:
        header = self.shell.kernel.get_parent("shell").get("header", {})
        return bool(header.get("session") == self.session)

    def tell(self, report: dict[str, Any]) -> None:
        """Send the report, without its last facts if it is too large."""
        while len(json.dumps(report)) > LARGEST and report["facts"]:
            del report["facts"][len(report["facts"]) // 2 :]
        if any(report.values()):
            report["source"] = WATCH
            self.shell.payload_manager.write_payload(report)


def install(shell: Any, session: str) -> None:
    for callback in shell.events.callbacks["pre_run_cell"]:
        if getattr(getattr(callback, "__self__", None), "session", "") == session:
            return
    watch = CellWatch(shell, session)
    watch.statuses.install(shell)
    shell.events.register("pre_run_cell", watch.begin)
    shell.events.register("post_run_cell", watch.end)


if __name__ == WATCH:
    install(sys.modules["IPython"].get_ipython(), globals()["SESSION"])
