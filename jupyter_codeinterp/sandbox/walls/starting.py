"""A kernel that shall start in a sandbox, whatever its wall is."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..overlay.layer import Layer
from ..shared.folders import Folders
from ..shared.limits import Limits
from ..shared.place import Place

_STARTUP = "get_ipython().system = get_ipython().system_raw\n"
"""IPython runs ``!command`` in a terminal of its own, which only bubblewrap gives it."""


class OnDisk(NamedTuple):
    """``file``: the connection's."""

    home: Path
    temporary: Path
    file: Path


class Kernel(NamedTuple):
    """``arguments``: of the interpreter, with ``file``, the connection file's path outside, in one
    of them; ``connection``: its content; ``scratch``: bytes of each temporary file system;
    ``layer``: what it writes into instead of the notebook's folder."""

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

    def command(self, file: str) -> list[str]:
        """``file``: the connection file's path in the sandbox."""
        return [self.python, *(one.replace(self.file, file) for one in self.arguments)]

    def told(self, sockets: str) -> bytes:
        """The connection file. ``sockets``: the path of its sockets in the sandbox, but for the
        number."""
        key = self.connection["key"]
        text = key.decode() if isinstance(key, bytes) else key
        return json.dumps({**self.connection, "ip": sockets, "key": text}).encode()

    def on_disk(self) -> OnDisk:
        """Make its HOME, its temporary folder and its connection file, where no file system can be
        mounted for it."""
        own = OnDisk(*(self.place.path / name for name in ("home", "tmp", "connection.json")))
        startup = own.home / ".ipython" / "profile_default" / "startup"
        startup.mkdir(parents=True)
        (startup / "commands.py").write_text(_STARTUP, "utf-8")
        own.temporary.mkdir()
        own.file.touch(0o600)
        own.file.write_bytes(self.told(f"{os.path.realpath(self.place.inner)}/s"))
        return own
