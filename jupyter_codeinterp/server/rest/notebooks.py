"""A notebook's names (variables and files), skills and verifications."""

from __future__ import annotations

from typing import Any, Union

import msgspec

from ...base.errors import CommandError
from ...base.paths import normalize
from ...run.verify.verification import Verification
from .base import Handler


class ListedSkill(msgspec.Struct, frozen=True):
    """A skill in a file (``path``). ``trouble``: why it cannot be used; "" if it can."""

    name: str
    path: str
    description: str
    trouble: str


class ListedSkills(msgspec.Struct, frozen=True):
    skills: list[ListedSkill]


def _notebook(handler: Handler) -> str:
    return path_of(handler.get_query_argument("notebook", ""))


def path_of(notebook: str) -> str:
    path = normalize(notebook)
    if not path:
        raise CommandError("malformed", "“notebook” must be the path of a notebook.")
    return path


async def names(handler: Handler) -> Any:
    names = handler.bench.names
    if table := handler.get_query_argument("columns_of", ""):
        return await names.columns(_notebook(handler), table)
    return await names.of(_notebook(handler))


async def skills(handler: Handler) -> ListedSkills:
    found = await handler.bench.skills(_notebook(handler))
    scrub = handler.manager.rules.scrub
    return ListedSkills(
        [ListedSkill(one.name, one.path, scrub(one.description), one.trouble) for one in found]
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


async def verification(handler: Handler) -> Verified:
    """The latest run of ``notebook``. With ``seen``, a version, wait for another version."""
    notebook = _notebook(handler)
    seen = handler.get_query_argument("seen", "")
    if not seen:
        return Verified(handler.bench.verifier.of(notebook))
    if not (seen.isdecimal() and len(seen) < 10):
        raise CommandError("malformed", "“seen” must be a version.")
    return Verified(await handler.bench.verifier.changed(notebook, int(seen)))


async def verify(handler: Handler) -> Verified:
    """Start a run of the saved notebook."""
    asked = handler.given(Asked)
    path = path_of(asked.notebook)
    return Verified(await handler.bench.verifier.start(path, in_place=asked.in_place))


async def cancel_verification(handler: Handler) -> Verified:
    return Verified(await handler.bench.verifier.cancel(_notebook(handler)))
