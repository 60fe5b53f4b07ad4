"""Exit statuses of ``!command``, ``x = !command`` and ``subprocess.run`` in a cell's own code. This
file's text runs **in the kernel**.

IPython keeps the last one alone, and none where the output is assigned. So these stand in for the
two functions that it calls with the finished command. Standard library only.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

MOST, LONGEST = 20, 200
"""Commands, and characters of one."""


class Statuses:
    def __init__(self) -> None:
        self.failed: list[list[Any]] = []
        """Status and command of those that failed since the cell began."""

    def note(self, command: Any, status: Any) -> Any:
        if type(status) is int and status and len(self.failed) < MOST:
            parts = command if type(command) in (list, tuple) else [command]
            words = " ".join(part for part in parts if type(part) is str)
            self.failed.append([status, words[:LONGEST]])
        return status

    def install(self, shell: Any) -> None:
        """Put both in the place of IPython's own, in the modules whose code calls them."""
        system = type(shell).system.__globals__
        if callable(run := system.get("system")):
            system["system"] = lambda command: self.note(command, run(command))
        getoutput = type(shell).getoutput.__globals__
        common: Any = sys.modules.get("IPython.utils._process_common")
        # Windows has a ``getoutput`` of its own.
        if getattr(common, "getoutput", None) is getoutput.get("getoutput") is not None:
            getoutput["getoutput"] = lambda command: self.output(common, command)
        self.completed(shell)

    def completed(self, shell: Any) -> None:
        """See what ``subprocess.run`` returns to code of a cell."""
        completed: Any = subprocess.CompletedProcess
        original = completed.__init__

        def begin(process: Any, args: Any, returncode: Any, *more: Any, **named: Any) -> None:
            original(process, args, returncode, *more, **named)
            if sys._getframe(2).f_globals is shell.user_ns:
                self.note(args, returncode)

        completed.__init__ = begin

    def output(self, common: Any, command: Any) -> str:
        def finish(process: Any) -> Any:
            out = process.communicate()[0]
            self.note(command, process.returncode)
            return out

        out = common.process_handler(command, finish, subprocess.STDOUT)
        return "" if out is None else str(out.decode(common.DEFAULT_ENCODING, "replace"))
