"""Variables and files that a message about a notebook can reference."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
from ..files.paths import normalize
from ..names import Names
from .base import Handler


class NamesHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("read")
    async def get(self) -> None:
        notebook = normalize(self.get_query_argument("notebook", ""))
        if not notebook:
            raise CommandError("malformed", "“notebook” must be the path of a notebook.")
        names: Names = self.settings["codeinterp_names"]
        self.answer(await names.of(notebook))
