"""Checks the JSON Schema of a tool's input, which comes from a server and is untrusted.

A model's API refuses a whole request for one bad schema, and its texts reach the model before any
result does. So only known keywords stay, texts are cut and made inert, and a schema with unsafe
names or values is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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
Inert = Callable[[str], str]
"""Removes keys from a text, and what looks like one of our delimiters."""


def _is_type(value: Any) -> bool:
    kinds = value if isinstance(value, list) and value else [value]
    return all(isinstance(kind, str) and kind in _TYPES for kind in kinds)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and _REFERENCE.fullmatch(value) is not None


_TEXTS = frozenset(("title", "description"))
_NAMED = frozenset(("properties", "$defs", "definitions"))
_LISTS = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))
_SCHEMAS = frozenset(("items", "additionalProperties", "not"))
_NUMBERS = frozenset(
    (
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
        *("minProperties", "maxProperties"),
    )
)
_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "type": (_is_type, "its input schema has an unknown type"),
    "required": (_are_texts, "“required” in its input schema is not a list of names"),
    "$ref": (_is_reference, "its input schema refers to another document"),
    "enum": (
        lambda value: isinstance(value, list) and bool(value),
        "“enum” in its input schema is not a list of values",
    ),
    "const": (lambda value: True, ""),
    "default": (lambda value: True, ""),
}
"""Keywords with a value: whether it fits, and the fault if not."""


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
    return _object(given, 0, None)


def for_model(schema: dict[str, Any], inert: Inert) -> dict[str, Any]:
    """A checked schema with inert texts. Raises BadSchema if a name or a value would change."""
    return _object(schema, 0, inert)


def _schema(given: Any, depth: int, inert: Inert | None) -> Any:
    if isinstance(given, bool):
        return given
    if not isinstance(given, dict):
        raise BadSchema("a part of its input schema is not a schema")
    if depth > DEEPEST:
        raise BadSchema(f"its input schema is nested more than {DEEPEST} deep")
    return _object(given, depth, inert)


def _object(given: dict[str, Any], depth: int, inert: Inert | None) -> dict[str, Any]:
    """The known keywords. ``inert``: None leaves texts as they are."""
    made: dict[str, Any] = {}
    for key, value in given.items():
        if key in _NAMED:
            if not isinstance(value, dict):
                raise BadSchema("the properties of its input schema are not an object")
            if not all(map(_NAME.fullmatch, value)):
                raise BadSchema("its input schema names a property that models do not accept")
            parts = {name: _schema(part, depth + 1, inert) for name, part in value.items()}
            made[key] = {_same(name, inert): part for name, part in parts.items()}
        elif key in _LISTS:
            if not isinstance(value, list) or not value:
                raise BadSchema(f"“{key}” in its input schema is not a list of schemas")
            made[key] = [_schema(part, depth + 1, inert) for part in value]
        elif key in _SCHEMAS:
            made[key] = _schema(value, depth + 1, inert)
        elif key in _TEXTS and isinstance(value, str):
            made[key] = inert(value[:LONGEST_TEXT]) if inert else value
        elif key in _NUMBERS and isinstance(value, (int, float)):
            made[key] = value
        elif key in _VALUES:
            fits, fault = _VALUES[key]
            if not fits(value):
                raise BadSchema(fault)
            made[key] = _same(value, inert)
    return made


def _same(value: Any, inert: Inert | None) -> Any:
    """The value or name itself, if it is inert."""
    if inert and any(inert(text) != text for text in texts(value)):
        raise BadSchema("its input schema contains a key or one of our delimiters")
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
