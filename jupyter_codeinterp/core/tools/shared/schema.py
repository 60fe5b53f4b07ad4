"""The JSON schema of a tool's input, made from the type of its arguments."""

from __future__ import annotations

from typing import Any

import msgspec

_DROPPED = ("title", "default", "$defs", "exclusiveMinimum", "maximum")


def schema_of(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """Without references, and without what a reader of the descriptions does not need: titles,
    nulls, bounds and defaults. The properties keep the order of the fields."""
    whole = msgspec.json.schema(arguments)
    plain: dict[str, Any] = _plain(whole, whole["$defs"])
    return plain


def _plain(given: Any, types: dict[str, Any]) -> Any:
    if not isinstance(given, dict):
        return given
    if "$ref" in given:
        named = types[given["$ref"].rpartition("/")[2]]
        # A docstring is for readers of the code.
        given = {**{k: v for k, v in named.items() if k != "description"}, **given}
        del given["$ref"]
    if "anyOf" in given:
        forms = [one for one in given["anyOf"] if one != {"type": "null"}]
        rest = {k: v for k, v in given.items() if k != "anyOf"}
        given = {**rest, **forms[0]} if len(forms) == 1 else {**rest, "anyOf": forms}
        if len(forms) == 1:
            return _plain(given, types)
    made: dict[str, Any] = {}
    for key, value in given.items():
        if key in _DROPPED or (key, value) == ("required", []):
            continue
        if key == "properties":
            made[key] = {name: _plain(one, types) for name, one in value.items()}
        elif key == "anyOf":
            made[key] = [_plain(one, types) for one in value]
        else:
            made[key] = _plain(value, types)
    return made
