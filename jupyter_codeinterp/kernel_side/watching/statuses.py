"""Exit statuses of shell commands in cells: ``!command`` and ``x = !command``. This file's text
runs **in the kernel**.

IPython keeps the last one alone, and none of a command whose output is assigned. So these stand in
for the two functions that it calls with the finished command. Standard library only.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

MOST = 20
LONGEST = 200
"""Characters of a command."""


class Statuses:
    def __init__(self) -> None:
        self.failed: list[list[Any]] = []
        """Status and command of those that failed since the cell began."""

    def note(self, command: Any, status: Any) -> None:
        if type(status) is int and status and len(self.failed) < MOST:
            self.failed.append([status, str(command)[:LONGEST]])

    def install(self, shell: Any) -> None:
        """Put both in the place of IPython's own, in the module whose code calls them."""
        for name, make in (("system", self.system), ("getoutput", self.getoutput)):
            method = getattr(getattr(type(shell), name), "__func__", getattr(type(shell), name))
            place = getattr(method, "__globals__", {})
            original = place.get(name)
            if callable(original):
                place[name] = make(original)

    def system(self, original: Any) -> Any:
        def system(command: Any) -> Any:
            status = original(command)
            self.note(command, status)
            return status

        return system

    def getoutput(self, original: Any) -> Any:
        common = sys.modules.get("IPython.utils._process_common")
        if original is not getattr(common, "getoutput", None):
            return original  # Windows has its own.

        def getoutput(command: Any) -> Any:
            def finish(process: Any) -> Any:
                out = process.communicate()[0]
                self.note(command, process.returncode)
                return out

            out = common.process_handler(command, finish, subprocess.STDOUT)  # type: ignore[union-attr]
            return "" if out is None else out.decode(common.DEFAULT_ENCODING, "replace")  # type: ignore[union-attr]

        return getoutput
