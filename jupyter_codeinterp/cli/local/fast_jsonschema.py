"""Imports ``jsonschema`` without ``rfc3987_syntax``, which saves each command a second.

With that package, which jupyter_server installs, ``jsonschema`` builds a grammar of international
addresses at import. That takes longer than all other imports together, and no notebook schema
needs it.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

NAME = "rfc3987_syntax"


def import_jsonschema() -> None:
    modules: dict[str, Any] = sys.modules
    if NAME in modules or "jsonschema" in modules:
        return
    modules[NAME] = None  # as if it were not installed
    try:
        with suppress(ImportError):
            import jsonschema  # noqa: F401
    finally:
        del modules[NAME]
