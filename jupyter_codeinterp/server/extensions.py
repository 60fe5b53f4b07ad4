"""What other packages add, by entry points of theirs."""

from __future__ import annotations

import logging
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.tools.registry import ToolRegistry

TOOLS = "jupyter_codeinterp.tools"
"""The group. Each entry point names a ``jupyter_codeinterp.api.Tool``."""

log = logging.getLogger(__name__)


def tools() -> ToolRegistry:
    """Our own and those of others; what cannot be taken is logged and left out."""
    from ..core.tools.registry import ToolRegistry  # see ``early``

    registry = ToolRegistry()
    for point in entry_points(group=TOOLS):
        try:
            registry.add(point.load())
        except Exception:
            # Code of others, which may raise anything; the rest works without it.
            log.exception("The tool %s (%s) is left out", point.name, point.value)
    return registry
