"""``verifications``: whether a notebook runs from scratch with the same outputs."""

from __future__ import annotations

from typing import Union

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
from ...core.verify.verification import Verification
from ..files.paths import normalize
from ..verify import Verifier
from .base import Handler


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
        notebook = _path(self.get_query_argument("notebook", ""))
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
        """Start a run of the notebook as its file has it."""
        asked = self.given(Asked)
        path = _path(asked.notebook)
        started = await self.runs.start(path, in_place=asked.in_place)
        self.answer(Verified(started))

    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self) -> None:
        notebook = _path(self.get_query_argument("notebook", ""))
        self.answer(Verified(await self.runs.cancel(notebook)))


def _path(notebook: str) -> str:
    path = normalize(notebook)
    if not path:
        raise CommandError("malformed", "“notebook” must be the path of a notebook.")
    return path
