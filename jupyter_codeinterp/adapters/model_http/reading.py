"""Reads values of events of any shape."""

from __future__ import annotations

from typing import Any


def mapping(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def string(value: Any, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def objects(value: Any, name: str) -> list[dict[str, Any]]:
    """The list's items that are objects."""
    found = value.get(name) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
