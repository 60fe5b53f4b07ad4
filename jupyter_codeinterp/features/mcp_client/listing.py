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

LONGEST = 64
"""Characters of the model's name for a tool, as the Messages API allows."""
LONGEST_SERVER = 24
"""Characters of the server's part."""
_DIGEST = 6
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]")


def model_name(server: str, tool: str) -> str:
    """``mcp__server__tool``. It ends with a digest if it would be too long, have other characters,
    or could be that of another pair."""
    whole = f"mcp__{server}__{tool}"
    short, rest = _OTHERS.sub("_", server[:LONGEST_SERVER]), _OTHERS.sub("_", tool[:LONGEST])
    name = f"mcp__{short}__{rest}"[:LONGEST]
    clear = "__" not in f"{server}_" and not tool.startswith("_")
    if clear and name == whole:
        return name
    digest = hashlib.sha256(f"{server}\n{tool}".encode("utf-8", "replace")).hexdigest()[:_DIGEST]
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


MOST = 32
"""Most tools of one server in a conversation."""
MOST_BYTES = 24_000
"""Most bytes of descriptions and schemas of one server's tools: each request has them all."""
LONGEST_NAME = 128
LONGEST_DESCRIPTION = 1_000
"""Characters of a description in a request; the core cuts the rest."""
NOT_PICKED = "not picked"
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
    """The tools for a conversation, and the list for people. ``entry``: the digest of the server's
    entry; ``picked``: names that the person chose, None for as many as fit."""
    tools: list[OutsideTool] = []
    listed: list[Listed] = []
    size = 0
    for one in tools_found:
        tool, why = _tool(server, entry, one)
        if tool is not None:
            weight = len(msgspec.json.encode(tool.schema))
            weight += len(tool.description[:LONGEST_DESCRIPTION].encode("utf-8", "replace"))
            if picked is not None and tool.tool not in picked:
                why = NOT_PICKED
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
    called = model_name(server, name)
    return OutsideTool(server, name, called, description, schema, pinned, entry), ""
