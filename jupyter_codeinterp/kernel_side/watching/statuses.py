"""Exit statuses of ``!command``, ``x = !command``, ``subprocess`` and ``os.system`` in a cell's own
code. This file's text runs **in the kernel**.

IPython keeps only the last one, and none if the output is assigned. So this wraps the two functions
that it calls with the finished command. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from .calls import wrapped

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
