"""Code into a new cell of the page, after the cell that has asked. A click comes when that cell's
reply, which could have brought one, has gone long ago; so the page is asked, over a comm.

JupyterLab and Notebook 7 do it, where the extension is installed. Nothing is run.
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


class Below:
    """Of the cell that the kernel is carrying out."""

    def __init__(self, shell: Any) -> None:
        self._cell = str(request(shell).get("metadata", {}).get("cellId") or "")
        self._comms: list[Any] = []

    @property
    def is_there(self) -> bool:
        """Whether the page says which cell it is, and belongs to a server with the extension."""
        return bool(self._cell and os.environ.get(URL))

    def put(self, source: str, answered: Callable[[bool], None]) -> None:
        """``answered`` is called with whether the page has done it."""

        def closed(message: dict[str, Any]) -> None:
            answered(message["content"].get("data", {}).get("inserted") is True)

        comm = create_comm(target_name=TARGET, data={"cell": self._cell, "source": source})
        comm.on_close(closed)
        self._comms = [comm]
