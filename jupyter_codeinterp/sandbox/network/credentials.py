"""Credentials that the proxy adds to requests for one host, so that the sandbox never holds them.

A program asks for ``http://HOST:PORT/…``. The proxy asks the host by TLS and adds a header.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import rules
from .heads import OF_THIS_CONNECTION

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}\Z")
_KEYS = {"header", "env", "prefix"}


class Header(NamedTuple):
    """``value`` is secret."""

    name: str
    value: str

    def __repr__(self) -> str:
        return f"Header({self.name})"


def variables(wanted: Mapping[str, Any]) -> set[str]:
    """The names of the variables that hold credentials."""
    return {str(one["env"]) for one in wanted.values() if isinstance(one, dict) and "env" in one}


def headers(
    wanted: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> dict[rules.Target, Header]:
    """Headers by host. ``wanted``: the setting, with ``header``, ``env`` and an optional ``prefix``
    of the value for each ``host:port``. Raises ValueError without any value in it."""
    return {
        rules.configured(place): _header(place, one, environment) for place, one in wanted.items()
    }


def _header(place: str, one: Any, environment: Mapping[str, str]) -> Header:
    if not isinstance(one, dict) or not {"header", "env"} <= one.keys() <= _KEYS:
        raise ValueError(
            f"SandboxProvisioner.credentials: {place!r} needs a header and the name of a variable, "
            'as in {"header": "Authorization", "prefix": "Bearer ", "env": "NAME"}.'
        )
    secret = environment.get(str(one["env"]), "")
    if not secret:
        raise ValueError(
            f"SandboxProvisioner.credentials: the server has no variable {one['env']}, for {place}."
        )
    value = f"{one.get('prefix', '')}{secret}"
    name = str(one["header"])
    if not _NAME.match(name) or name.lower() in OF_THIS_CONNECTION or not _is_value(value):
        raise ValueError(
            f"SandboxProvisioner.credentials: the header for {place} is one that the proxy sets "
            "itself, or has characters that HTTP does not allow."
        )
    return Header(name, value)


def _is_value(text: str) -> bool:
    return text.isascii() and text.isprintable() and text == text.strip()
