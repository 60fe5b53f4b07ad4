"""The size of the front end as it is shipped."""

from __future__ import annotations

import re
from pathlib import Path

import jupyter_codeinterp

from .figures import Bound, Figure

LABEXTENSION = Path(jupyter_codeinterp.__file__).parent / "labextension"


EXPOSED = re.compile(r'"\./(?:index|style)":\(\)=>(.+?)\.then')
"""Matches the chunks of the plugins and of the style in the entry. The others are loaded on use."""


def measure() -> list[Figure]:
    """Raw bytes of the chunks of the last build."""
    size = {path.name.split(".")[0]: path.stat().st_size for path in LABEXTENSION.rglob("*.js")}
    [entry] = LABEXTENSION.rglob("remoteEntry.*.js")
    exposed = EXPOSED.findall(entry.read_text())
    if len(exposed) != 2:
        raise RuntimeError(f"{entry.name} does not say what it is made of")
    # A chunk without a file is a module that JupyterLab provides.
    named = set(re.findall(r"\.e\((\d+)\)", "".join(exposed))) & size.keys()
    start = size["remoteEntry"] + sum(size[chunk] for chunk in named)
    maps = len(list(LABEXTENSION.rglob("*.map")))
    return [
        Figure("JavaScript at a page's start", [start / 1000], "kB", (Bound(200),)),
        Figure("source maps", [maps], "", (Bound(0),)),
    ]
