"""Addresses of model servers on this machine, so that no test asks one that really runs here."""

from __future__ import annotations

from jupyter_codeinterp.models.anthropic.services import ROWS

NOBODY = "http://127.0.0.1:9"


def elsewhere(**there: str) -> dict[str, str]:
    """Those given, with ``_`` for ``-``; the others where nobody is."""
    given = {name.replace("_", "-"): url for name, url in there.items()}
    return {row.name: NOBODY for row in ROWS if row.local} | given
