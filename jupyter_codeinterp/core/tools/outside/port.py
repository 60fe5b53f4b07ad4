"""The port to MCP servers. The adapter is ``adapters/tool_servers/``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from ...document.ops import Output

# -------------------------------------------------------------------------------------------------
# Names that models accept for tools of MCP servers: ``mcp__server__tool``.

LONGEST = 64
"""Characters of a name, as the Messages API allows."""
LONGEST_SERVER = 24
"""Characters of the server's part."""
_DIGEST = 6
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]")


def names(tools: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A unique name for each pair of server and tool. An invalid or ambiguous name ends with a
    digest, so it does not depend on the order of the tools."""
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


class OutsideTool(msgspec.Struct, frozen=True):
    """A tool as its server describes it. Everything but ``name`` is untrusted text."""

    server: str
    """The server's name in the configuration."""
    tool: str
    """The server's own name for it."""
    name: str
    """The model's name for it."""
    description: str
    schema: dict[str, Any]
    """Already checked (``schemas.py``)."""
    pinned: str
    """Digest of the server's entry, and of the tool's name, description and schema."""


class Answer(msgspec.Struct, frozen=True):
    """What a call returned, as outputs of a cell."""

    outputs: tuple[Output, ...]
    is_error: bool = False


class OutsideTools(Protocol):
    """The tools of one conversation."""

    @property
    def tools(self) -> tuple[OutsideTool, ...]: ...

    @property
    def complete(self) -> bool:
        """Whether all servers answered. If not, the next turn asks again."""

    async def pinned(self, tool: OutsideTool) -> str:
        """The tool's digest as its server describes it now; "" if the server no longer has it.
        Starts the server if it has ended. Raises ToolServerError."""

    async def call(self, tool: OutsideTool, arguments: dict[str, Any]) -> Answer:
        """Call a tool. Cancelling this cancels the call. Raises ToolServerError."""
