"""What a message about a notebook can name: variables, files, and the person's commands."""

from __future__ import annotations

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
from ...core.own_commands.own_command import Kind, OwnCommand
from ..files.paths import normalize
from ..names import Names
from .base import Handler


class ListedCommand(msgspec.Struct, frozen=True):
    """A command or skill in a file (``path``). ``hint``: which words go behind its name.
    ``trouble``: why it cannot be used; "" if it can."""

    kind: Kind
    name: str
    path: str
    description: str
    hint: str
    trouble: str


class ListedCommands(msgspec.Struct, frozen=True):
    commands: list[ListedCommand]


class _AboutNotebook(Handler):
    def notebook(self) -> str:
        notebook = normalize(self.get_query_argument("notebook", ""))
        if not notebook:
            raise CommandError("malformed", "“notebook” must be the path of a notebook.")
        return notebook


class NamesHandler(_AboutNotebook):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("read")
    async def get(self) -> None:
        names: Names = self.settings["codeinterp_names"]
        table = self.get_query_argument("columns_of", "")
        if table:
            self.answer(await names.columns(self.notebook(), table))
        else:
            self.answer(await names.of(self.notebook()))


class CommandsHandler(_AboutNotebook):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        found: list[OwnCommand] = await self.manager.surroundings.own_commands(self.notebook())
        scrub = self.manager.rules.scrub
        self.answer(
            ListedCommands(
                [
                    ListedCommand(
                        one.kind,
                        one.name,
                        one.path,
                        scrub(one.description),
                        scrub(one.hint),
                        one.trouble,
                    )
                    for one in found
                ]
            )
        )
