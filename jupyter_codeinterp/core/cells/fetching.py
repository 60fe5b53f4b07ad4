"""Large tables that a draft would fetch into the kernel, for the person who decides on it, and for
the model if they reject it."""

from __future__ import annotations

from functools import partial

from ..checks.names import fetches
from ..checks.shared.source import parsed
from ..errors import KernelError
from ..findings import Finding
from ..off_loop import off_loop
from ..ports import KernelInfo
from ..turn.turn import Turn
from .checked import plain


async def found(turn: Turn, source: str, info: KernelInfo | None) -> tuple[Finding, ...]:
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
