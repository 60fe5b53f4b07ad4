"""From a server's own list of tools to those that the agent may be offered, within bounds."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import msgspec

from ...core.tools.outside import schemas
from ...core.tools.outside.port import OutsideTool, names
from ...core.tools.outside.schemas import BadSchema

MOST = 32
"""Tools of a server that one conversation gets."""
MOST_BYTES = 24_000
"""Of descriptions and schemas of one server's tools, as they go with each request."""
LONGEST_NAME = 128
LONGEST_DESCRIPTION = 1_000
"""Characters that count for a request; the core cuts the rest."""
TOO_MANY = "more than {most} tools: pick those that you need"
TOO_LARGE = "the descriptions and schemas of all tools are too large: pick fewer"


class Told(NamedTuple):
    """What a server says of a tool. Nothing of it has been checked."""

    name: Any
    description: Any
    schema: Any


class Listed(msgspec.Struct, frozen=True):
    """A tool on a list for people. ``why``: why the agent is not offered it; "" if it is."""

    name: str
    description: str
    why: str = ""


def chosen(
    server: str, entry: str, told: Iterable[Told], picked: Collection[str] | None
) -> tuple[tuple[OutsideTool, ...], tuple[Listed, ...]]:
    """The tools for a conversation, which get their names later, and the list for people.
    ``entry`` is the digest of the server's entry; ``picked`` are names of the person's choice, None
    for as many as fit."""
    tools: list[OutsideTool] = []
    listed: list[Listed] = []
    size = 0
    for one in told:
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


def _tool(server: str, entry: str, told: Told) -> tuple[OutsideTool | None, str]:
    name, description = told.name, told.description if told.description is not None else ""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        return None, f"its name must have 1 to {LONGEST_NAME} characters"
    if not isinstance(description, str):
        return None, "its description is not a text"
    try:
        schema = schemas.checked(told.schema)
    except BadSchema as error:
        return None, str(error)
    pinned = hashlib.sha256(
        msgspec.json.encode([entry, name, description, told.schema], order="sorted")
    ).hexdigest()
    return OutsideTool(server, name, "", description, schema, pinned), ""


def named(tools: Iterable[OutsideTool]) -> tuple[OutsideTool, ...]:
    """The tools of a conversation, each with a name of its own for the model."""
    tools = tuple(tools)
    called = names((tool.server, tool.tool) for tool in tools)
    return tuple(
        msgspec.structs.replace(tool, name=called[tool.server, tool.tool]) for tool in tools
    )
