"""What code needs and the kernel does not have, and large tables that it fetches into the kernel:
for the person who decides on a draft, and for the model if they reject it. Where nobody is asked,
the run itself tells what is missing."""

from __future__ import annotations

from functools import partial

from ..checks.names import absent, fetches
from ..checks.names.wanted import Needs, needs
from ..checks.shared.source import parsed
from ..errors import KernelError
from ..findings import Finding
from ..off_loop import off_loop
from ..ports import KernelInfo
from ..turn.turn import Turn
from .checked import plain


async def found(turn: Turn, source: str, info: KernelInfo | None) -> tuple[Finding, ...]:
    """Names, attributes and arguments that certainly do not exist."""
    if info is None or info.language.lower() != "python":
        return ()
    wanted = await off_loop(partial(_needs, source), len(source), Needs)
    if not wanted.wanted:
        return ()
    try:
        answer = await turn.kernel.missing(absent.question(wanted))
    except KernelError:
        return ()
    private = turn.private.__contains__
    return tuple(plain(turn, one) for one in absent.findings(wanted, answer, private))


def _needs(source: str) -> Needs:
    tree = parsed(source)
    return needs(source, tree) if tree is not None else Needs()


async def fetched_tables(turn: Turn, source: str, info: KernelInfo | None) -> tuple[Finding, ...]:
    """Tables of Spark, Dask or Ray that are large, or of unknown size."""
    if info is None or info.language.lower() != "python":
        return ()
    fetched = await off_loop(partial(_fetches, source), len(source), tuple[fetches.Fetch, ...])
    if not fetched:
        return ()
    names = tuple(dict.fromkeys(fetch.name for fetch in fetched))
    try:
        answer = await turn.kernel.variables(names)
    except KernelError:
        return ()
    private = turn.private.__contains__
    return tuple(plain(turn, one) for one in fetches.findings(fetched, answer, private))


def _fetches(source: str) -> tuple[fetches.Fetch, ...]:
    tree = parsed(source)
    return fetches.fetches(tree) if tree is not None else ()
