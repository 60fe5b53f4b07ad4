"""Checks the JSON Schema of a tool's input, which comes from a server and is untrusted.

A model's API refuses a whole request for one bad schema, and its texts reach the model before any
result does. So only known keywords stay, texts are cut and made inert, and a schema with unsafe
names or values is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

MOST_BYTES = 8_000
"""Bytes of one schema as JSON."""
DEEPEST = 12
LONGEST_TEXT = 300
"""Characters of a description in a schema."""
_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""A property's name, as the Messages API allows."""
_REFERENCE = re.compile(r"#(?:/(?:\$defs|definitions)/[a-zA-Z0-9_.-]{1,64})?")
_TYPES = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))
_TEXTS = frozenset(("title", "description"))
_OF_NAMES = frozenset(("properties", "$defs", "definitions"))
_SCHEMAS = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))
_SCHEMA = frozenset(("items", "additionalProperties", "not"))
_NUMBERS = frozenset(
    (
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
        *("minProperties", "maxProperties"),
    )
)
_VALUES = frozenset(("enum", "const", "default"))
Inert = Callable[[str], str]
"""Removes keys from a text, and what looks like one of our delimiters."""


class BadSchema(ValueError):
    """Its text says what is wrong, for people."""


def checked(given: Any) -> dict[str, Any]:
    """The schema with known keywords only. Raises BadSchema."""
    if not isinstance(given, dict):
        raise BadSchema("its input schema is not an object")
    if given.get("type") != "object":
        raise BadSchema("its input schema does not describe an object")
    try:
        size = len(msgspec.json.encode(given))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        raise BadSchema("its input schema is not JSON") from None
    if size > MOST_BYTES:
        raise BadSchema(f"its input schema has {size:,} bytes, and {MOST_BYTES:,} are allowed")
    found: dict[str, Any] = _checked(given, 0)
    return found


def _checked(given: Any, depth: int) -> Any:
    if isinstance(given, bool):
        return given
    if not isinstance(given, dict):
        raise BadSchema("a part of its input schema is not a schema")
    if depth > DEEPEST:
        raise BadSchema(f"its input schema is nested more than {DEEPEST} deep")
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key in _OF_NAMES:
            found[key] = _named(value, depth)
        elif key in _SCHEMAS:
            if not isinstance(value, list) or not value:
                raise BadSchema(f"“{key}” in its input schema is not a list of schemas")
            found[key] = [_checked(one, depth + 1) for one in value]
        elif key in _SCHEMA:
            found[key] = _checked(value, depth + 1)
        elif key in _TEXTS and isinstance(value, str):
            found[key] = value
        elif key in _VALUES:
            found[key] = _value(key, value)
        elif key in _NUMBERS and isinstance(value, (int, float)):
            found[key] = value
        elif key == "type":
            found[key] = _type(value)
        elif key == "required":
            found[key] = _required(value)
        elif key == "$ref":
            if not (isinstance(value, str) and _REFERENCE.fullmatch(value)):
                raise BadSchema("its input schema refers to another document")
            found[key] = value
    return found


def _named(value: Any, depth: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadSchema("the properties of its input schema are not an object")
    for name in value:
        if not _NAME.fullmatch(name):
            raise BadSchema("its input schema names a property that models do not accept")
    return {name: _checked(one, depth + 1) for name, one in value.items()}


def _type(value: Any) -> Any:
    kinds = value if isinstance(value, list) and value else [value]
    if not all(isinstance(kind, str) and kind in _TYPES for kind in kinds):
        raise BadSchema("its input schema has an unknown type")
    return value


def _required(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadSchema("“required” in its input schema is not a list of names")
    return value


def _value(key: str, value: Any) -> Any:
    if key == "enum" and not (isinstance(value, list) and value):
        raise BadSchema("“enum” in its input schema is not a list of values")
    return value


def texts(schema: Any) -> Iterator[str]:
    """Every text in a checked schema that the model reads."""
    if isinstance(schema, dict):
        for name, part in schema.items():
            yield name
            yield from texts(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from texts(part)
    elif isinstance(schema, str):
        yield schema


def for_model(schema: dict[str, Any], inert: Inert) -> dict[str, Any]:
    """A checked schema with inert texts. Raises BadSchema if a name or a value would change."""

    def walk(part: Any) -> Any:
        """A schema, or a list of them."""
        if isinstance(part, list):
            return [walk(one) for one in part]
        if not isinstance(part, dict):
            return same(part)
        made: dict[str, Any] = {}
        for key, value in part.items():
            if key in _TEXTS and isinstance(value, str):
                made[key] = inert(value[:LONGEST_TEXT])
            elif key in _OF_NAMES and isinstance(value, dict):
                made[key] = {same(name): walk(one) for name, one in value.items()}
            else:
                made[key] = same(value) if key in _VALUES else walk(value)
        return made

    def same(value: Any) -> Any:
        """The value or name itself, if it is inert."""
        if any(inert(text) != text for text in texts(value)):
            raise BadSchema("its input schema contains a key or one of our delimiters")
        return value

    found: dict[str, Any] = walk(schema)
    return found


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
