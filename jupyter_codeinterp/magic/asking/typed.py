"""What a person has typed, as against what code asks for. ``-y`` counts in the first case only.

In a kernel it is what the front end has sent; in a terminal the outermost cell.
"""

from __future__ import annotations

import threading
from typing import Any

from ...kernel_side.mark import AGENT

AGENTS_CELL = (
    "This cell is the agent's own. %%ai is for cells of yours: say in the chat what is to be done."
)
OTHER_THREAD = "%%ai runs in a cell of its own, on the main thread."
NOT_TYPED = (
    "-y counts only in a cell that you have typed yourself and that begins with %%ai. "
    "Code that calls %%ai is asked for each run: leave -y out."
)


class Typed:
    """Registered with the shell, to know the outermost cell."""

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

    def refusal(self, name: str, line: str, cell: str | None, yes: bool) -> str:
        """Why the magic is not carried out here; "" if it is."""
        if threading.current_thread() is not threading.main_thread():
            return OTHER_THREAD
        if request(self._shell).get("metadata", {}).get(AGENT):
            return AGENTS_CELL
        if yes and not is_typed(self._source(), name, line, cell):
            return NOT_TYPED
        return ""

    def _source(self) -> str:
        if getattr(self._shell, "kernel", None) is not None:
            code = request(self._shell).get("content", {}).get("code")
            return code if isinstance(code, str) else ""
        if self._cells:
            return self._cells[0]
        history = self._shell.history_manager
        return str(history.input_hist_raw[-1]) if history is not None else ""


def request(shell: Any) -> dict[str, Any]:
    """What the kernel is carrying out; {} in a terminal."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return {}
    parent = kernel.get_parent("shell")
    return parent if isinstance(parent, dict) else {}


def is_typed(source: str, name: str, line: str, cell: str | None) -> bool:
    """Whether the magic stands in ``source`` as it was called."""
    if cell is None:
        lines = (one.strip().removeprefix("%") for one in source.split("\n"))
        return f"{name} {line.strip()}" in lines
    first, _, rest = source.lstrip().partition("\n")
    called = first.startswith(f"%%{name}") and first[len(name) + 2 :].strip() == line.strip()
    return called and rest.strip() == cell.strip()
