"""The names and versions of the packages in a folder, read as text. They may be untrue."""

from __future__ import annotations

from contextlib import suppress
from itertools import takewhile
from typing import NamedTuple

from ..overlay import trees

INFO = ".dist-info"
MOST = 500
"""Packages of a folder that are named."""
LONGEST = 100
"""Characters of a name or version."""
HEAD = 8_000
"""Bytes of a METADATA file; both stand at its beginning."""


class Package(NamedTuple):
    """Untrusted: show it with ``visible_line``."""

    name: str
    version: str

    @property
    def key(self) -> str:
        """The same for all ways to write the name."""
        return self.name.casefold().replace("_", "-").replace(".", "-")


def of(folder: int) -> list[Package]:
    """Of an open folder of packages, sorted. Raises OSError."""
    infos = [name for name in trees.names(folder) if name.endswith(INFO)][:MOST]
    return sorted(filter(None, (_read(folder, name) for name in infos)), key=lambda one: one.key)


def _read(folder: int, name: str) -> Package | None:
    with suppress(OSError, trees.Changed, ValueError):
        with trees.file(folder, f"{name}/METADATA") as (number, _):
            text = trees.head(number, HEAD).decode("utf-8", "replace")
        fields: dict[str, str] = {}
        for line in takewhile(str.strip, text.splitlines()):
            key, _, value = line.partition(":")
            fields.setdefault(key.casefold(), value.strip()[:LONGEST])
        if fields.get("name"):
            return Package(fields["name"], fields.get("version", ""))
    return None
