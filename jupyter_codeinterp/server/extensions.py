"""What other packages add, by entry points of theirs. Loaded when it is first needed, not at the
server's start: what they import may be heavy."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core.hooks.hooks import Hooks
    from ..core.providers import Providers
    from ..core.tools.registry import ToolRegistry

TOOLS = "jupyter_codeinterp.tools"
"""The group. Each entry point names a ``jupyter_codeinterp.api.Tool``."""
HOOKS = "jupyter_codeinterp.hooks"
"""Each names a ``jupyter_codeinterp.api.Hook``."""
PROVIDERS = "jupyter_codeinterp.providers"
"""Each names a ``jupyter_codeinterp.api.Provider`` and is called as it is."""

log = logging.getLogger(__name__)


def installed() -> bool:
    """Whether there is anything to be loaded. Takes some milliseconds."""
    found = entry_points()
    return any(found.select(group=group) for group in (TOOLS, HOOKS, PROVIDERS))


def tools() -> ToolRegistry:
    """Our own and those of others."""
    from ..core.tools.registry import ToolRegistry  # see ``early``

    registry = ToolRegistry()
    _add(TOOLS, registry.add)
    return registry


def hooks() -> Hooks:
    """Our own and those of others."""
    from ..core.hooks.hooks import Hooks

    found = Hooks()
    _add(HOOKS, found.add)
    return found


def add_providers(providers: Providers) -> None:
    """Those of others."""
    _add(PROVIDERS, providers.add, providers.miss)


def _add(
    group: str, add: Callable[[Any], None], miss: Callable[[str], None] = lambda name: None
) -> None:
    """What cannot be taken is logged and left out."""
    for point in entry_points(group=group):
        try:
            add(point.load())
        except (Exception, SystemExit):
            # Code of others, which may raise anything; the rest works without it.
            log.exception("%s (%s, in %s) is left out", point.name, point.value, group)
            miss(point.name)
