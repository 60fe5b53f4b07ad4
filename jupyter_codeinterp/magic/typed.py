"""Tells magics that a person typed from those that code calls. Only the former may use ``-y``.

The typed source is the front end's request in a kernel, and the outermost cell in a terminal.
"""

from __future__ import annotations

import threading
from typing import Any

from ..kernel.inside.mark import AGENT

NAME = "ai"
AGENTS_CELL = "This is the agent's cell. Use %%ai in your own cells, or ask in the chat."
OTHER_THREAD = "%%ai must run in its own cell, on the main thread."
NOT_TYPED = (
    "-y works only in a cell that you typed and that starts with %%ai. Code that calls %%ai "
    "must ask for each run: leave out -y."
)


class Typed:
    """Follows the shell's events, to know the outermost cell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells: list[str] = []
        shell.events.register("pre_run_cell", self.begin)
        shell.events.register("post_run_cell", self.end)

    def unregister(self) -> None:
        self._shell.events.unregister("pre_run_cell", self.begin)
        self._shell.events.unregister("post_run_cell", self.end)

    def begin(self, info: Any) -> None:
        self._cells.append(str(info.raw_cell or ""))

    def end(self, result: Any = None) -> None:
        if self._cells:
            self._cells.pop()

    def refusal(self, line: str, cell: str | None, yes: bool) -> str:
        """The reason why the magic may not run here; "" if it may."""
        if threading.current_thread() is not threading.main_thread():
            return OTHER_THREAD
        if request(self._shell).get("metadata", {}).get(AGENT):
            return AGENTS_CELL
        if yes and not _is_typed(self._source(), line, cell):
            return NOT_TYPED
        return ""

    def _source(self) -> str:
        if getattr(self._shell, "kernel", None) is not None:
            code = request(self._shell).get("content", {}).get("code")
            return code if isinstance(code, str) else ""
        return self._cells[0] if self._cells else ""


def request(shell: Any) -> dict[str, Any]:
    """The request that the kernel is handling; {} in a terminal."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return {}
    parent = kernel.get_parent("shell")
    return parent if isinstance(parent, dict) else {}


def _is_typed(source: str, line: str, cell: str | None) -> bool:
    """Whether ``source`` contains this call of the magic."""
    if cell is None:
        lines = (one.strip().removeprefix("%") for one in source.split("\n"))
        return f"{NAME} {line.strip()}" in lines
    first, _, rest = source.lstrip().partition("\n")
    called = first.startswith(f"%%{NAME}") and first[len(NAME) + 2 :].strip() == line.strip()
    return called and rest.strip() == cell.strip()
