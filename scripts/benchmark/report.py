"""The table, with what made it, for people and for docs/performance.md."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from scripts.documents import cores, made_by, renew

from .figures import Figure, as_table

DOCUMENT = Path("docs/performance.md")
COMMAND = "scripts/bench"
PACKAGES = ("jupyterlab", "jupyter_server", "ipykernel", "anthropic")


def markdown(figures: Sequence[Figure]) -> str:
    load = f"{cores()} (load {os.getloadavg()[0]:.1f} at the end)"
    return "\n\n".join([made_by(COMMAND, [load], PACKAGES), as_table(figures)])


def write(figures: Sequence[Figure]) -> None:
    renew(DOCUMENT, COMMAND, markdown(figures))
