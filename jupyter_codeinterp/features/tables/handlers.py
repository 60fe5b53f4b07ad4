"""``POST tables``: a page of a table, for the person. No data goes to a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.ports import KernelInfo
from ...server.rest.base import Handler
from ...server.rest.notebooks import path_of
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


class TablesHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("read")
    async def post(self) -> None:
        asked = self.given(TableAsked)
        notebook = path_of(asked.notebook)
        if asked.file:
            files: FileTables = self.settings["codeinterp_file_tables"]
            self.answer(await files.of(asked))
        else:
            tables: VariableTables = self.settings["codeinterp_tables"]
            self.answer(await tables.of(notebook, asked))


ROUTES = ((r"tables", TablesHandler),)
