"""A notebook's names (variables and files), commands and verifications."""

from __future__ import annotations

from typing import Union

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
from ...core.own_command import Kind, OwnCommand
from ...core.verify.verification import Verification
from ..files.paths import normalize
from ..names import ReferenceNames
from ..verify import Verifier
from .base import Handler


class ListedCommand(msgspec.Struct, frozen=True):
    """A command or skill in a file (``path``). ``hint``: its arguments, for display.
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
        return path_of(self.get_query_argument("notebook", ""))


def path_of(notebook: str) -> str:
    path = normalize(notebook)
    if not path:
        raise CommandError("malformed", "“notebook” must be the path of a notebook.")
    return path


class NamesHandler(_AboutNotebook):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("read")
    async def get(self) -> None:
        names: ReferenceNames = self.settings["codeinterp_names"]
        table = self.get_query_argument("columns_of", "")
        if table:
            self.answer(await names.columns(self.notebook(), table))
        else:
            self.answer(await names.of(self.notebook()))


class CommandsHandler(_AboutNotebook):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        found: list[OwnCommand] = await self.settings["codeinterp_own_commands"](self.notebook())
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


# -------------------------------------------------------------------------------------------------
# ``verifications``: whether a notebook runs from scratch with the same outputs.


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``in_place``: run in the notebook's own folder instead of a copy."""

    notebook: str
    in_place: bool = False


class Verified(msgspec.Struct, frozen=True):
    """null if the notebook was not verified since the server's start."""

    verification: Union[Verification, None]


class VerificationsHandler(Handler):
    @property
    def runs(self) -> Verifier:
        found: Verifier = self.settings["codeinterp_verifier"]
        return found

    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        """The latest run of ``notebook``. With ``seen``, a version, wait for another version."""
        notebook = path_of(self.get_query_argument("notebook", ""))
        seen = self.get_query_argument("seen", "")
        if seen:
            if not (seen.isdecimal() and len(seen) < 10):
                raise CommandError("malformed", "“seen” must be a version.")
            self.answer(Verified(await self.runs.changed(notebook, int(seen))))
        else:
            self.answer(Verified(self.runs.of(notebook)))

    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("read")
    async def post(self) -> None:
        """Start a run of the saved notebook."""
        asked = self.given(Asked)
        path = path_of(asked.notebook)
        started = await self.runs.start(path, in_place=asked.in_place)
        self.answer(Verified(started))

    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self) -> None:
        notebook = path_of(self.get_query_argument("notebook", ""))
        self.answer(Verified(await self.runs.cancel(notebook)))
