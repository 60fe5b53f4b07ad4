"""The running sandboxed kernels of this user that may install packages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ..overlay import trees
from ..shared.place import Place, places, start_of

ABOUT = "packages.json"
FOLDER = "lib/{tag}/site-packages"


class Running(NamedTuple):
    """``spec``: the kernelspec's name; ``notebook``: its folder; ``packages``: where the kernel
    installs them, in the sandbox; ``tag``: like ``python3.11``; ``init`` and ``start``: the
    process whose root folder it is, and when that began."""

    name: str
    spec: str
    notebook: str
    packages: str
    tag: str
    init: int
    start: str

    @contextmanager
    def opened(self) -> Iterator[int]:
        """The folder of its packages. Raises OSError, also if it has installed none or ended."""
        root = os.open(f"/proc/{self.init}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if start_of(self.init) != self.start:
                raise ProcessLookupError("The kernel has ended")
            path = f"{self.packages.strip('/')}/{FOLDER.format(tag=self.tag)}"
            with trees.parent(root, path) as (folder, name), trees.opened(name, folder) as number:
                yield number
        finally:
            os.close(root)


def tell(place: Place, spec: str, notebook: str, packages: str, tag: str, init: int) -> None:
    """Note a kernel that has just started, for other programs of this user. Raises OSError."""
    about = Running(place.path.name, spec, notebook, packages, tag, init, start_of(init))
    (place.path / ABOUT).write_text(json.dumps(about), encoding="utf-8")


def running() -> list[Running]:
    found = []
    for path in places():
        with suppress(OSError, ValueError, TypeError):
            one = Running(*json.loads((path / ABOUT).read_text(encoding="utf-8")))
            if one.tag and start_of(one.init) == one.start != "":
                found.append(one._replace(name=Path(path).name.rpartition("-")[2]))
    return sorted(found)
