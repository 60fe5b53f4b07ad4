"""The table, with what made it, for people and for docs/performance.md."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from .figures import Figure, as_table

DOCUMENT = Path("docs/performance.md")
BEGIN, END = "<!-- begin: scripts/bench --write -->", "<!-- end -->"
PACKAGES = ("jupyterlab", "jupyter_server", "ipykernel", "anthropic")


def markdown(figures: Sequence[Figure]) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    load = os.getloadavg()[0]
    return "\n".join(
        [
            f"`scripts/bench`, {date.today():%d %B %Y}: {os.cpu_count()} cores "
            f"(load {load:.1f} at the end), {platform.system()} {platform.machine()}, "
            f"Python {platform.python_version()}, {versions}.",
            "",
            as_table(figures),
        ]
    )


def write(figures: Sequence[Figure]) -> None:
    """Replace what stands between the two marks."""
    text = DOCUMENT.read_text(encoding="utf-8")
    block = f"{BEGIN}\n\n{markdown(figures)}\n\n{END}"
    marked = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    DOCUMENT.write_text(marked.sub(lambda _: block, text), encoding="utf-8")
