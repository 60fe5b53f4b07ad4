"""Checks the tools that MCP servers list, and chooses those that the agent is offered.

All of it is untrusted. A model's API refuses a whole request for one bad schema, and its texts
reach the model before any result does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union

import msgspec
from msgspec import Meta

from ...base.sentences import Sentence
from ...wire.ops import Output
from .entries import ServerEntry

# -------------------------------------------------------------------------------------------------
# The JSON Schema of a tool's input: only known keywords with fitting values.

MOST_SCHEMA_BYTES = 8_000
DEEPEST = 24
"""Lists and objects inside each other in a schema."""
_Name = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_.-]{1,64}\Z")]
"""A property's name, as the Messages API allows."""
_Reference = Annotated[str, Meta(pattern=r"^#(/(\$defs|definitions)/[a-zA-Z0-9_.-]{1,64})?\Z")]
"""Within the schema."""
_Type = Literal["object", "array", "string", "number", "integer", "boolean", "null"]
_Part = Union[bool, "_Schema"]
_Parts = Annotated[list[_Part], Meta(min_length=1)]
_Named = dict[_Name, _Part]
_Number = Union[int, float, bool, None]


class _Schema(msgspec.Struct, rename="camel", omit_defaults=True):
    type: Union[_Type, Annotated[list[_Type], Meta(min_length=1)], None] = None
    title: Optional[str] = None
    description: Optional[str] = None
    properties: Optional[_Named] = None
    required: Optional[list[str]] = None
    additional_properties: Optional[_Part] = None
    items: Optional[_Part] = None
    prefix_items: Optional[_Parts] = None
    any_of: Optional[_Parts] = None
    one_of: Optional[_Parts] = None
    all_of: Optional[_Parts] = None
    not_: Optional[_Part] = msgspec.field(default=None, name="not")
    enum: Optional[Annotated[list[Any], Meta(min_length=1)]] = None
    const: Any = msgspec.UNSET
    default: Any = msgspec.UNSET
    ref: Optional[_Reference] = msgspec.field(default=None, name="$ref")
    defs: Optional[_Named] = msgspec.field(default=None, name="$defs")
    definitions: Optional[_Named] = None
    minimum: _Number = None
    maximum: _Number = None
    exclusive_minimum: _Number = None
    exclusive_maximum: _Number = None
    multiple_of: _Number = None
    min_length: _Number = None
    max_length: _Number = None
    min_items: _Number = None
    max_items: _Number = None
    unique_items: _Number = None
    min_properties: _Number = None
    max_properties: _Number = None


class BadTool(ValueError):
    """Why the tool is left out, for people."""

    def __init__(self, why: Sentence) -> None:
        super().__init__(why)
        self.why = why


def checked(given: Any) -> dict[str, Any]:
    """The schema with known keywords only. Raises BadTool."""
    if not isinstance(given, dict) or given.get("type") != "object":
        raise BadTool(Sentence("its input schema does not describe an object"))
    try:
        size = len(msgspec.json.encode(given))
        if size > MOST_SCHEMA_BYTES:
            words = "its input schema has {size:,} bytes, and {limit:,} are allowed"
            raise BadTool(Sentence(words, size=size, limit=MOST_SCHEMA_BYTES))
        for _ in texts(given):
            pass  # It checks the depth.
        made: dict[str, Any] = msgspec.to_builtins(msgspec.convert(given, _Schema))
        return made
    except (TypeError, UnicodeError, RecursionError, msgspec.MsgspecError) as error:
        raise BadTool(Sentence("its input schema is wrong: {error}", error=error)) from None


def texts(schema: Any, depth: int = 0) -> Iterator[str]:
    """Every text in a schema that the model reads. Raises BadTool if it is too deep."""
    if depth > DEEPEST:
        raise BadTool(Sentence("its input schema is nested more than {limit} deep", limit=DEEPEST))
    if isinstance(schema, str):
        yield schema
    elif isinstance(schema, dict):
        yield from schema
    parts = schema.values() if isinstance(schema, dict) else schema
    if isinstance(schema, (dict, list)):
        for part in parts:
            yield from texts(part, depth + 1)


# -------------------------------------------------------------------------------------------------

MOST = 32
"""Most tools of one server in a conversation."""
MOST_BYTES = 24_000
"""Most bytes of descriptions and schemas of one server's tools: each request has them all."""
LONGEST_NAME = 128
LONGEST_DESCRIPTION = 1_000
"""Characters of a description in a request."""
LONGEST_MODEL_NAME = 60
"""Characters of the model's name for a tool. The Messages API allows 64; a number may follow."""
NO_ROOM = Sentence("no room: name the tools that you need as “tools” in the entry")
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]")


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
    """Already checked."""
    pinned: str
    """Digest of the server's entry, and of the tool's name, description and schema."""
    entry: str = ""
    """Digest of the server's entry."""


class OutsideAnswer(msgspec.Struct, frozen=True):
    """What a call returned. ``images``: as outputs of a cell."""

    text: str
    images: tuple[Output, ...] = ()
    is_error: bool = False


class RawTool(NamedTuple):
    """A tool as its server describes it, unchecked."""

    name: str
    description: str
    schema: Any


class Listed(msgspec.Struct, frozen=True):
    """A tool on a list for people. ``why``: why the agent is not offered it; "" if it is."""

    name: str
    description: str
    why: Sentence = msgspec.field(default_factory=Sentence)


def chosen(
    entry: ServerEntry, found: Iterable[RawTool]
) -> tuple[list[OutsideTool], tuple[Listed, ...]]:
    """The tools for a conversation, and the list for people."""
    tools: list[OutsideTool] = []
    listed: list[Listed] = []
    size = 0
    for raw in found:
        if entry.tools and raw.name not in entry.tools:
            continue
        why = Sentence()
        try:
            tool = _tool(entry, raw)
            weight = len(msgspec.json.encode(tool.schema))
            weight += len(tool.description[:LONGEST_DESCRIPTION].encode("utf-8", "replace"))
            if any(known.tool == raw.name for known in tools):
                raise BadTool(Sentence("the server lists this name twice"))
            if len(tools) == MOST or size + weight > MOST_BYTES:
                raise BadTool(NO_ROOM)
            tools.append(tool)
            size += weight
        except BadTool as error:
            why = error.why
        listed.append(Listed(raw.name[:LONGEST_NAME], raw.description[:200], why))
    return tools, tuple(listed)


def _tool(entry: ServerEntry, raw: RawTool) -> OutsideTool:
    """Raises BadTool."""
    if not 0 < len(raw.name) <= LONGEST_NAME:
        raise BadTool(Sentence("its name must have 1 to {limit} characters", limit=LONGEST_NAME))
    schema = checked(raw.schema)
    whole = msgspec.json.encode([entry.digest, *raw], order="sorted")
    name = _OTHERS.sub("_", f"mcp__{entry.name}__{raw.name}")[:LONGEST_MODEL_NAME]
    pinned = hashlib.sha256(whole).hexdigest()
    return OutsideTool(entry.name, raw.name, name, raw.description, schema, pinned, entry.digest)
