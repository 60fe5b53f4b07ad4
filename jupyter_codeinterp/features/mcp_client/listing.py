"""Tools of MCP servers: checks a server's list, and chooses those that the agent is offered."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import msgspec

from ...wire.ops import Output
from . import schemas
from .schemas import BadSchema

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
    entry: str = ""
    """Digest of the server's entry."""


class OutsideAnswer(msgspec.Struct, frozen=True):
    """What a call returned, as outputs of a cell."""

    outputs: tuple[Output, ...]
    is_error: bool = False


# -------------------------------------------------------------------------------------------------
# A server's list of tools, within bounds.

MOST = 32
"""Most tools of one server in a conversation."""
MOST_BYTES = 24_000
"""Most bytes of descriptions and schemas of one server's tools: each request has them all."""
LONGEST_NAME = 128
LONGEST_DESCRIPTION = 1_000
"""Characters of a description in a request; the core cuts the rest."""
TOO_MANY = "more than {most} tools: pick those that you need"
TOO_LARGE = "the descriptions and schemas of all tools are too large: pick fewer"


class RawTool(NamedTuple):
    """A tool as its server describes it, unchecked."""

    name: Any
    description: Any
    schema: Any


class Listed(msgspec.Struct, frozen=True):
    """A tool on a list for people. ``why``: why the agent is not offered it; "" if it is."""

    name: str
    description: str
    why: str = ""


def chosen(
    server: str, entry: str, tools_found: Iterable[RawTool], picked: Collection[str] | None
) -> tuple[tuple[OutsideTool, ...], tuple[Listed, ...]]:
    """The tools for a conversation (``named`` gives them names), and the list for people.
    ``entry``: the digest of the server's entry; ``picked``: names that the person chose, None for
    as many as fit."""
    tools: list[OutsideTool] = []
    listed: list[Listed] = []
    size = 0
    for one in tools_found:
        tool, why = _tool(server, entry, one)
        if tool is not None:
            weight = len(msgspec.json.encode(tool.schema))
            weight += len(tool.description[:LONGEST_DESCRIPTION].encode("utf-8", "replace"))
            if picked is not None and tool.tool not in picked:
                why = "not picked"
            elif len(tools) == MOST:
                why = TOO_MANY.format(most=MOST)
            elif size + weight > MOST_BYTES:
                why = TOO_LARGE
            elif any(known.tool == tool.tool for known in tools):
                why = "the server lists this name twice"
            else:
                tools.append(tool)
                size += weight
        listed.append(Listed(str(one.name)[:LONGEST_NAME], str(one.description)[:200], why))
    return tuple(tools), tuple(listed)


def _tool(server: str, entry: str, raw: RawTool) -> tuple[OutsideTool | None, str]:
    name, description = raw.name, raw.description if raw.description is not None else ""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        return None, f"its name must have 1 to {LONGEST_NAME} characters"
    if not isinstance(description, str):
        return None, "its description is not a text"
    try:
        schema = schemas.checked(raw.schema)
    except BadSchema as error:
        return None, str(error)
    pinned = hashlib.sha256(
        msgspec.json.encode([entry, name, description, raw.schema], order="sorted")
    ).hexdigest()
    return OutsideTool(server, name, "", description, schema, pinned, entry), ""


def named(tools: Iterable[OutsideTool]) -> tuple[OutsideTool, ...]:
    """The tools of a conversation, each with a unique name for the model."""
    tools = tuple(tools)
    called = names((tool.server, tool.tool) for tool in tools)
    return tuple(
        msgspec.structs.replace(tool, name=called[tool.server, tool.tool]) for tool in tools
    )
