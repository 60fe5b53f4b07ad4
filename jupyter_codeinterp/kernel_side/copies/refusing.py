"""Refuses cells while a copy takes the kernel's place. This file's text runs **in the kernel**.

Such a cell would run in the process that is about to leave: its effects would be lost, or it would
never be answered. So the kernel answers it with an error that says what to do. Standard library
and ipykernel only.
"""

from __future__ import annotations

import inspect
from typing import Any

NAME, WORDS = "NotRun", "The kernel's variables were just put back. Run this cell again."
ERROR = {"ename": NAME, "evalue": WORDS, "traceback": [f"{NAME}: {WORDS}"]}


class Refusing:
    """``server`` is the session whose requests still run."""

    def __init__(self, kernel: Any, server: str) -> None:
        self.kernel, self.server = kernel, server
        self.runs = kernel.shell_handlers["execute_request"]
        kernel.shell_handlers["execute_request"] = self.answer

    async def answer(self, stream: Any, ident: Any, parent: Any) -> None:
        if parent["header"]["session"] == self.server:
            ran = self.runs(stream, ident, parent)
            if inspect.isawaitable(ran):
                await ran
            return
        kernel = self.kernel
        topic = kernel._topic("error")
        kernel.session.send(kernel.iopub_socket, "error", ERROR, parent=parent, ident=topic)
        reply = {"status": "error", **ERROR, "execution_count": kernel.execution_count}
        kernel.session.send(stream, "execute_reply", reply, parent=parent, ident=ident)

    def end(self) -> None:
        self.kernel.shell_handlers["execute_request"] = self.runs
