"""Extends a server with our features and with other packages' tools, hooks and providers.

Both load on first use. Other packages come from entry points, and may import heavy packages. They
are trusted code: they run in the server's process, as its user. A server can limit them to some
packages (``allowed_packages``).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from .wiring import offering

if TYPE_CHECKING:
    from tornado.web import RequestHandler

    from .agent.tools.shared.base import ToolRegistry
    from .run.turn.hooks import Hook
    from .run.turn.workplace import MoreTools
    from .view.untrusted import Untrusted
    from .wire.commands import Permissions
    from .wire.ports import Model
    from .wire.providers import Providers

    ToolSource = Callable[[Untrusted], Awaitable[MoreTools]]


class Route(NamedTuple):
    """A REST route. ``work`` gets the handler and the values of the groups in ``path``. It returns
    the answer; None: no content. ``needs_window``: whether it needs a window's or client's
    secret."""

    method: str
    path: str
    needs: Permissions
    work: Callable[..., Awaitable[Any]]
    status: int = 200
    needs_window: bool = True


if TYPE_CHECKING:
    Routes = Sequence[Union[Route, tuple[str, type[RequestHandler]]]]
    """A route, or a path with a handler that takes no login."""

# -------------------------------------------------------------------------------------------------
# Our features.


class Features:
    """What features have added with their function ``register``."""

    def __init__(self) -> None:
        self.models: dict[str, Callable[[str], Model]] = {}
        """Factories of models, by a prefix of the model's name. Such a model brings its own tools,
        so its conversations get none of ``tools``."""
        self.tools: list[ToolSource] = []
        """Tools for a conversation, by what makes texts inert."""
        self.routes: list[Callable[[], Routes]] = []
        """Called with the first request; may add ``handler_settings``. Paths are relative to
        ``/codeinterp/api/``."""
        self.handler_settings: dict[str, Any] = {}
        """Settings of the web application, for handlers."""
        self.closing: list[Any] = []
        """Parts to close before all others."""

    def model_source(self, name: str) -> Callable[[str], Model] | None:
        """The factory for the model of this name; None if no feature has one."""
        found = (source for start, source in self.models.items() if name.startswith(start))
        return next(found, None)


# -------------------------------------------------------------------------------------------------
# Other packages.

TOOLS = "jupyter_codeinterp.tools"
"""Each entry point of this group names a ``jupyter_codeinterp.api.Tool``."""
HOOKS = "jupyter_codeinterp.hooks"
"""Each names a ``jupyter_codeinterp.api.Hook``."""
PROVIDERS = "jupyter_codeinterp.providers"
"""Each names a ``jupyter_codeinterp.api.Provider`` and has the provider's name."""
KINDS = {TOOLS: "tool", HOOKS: "hook", PROVIDERS: "provider"}
NOT_ALLOWED = "the admin does not allow its package"
LONGEST = 200
"""Characters of an error's text."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Added:
    """An addition of a package. ``fault``: why it was left out; "" if it was not."""

    kind: str
    name: str
    package: str
    value: Any = None
    fault: str = ""

    def __str__(self) -> str:
        return f"the {self.kind} “{self.name}” of {self.package or 'an unknown package'}"


class Extensions:
    def __init__(self, allowed: Sequence[str] | None = None) -> None:
        """``allowed``: names of the packages whose extensions load; None for all."""
        self._allowed = None if allowed is None else {_normal(name) for name in allowed}
        self.added: list[Added] = []
        """Additions of other packages; each kind is loaded on first use."""

    def load(self) -> None:
        """Load all tools and hooks."""
        _ = self.tools, self.hooks

    @cached_property
    def tools(self) -> ToolRegistry:
        """The agent's own tools, and those of other packages."""
        from .agent.tools.registry import built_in_tools  # see ``preload``

        registry = built_in_tools()
        self.added += self._add(TOOLS, registry.add)
        return registry

    @cached_property
    def hooks(self) -> tuple[Hook, ...]:
        """The hooks of the features, then those of other packages."""
        from .run.turn.hooks import validate

        hooks = [hook for hooks in offering("hooks") for hook in hooks()]
        self.added += self._add(HOOKS, lambda hook: hooks.append(validate(hook)))
        return tuple(hooks)

    def add_providers(self, providers: Providers) -> list[Added]:
        return self._add(PROVIDERS, providers.add, providers.miss)

    def _add(
        self,
        group: str,
        add: Callable[[Any], None],
        miss: Callable[[str], None] = lambda name: None,
    ) -> list[Added]:
        """Add each entry point of the group; log and skip those that fail."""
        return [self._added(group, point, add, miss) for point in entry_points(group=group)]

    def _added(
        self, group: str, point: EntryPoint, add: Callable[[Any], None], miss: Callable[[str], None]
    ) -> Added:
        package = point.dist.name if point.dist is not None else ""
        kind, value, fault = KINDS[group], None, ""
        if self._allowed is not None and _normal(package) not in self._allowed:
            fault = NOT_ALLOWED
            log.warning("Skipping the %s %s of %s: %s", kind, point.name, package, fault)
        else:
            try:
                value = point.load()
                add(value)
            except (Exception, SystemExit) as error:
                # Other packages' code may raise anything.
                log.exception("Skipping %s (%s, in %s)", point.name, point.value, group)
                fault = f"{type(error).__name__}: {error}"[:LONGEST]
        if fault:
            miss(point.name)
        return Added(kind, point.name, package, value, fault)


def _normal(package: str) -> str:
    """A package's name as an index compares it."""
    return re.sub(r"[-_.]+", "-", package).lower()
