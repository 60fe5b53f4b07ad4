"""A kernel that shall start in a sandbox, whatever its wall is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..overlay.layer import Layer
from ..shared.folders import Folders
from ..shared.limits import Limits
from ..shared.place import Place


class Kernel(NamedTuple):
    """``arguments``: of the interpreter, with ``file``, the connection file's path outside, in one
    of them; ``connection``: its content; ``scratch``: bytes of each temporary file system;
    ``layer``: what it writes into instead of the notebook's folder; ``packages``: folders that it
    imports from before its environment."""

    python: str
    arguments: Sequence[str]
    file: str
    connection: Mapping[str, Any]
    environment: Mapping[str, str]
    folders: Folders
    place: Place
    scratch: int
    limits: Limits
    layer: Layer | None = None
    packages: Sequence[Path] = ()

    def command(self, file: str) -> list[str]:
        """``file``: the connection file's path in the sandbox."""
        return [self.python, *(one.replace(self.file, file) for one in self.arguments)]

    def told(self, sockets: str) -> bytes:
        """The connection file. ``sockets``: the path of its sockets in the sandbox, but for the
        number."""
        key = self.connection["key"]
        text = key.decode() if isinstance(key, bytes) else key
        return json.dumps({**self.connection, "ip": sockets, "key": text}).encode()
