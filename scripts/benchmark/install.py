"""Measures what the package adds to an environment with JupyterLab."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import jupyter_codeinterp

from .figures import Bound, Figure

OURS = "jupyter-codeinterp"


def measure() -> list[Figure]:
    """Bytes of the package and of all packages that it needs and JupyterLab does not, without
    extras. Its own files are those of the folder, because it may be installed as a link. Compiled
    files are left out, because they depend on earlier runs."""
    added = {
        name: found for name, found in _needed(OURS).items() if name not in _needed("jupyterlab")
    }
    added.pop(OURS)
    folder = Path(jupyter_codeinterp.__file__).parent
    sizes = [_bytes(folder.rglob("*"))]
    for found in added.values():
        sizes.append(_bytes(Path(str(file.locate())) for file in found.files or ()))
    return [
        Figure("installing it adds to JupyterLab", [sum(sizes) / 1e6], "MB", (Bound(50),)),
    ]


def _bytes(paths: Iterable[Path]) -> int:
    kept = (path for path in paths if path.suffix != ".pyc" and path.is_file())
    return sum(path.stat().st_size for path in kept)


def _needed(name: str) -> dict[str, Distribution]:
    """The package and its requirements, by canonical name."""
    found: dict[str, Distribution] = {}
    left = [name]
    while left:
        name = canonicalize_name(left.pop())
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # a requirement for another system or Python
        for line in found[name].requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                left.append(requirement.name)
    return found
