"""Names that other programs run, or take instructions from."""

from __future__ import annotations

import re

PROTECTED = (
    ".git", ".hg", ".ipynb_checkpoints", ".codeinterp", "AGENTS.md", ".vscode", ".idea", ".env",
    ".envrc", ".jupyter", "kernel.json", "sitecustomize.py", "usercustomize.py",
)  # fmt: skip
"""Read-only in a sandbox where they are there, and never copied out of an overlay."""
_FOLDED = frozenset(name.casefold() for name in PROTECTED)
_SETTINGS = re.compile(r"jupyter_(?:\w+_)?config\.(?:py|json)")
COPY = ".~"
"""How the names of Jupyter's own copies begin, while it saves."""


def is_protected(name: str) -> bool:
    # Also for file systems that ignore case.
    folded = name.casefold()
    return folded in _FOLDED or name.startswith(COPY) or bool(_SETTINGS.fullmatch(folded))
