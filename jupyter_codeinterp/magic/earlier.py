"""Records the cells that a person ran in this process, with their errors, for the model.

Imports the core only when used, so that the extension loads quickly.
"""

from __future__ import annotations

import re
import traceback
from typing import TYPE_CHECKING, Any

from .typed import request

if TYPE_CHECKING:
    from ..wire.ops import CellView, Output

MOST_CELLS = 100
LONGEST = 20_000
"""Characters of a result or a traceback."""
MOST_FRAMES = 20
OWN = re.compile(r"%%?(?:ai|load_ext|reload_ext)\b")
"""Cells that are omitted, because their prompts are in the conversation already."""


class Earlier:
    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._errors: dict[int, Output] = {}
        self._tags: dict[int, Any] = {}
        shell.events.register("post_run_cell", self.ran)

    def unregister(self) -> None:
        self._shell.events.unregister("post_run_cell", self.ran)

    def ran(self, result: Any) -> None:
        """Record a finished cell. Never raises."""
        number = getattr(result, "execution_count", None)
        info = getattr(result, "info", None)
        if type(number) is not int or info is None or not info.store_history:
            return
        if tags := request(self._shell).get("metadata", {}).get("tags"):
            self._tags[number] = tags
        error = result.error_in_exec or result.error_before_exec
        if isinstance(error, Exception):
            self._errors[number] = described(error)

    def cells(self) -> list[CellView]:
        """The last cells, in order."""
        found = [
            self._view(number, source)
            for number, source in self._sources().items()
            if source.strip() and not OWN.match(source.lstrip())
        ]
        return found[-MOST_CELLS:]

    def _is_private(self, number: int) -> bool:
        from ..wire.ops import PRIVATE

        tags = self._tags.get(number)
        return isinstance(tags, (list, str)) and PRIVATE in tags

    def _sources(self) -> dict[int, str]:
        history = self._shell.history_manager
        sources = list(history.input_hist_raw) if history is not None else []
        # Omit the running cell, which is the last one.
        running = self._shell.execution_count - 1
        return {n: str(source) for n, source in enumerate(sources) if 0 < n < max(running, 1)}

    def _view(self, number: int, source: str) -> CellView:
        from ..view.redaction.private_names import assigned
        from ..wire.ops import PRIVATE, RanCode

        if self._is_private(number):
            return RanCode(_id(number), "code", "", tags=(PRIVATE,), assigns=assigned(source))
        outputs: list[Output] = []
        shown = self._shell.history_manager.output_hist_reprs.get(number)
        if isinstance(shown, str):
            outputs.append(
                {
                    "output_type": "execute_result",
                    "execution_count": number,
                    "data": {"text/plain": shown[:LONGEST]},
                    "metadata": {},
                }
            )
        if number in self._errors:
            outputs.append(self._errors[number])
        return RanCode(_id(number), "code", source, tuple(outputs), number)


def _id(number: int) -> str:
    return f"in-{number}"


def described(error: BaseException) -> Output:
    """An error as a cell's output, without IPython's frames."""
    lines: list[str]
    try:
        tb = error.__traceback__
        while tb is not None and "/IPython/" in tb.tb_frame.f_code.co_filename.replace("\\", "/"):
            tb = tb.tb_next
        shown = traceback.TracebackException(
            type(error), error, tb, limit=-MOST_FRAMES, compact=True
        )
        text = "".join(shown.format())
        lines = text[-LONGEST:].rstrip("\n").split("\n")
        value = str(error)[:LONGEST]
    except Exception:
        # A failing ``__str__``, or an unreadable source file.
        lines, value = [type(error).__name__], ""
    return {
        "output_type": "error",
        "ename": type(error).__name__,
        "evalue": value,
        "traceback": lines,
    }
