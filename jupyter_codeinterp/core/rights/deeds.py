"""What a sandbox saw of a run, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..labels import Deed, Observation

DID: dict[Deed, str] = {
    "held": "reached a limit of the sandbox",
    "refused": "tried to connect to other hosts",
    "connected": "reached hosts of the network",
    "lost": "made more connections than the sandbox keeps",
}


def sentence(seen: Iterable[Observation]) -> str:
    """For a terminal; "" for nothing."""
    said = []
    for one in seen:
        if one.kind == "held":
            continue  # the result has its sentence
        more = (f"{one.more} more",) if one.more else ()
        names = ", ".join((*one.names, *more))
        said.append(f"{DID[one.kind]} ({names})" if names else DID[one.kind])
    return f"It {', '.join(said)}." if said else ""
