"""``POST tables``: a page of a table, for the person. No data goes to a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from ...extensions import Route
from ...server.rest.base import Handler
from ...server.rest.notebooks import path_of
from ...wire.commands import EXECUTE, LOOK
from ...wire.ports import KernelInfo
from .files import FileTables
from .shapes import TableAnswer, TableAsked, answer_from, refusal


class TableKernel(Protocol):
    async def info(self) -> KernelInfo: ...

    async def table(self, asked: dict[str, Any]) -> dict[str, Any]: ...


class VariableTables:
    """Tables that are variables of a notebook's kernel."""

    def __init__(self, kernel: Callable[[str], TableKernel]) -> None:
        """``kernel`` takes the notebook's path."""
        self._kernel = kernel

    async def of(self, notebook: str, asked: TableAsked) -> TableAnswer:
        """Starts no kernel and waits for no busy one. Raises CommandError ``table_…`` or
        KernelError."""
        if not asked.name.isidentifier():
            raise refusal({"refused": "gone", "detail": asked.name})
        kernel = self._kernel(notebook)
        sent = msgspec.to_builtins(asked)
        del sent["notebook"], sent["file"], sent["kernel"]
        reported = await kernel.table(sent)
        info = await kernel.info()
        now = f"{info.kernel_id} {info.start}"
        if reported.get("refused") == "gone" and asked.kernel not in ("", now):
            reported = {**reported, "refused": "restarted"}
        return answer_from(reported, now)


async def tables(handler: Handler) -> TableAnswer:
    asked = handler.given(TableAsked)
    notebook = path_of(asked.notebook)
    if asked.file:
        files: FileTables = handler.settings["codeinterp_file_tables"]
        return await files.of(asked)
    variables: VariableTables = handler.settings["codeinterp_tables"]
    return await variables.of(notebook, asked)


ROUTES = (Route("POST", r"tables", (EXECUTE, LOOK), tables),)
