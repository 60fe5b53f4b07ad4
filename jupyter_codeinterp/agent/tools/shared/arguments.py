"""Reads the input of a tool call, and accepts common variants.

Common property names of other tools are accepted (``OTHER_NAMES``), numbers and lists may be
written as text, and null means absent. Other unknown properties are refused, with the right names.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ....run.expected import Contract

OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "source": ("code", "cell_source", "new_source", "cell_content", "content", "text", "markdown"),
    "cell_id": ("id", "cell", "cell_index", "cell_number", "index"),
    "cell_ids": ("cell_id", "ids", "cells", "id", "cell_index", "cell_indices", "index"),
    "position": ("cell_index", "index", "at", "insert_at", "place"),
    "timeout_s": ("timeout", "timeout_seconds"),
    "title": ("description", "name"),
    "outputs": ("include_outputs", "with_outputs"),
    "names": ("name", "variables", "variable"),
    "start_char": ("start", "offset"),
    "max_chars": ("length", "limit"),
    "old": ("old_string", "old_text", "old_source"),
    "new": ("new_string", "new_text", "new_source"),
    "edits": ("changes", "replacements"),
    "stop_on_error": ("stop_at_error",),
}
"""Names that other tools use, by our property name."""
_PLACES = {"after_cell_id": "after", "after": "after", "before_cell_id": "before"}
"""Other ways to write a ``position`` relative to a cell."""

_HARMLESS = ("title", "description")
"""Properties that are dropped silently if a tool does not have them."""


class Read(NamedTuple):
    """``notes`` tell the model which parts were ignored."""

    arguments: msgspec.Struct
    notes: tuple[str, ...] = ()


def read(name: str, given: Mapping[str, Any], kind: type[msgspec.Struct]) -> Read:
    """Convert the input to ``kind``. Raises ValueError with words for the model."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    known = _named(name, given, tuple(fields))
    notes: tuple[str, ...] = ()
    if isinstance(known.get("edits"), Mapping):
        known["edits"] = [known["edits"]]
    for key, value in known.items():
        if key in ("cell_id", "position") and _is_number(value):
            known[key] = str(value)
        elif isinstance(value, str) and _takes_names(fields[key].type):
            known[key] = _names(value)
        elif key == "cell_ids" and isinstance(value, (list, tuple)):
            known[key] = [str(one) if _is_number(one) else one for one in value]
        elif key == "cell_ids" and _is_number(value):
            known[key] = [str(value)]
    if "edits" in known and isinstance(known["edits"], list):
        known["edits"] = [_edit(name, one) for one in known["edits"]]
    if "expects" in known:
        known["expects"], notes = _contract(known["expects"])
    try:
        return Read(msgspec.convert(known, kind, strict=False), notes)
    except msgspec.ValidationError as error:
        raise ValueError(f"Wrong input for {name}: {error}.") from None


def so_far(partial: Mapping[str, Any], field: str) -> str | None:
    """A text field of an unfinished call, under any of its names; None until it arrives."""
    given = {key: value for key, value in partial.items() if key in _names_of(field)}
    value = _named("", given, (field,)).get(field)
    return str(value) if isinstance(value, str) or _is_number(value) else None


def _names_of(field: str) -> tuple[str, ...]:
    places = tuple(_PLACES) if field == "position" else ()
    return (field, *OTHER_NAMES.get(field, ()), *places)


def _named(tool: str, given: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """The properties by our names, without nulls. Raises ValueError for unknown ones."""
    known = {key: value for key, value in given.items() if key in fields and value is not None}
    for key, value in given.items():
        if key in fields or value is None:
            continue
        if key in _PLACES and "position" in fields:
            known.setdefault("position", f"{_PLACES[key]}:{value}")
            continue
        ours = next((one for one in fields if key in OTHER_NAMES.get(one, ())), None)
        if ours is None and key in _HARMLESS:
            continue
        if ours is None:
            raise ValueError(_unknown(tool, key, fields))
        known.setdefault(ours, value)
    return known


def _unknown(tool: str, key: str, fields: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(key[:100], fields, 1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    listed = f"Its properties: {', '.join(fields)}." if fields else "It has no properties."
    return f"{tool} has no property {key[:100]!r}.{meant} {listed}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _takes_names(kind: Any) -> bool:
    return "tuple[" in str(kind) or "list[" in str(kind)


def _names(text: str) -> Any:
    """A list that was written as text, else the text as the only name."""
    if text.lstrip().startswith(("[", "{")):
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            return msgspec.json.decode(text)
    return [text]


def _edit(tool: str, given: Any) -> Any:
    return _named(f"An edit of {tool}", given, ("old", "new")) if isinstance(given, dict) else given


def _contract(given: Any) -> tuple[Contract | None, tuple[str, ...]]:
    """The valid parts of ``expects``, and a note on each ignored part."""
    if isinstance(given, str):
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, RecursionError):
            given = {"name": given}
    if not isinstance(given, Mapping):
        return None, ("expects was ignored: it must be an object.",)
    known: dict[str, Any] = {}
    notes: list[str] = []
    for key, value in given.items():
        try:
            if key not in Contract.__struct_fields__:
                raise ValueError(_unknown("expects", str(key), Contract.__struct_fields__))
            if isinstance(value, str) and key == "columns":
                value = _names(value)
            msgspec.convert({key: value}, Contract, strict=False)
            known[key] = value
        except (ValueError, msgspec.ValidationError) as error:
            notes.append(f"expects.{str(key)[:100]} was ignored: {error}")
    return msgspec.convert(known, Contract, strict=False), tuple(notes[:3])
