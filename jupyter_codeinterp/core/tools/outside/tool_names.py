"""Names that models accept for tools of MCP servers: ``mcp__server__tool``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

LONGEST = 64
"""Characters of a name, as the Messages API allows."""
LONGEST_SERVER = 24
"""Characters of the server's part."""
_DIGEST = 6
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]")


def names(tools: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A different name for each server and tool. A name that cannot stay as it is, or that another
    one has, ends with a digest, so it does not depend on the other tools' order."""
    pairs = sorted(set(tools))
    plain = {pair: _plain(*pair) for pair in pairs}
    taken: dict[str, int] = {}
    for name in plain.values():
        taken[name] = taken.get(name, 0) + 1
    return {
        pair: name if taken[name] == 1 and name == _whole(*pair) else _with_digest(name, pair)
        for pair, name in plain.items()
    }


def _whole(server: str, tool: str) -> str:
    return f"mcp__{server}__{tool}"


def _plain(server: str, tool: str) -> str:
    short = _OTHERS.sub("_", server[:LONGEST_SERVER])
    return _whole(short, _OTHERS.sub("_", tool[:LONGEST]))[:LONGEST]


def _with_digest(name: str, pair: tuple[str, str]) -> str:
    digest = hashlib.sha256("\n".join(pair).encode("utf-8", "replace")).hexdigest()[:_DIGEST]
    return f"{name[: LONGEST - _DIGEST - 1]}_{digest}"
