"""Our own hooks: what a reader of code may overlook, and what they do not get to see."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..approval.code_warnings import hidden_characters, notices
from ..approval.installs import installs
from ..approval.out_of_sight import out_of_sight
from ..off_loop import off_loop
from .hook import CellCode, Hook, Notes

NOT_CHECKED = "Could not check what else this runs."


async def checked(
    check: Callable[..., tuple[str, ...]], source: str, *more: object
) -> tuple[str, ...]:
    """What ``check`` says of a text of any length."""
    work = partial(check, source, *more)
    return await off_loop(work, len(source), lambda: (NOT_CHECKED,))


async def _unseen(cell: CellCode) -> Notes:
    """Hidden characters and code out of sight: a person is asked in every mode. Where nobody reads
    the code, nothing is out of sight."""
    texts = await checked(hidden_characters, cell.source)
    if not cell.unread:
        texts += await checked(out_of_sight, cell.source)
    return Notes(texts, ask=bool(texts))


async def _warnings(cell: CellCode) -> Notes:
    modules = frozenset(name[:-3] for name in cell.files if name.endswith(".py"))
    return Notes(await checked(notices, cell.source, cell.language, modules))


async def _packages(cell: CellCode) -> Notes:
    """Installed or removed packages: a person is asked in every mode."""
    texts = await checked(installs, cell.source, cell.language)
    return Notes(texts, ask=bool(texts))


BUILT_IN = (
    Hook("Hidden code", before_run=_unseen),
    Hook("Packages", before_run=_packages),
    Hook("Indirect code", before_run=_warnings),
)
