"""``POST tables``: a page of a table, for the person. Nothing of it goes to a model."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
from ..files.paths import normalize
from ..tables.files import FileTables
from ..tables.shapes import TableAsked
from ..tables.variables import VariableTables
from .base import Handler


class TablesHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("read")
    async def post(self) -> None:
        asked = self.given(TableAsked)
        notebook = normalize(asked.notebook)
        if not notebook:
            raise CommandError("malformed", "“notebook” must be the path of a notebook.")
        if asked.file:
            files: FileTables = self.settings["codeinterp_file_tables"]
            self.answer(await files.of(asked))
        else:
            tables: VariableTables = self.settings["codeinterp_tables"]
            self.answer(await tables.of(notebook, asked))
