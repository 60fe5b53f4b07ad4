"""What one running kernel has written: the list, what a person keeps of it, and what is undone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from . import trees
from .changes import Change, changes
from .keeping import Kept, keep
from .layer import Layer

log = logging.getLogger(__name__)


class Written:
    """Its methods read files: call them in a thread. ``root`` gives the running sandbox's file
    system, or None."""

    def __init__(self, layer: Layer, root: Callable[[], Path | None]) -> None:
        self.layer = layer
        self._root = root

    def changes(self) -> list[Change]:
        """Raises TooMany, and OSError if the notebook's folder is gone."""
        return changes(self.layer)

    def keep(self, stamps: Mapping[str, str]) -> Kept:
        """As ``keeping.keep``."""
        return keep(self.layer, stamps)

    def leave(self) -> None:
        """The kernel has ended: remove the layer if nothing waits in it."""
        try:
            if not self.changes():
                self.layer.remove()
        except (OSError, trees.TooMany) as error:
            log.warning("Files of a sandboxed kernel wait in %s: %s", self.layer.path, error)
        self.layer.unlock()
