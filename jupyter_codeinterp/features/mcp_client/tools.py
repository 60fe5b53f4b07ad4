"""Reads the tools that MCP servers list.

All of it is untrusted. A model's API refuses a whole request for one odd schema. So it gets a
schema with the names and simple types of the parameters only, and the model reads the server's own
schema as a part of the description.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, NamedTuple

import msgspec

from ...base.sentences import Sentence
from ...view.injection.signs import signs
from ...view.plain_text import clean, cut
from .entries import ServerEntry

LONGEST_DESCRIPTION = 1_000
"""Characters of a description in a request."""
LONGEST_SCHEMA = 8_000
"""Characters of a schema."""
MOST_PARAMETERS = 50
LONGEST_MODEL_NAME = 60
"""Characters of the model's name for a tool. The Messages API allows 64; a number may follow."""
SPEAKS = Sentence("its description or its schema gives the model orders")
TOO_LONG = Sentence("its schema has more than {limit:,} characters", limit=LONGEST_SCHEMA)
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""A parameter's name, as the Messages API allows."""
_TYPES = ("object", "array", "string", "number", "integer", "boolean")
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]")


class BadTool(ValueError):
    """Why the tool is left out, for people."""

    def __init__(self, why: Sentence) -> None:
        super().__init__(why)
        self.why = why


class OutsideTool(msgspec.Struct, frozen=True):
    """A tool as its server describes it. ``server``, ``tool`` and ``description`` are untrusted."""

    server: str
    """The server's name in the configuration."""
    tool: str
    """The server's own name for it."""
    name: str
    """The model's name for it."""
    description: str
    """With the server's schema."""
    schema: dict[str, Any]
    """For the model's API."""
    pinned: str
    """Digest of its name, description and schema."""
    entry: str = ""
    """Digest of the server's entry."""


class OutsideAnswer(NamedTuple):
    """What a call returned."""

    text: str
    is_error: bool = False


class RawTool(NamedTuple):
    """A tool as its server describes it, unchecked."""

    name: str
    description: str
    schema: Any

    @property
    def digest(self) -> str:
        return hashlib.sha256(msgspec.json.encode(list(self), order="sorted")).hexdigest()


def outside_tool(entry: ServerEntry, raw: RawTool) -> OutsideTool:
    """A tool for a conversation. Raises BadTool."""
    whole = msgspec.json.encode(raw.schema).decode()
    if len(whole) > LONGEST_SCHEMA:
        raise BadTool(TOO_LONG)
    told = f"{cut(clean(raw.description), LONGEST_DESCRIPTION)}\nInput schema: {clean(whole)}"
    if signs(told, 1):
        raise BadTool(SPEAKS)
    name = _OTHERS.sub("_", f"mcp__{entry.name}__{raw.name}")[:LONGEST_MODEL_NAME]
    schema = plain_schema(raw.schema)
    return OutsideTool(entry.name, raw.name, name, told, schema, raw.digest, entry.digest)


def plain_schema(given: Any) -> dict[str, Any]:
    """The names of the parameters, and their types if these are simple."""
    parts = given.get("properties") if isinstance(given, dict) else None
    named = list(parts.items())[:MOST_PARAMETERS] if isinstance(parts, dict) else []
    types = {
        name: part.get("type") if isinstance(part, dict) else None
        for name, part in named
        if _PARAMETER.fullmatch(name)
    }
    properties = {name: {"type": of} if of in _TYPES else {} for name, of in types.items()}
    return {"type": "object", "properties": properties}
