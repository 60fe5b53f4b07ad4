"""Inserts code as a new cell below the prompt's cell, without running it.

A click comes after the cell's execute reply, which could have inserted a cell. So this asks the
page over a comm. It works in JupyterLab and Notebook 7 with the extension.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from comm import create_comm

from ...kernel_side.model_endpoint import URL
from ..asking.typed import request

TARGET = "jupyter_codeinterp.below"
"""src/notebook/below.ts has the other end."""


class CellInserter:
    """Inserts below the cell that the kernel is running."""

    def __init__(self, shell: Any) -> None:
        self._cell = str(request(shell).get("metadata", {}).get("cellId") or "")
        self._comms: list[Any] = []

    @property
    def is_there(self) -> bool:
        """Whether the page sends cell ids and belongs to a server with the extension."""
        return bool(self._cell and os.environ.get(URL))

    def put(self, source: str, answered: Callable[[bool], None]) -> None:
        """Ask the page. Calls ``answered`` with its success."""

        def closed(message: dict[str, Any]) -> None:
            answered(message["content"].get("data", {}).get("inserted") is True)

        comm = create_comm(target_name=TARGET, data={"cell": self._cell, "source": source})
        comm.on_close(closed)
        self._comms = [comm]
