"""A second less for each command.

``jsonschema``, which notebooks are checked with, builds a grammar of international addresses as
it is imported, if it finds ``rfc3987_syntax`` (which jupyter_server brings). That takes longer than
all other imports together; no schema that is used here speaks of such addresses.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

NAME = "rfc3987_syntax"


def leave_out() -> None:
    """Import ``jsonschema`` without it, which is as if it were not installed."""
    modules: dict[str, Any] = sys.modules
    if NAME in modules or "jsonschema" in modules:
        return
    modules[NAME] = None
    try:
        with suppress(ImportError):
            import jsonschema  # noqa: F401
    finally:
        del modules[NAME]
