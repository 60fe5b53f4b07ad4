"""Follows the notebook's folder below a layer, so that a turn looks only at what has changed there.

Linux tells of changes by inotify. Some it does not tell: those on another machine, and those by
mapped memory. Then the layer knows an older state, and keeps the person's version.
"""

from __future__ import annotations

from collections.abc import Callable

from ..seen.files import FolderWatch
from ..shared.protected import PROTECTED
from .layer import Layer

SECONDS = 1.0
"""For listing the folder. A look at the whole folder takes some four times as long, so a shorter
time would spare little, and make each turn in a large folder look at all of it."""


class Follower:
    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._watch: FolderWatch | None = None
        self._follows = False
        """Whether the watch tells of all changes since the last look."""
        self._covered: set[str] = set()
        """Paths that have changed while the layer covered them."""

    def look(self, refresh: Callable[[], None]) -> None:
        """As ``Layer.begin``. Raises LayerError, OSError, and what ``refresh`` raises."""
        changed = self._changed()
        watches, self._follows = self._follows, False
        if changed is None:
            self._covered = self._layer.begin(refresh)
        else:
            self._covered = self._layer.go_on(changed, refresh)
        # Else the next look is at the whole folder.
        self._follows = watches

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()

    def _changed(self) -> set[str] | None:
        """Since the last look; None if the whole folder must be looked at."""
        if self._watch is None:
            self._watch = FolderWatch(
                self._layer.folder,
                PROTECTED,
                entries=self._layer.entries,
                seconds=SECONDS,
            )
        touched = self._watch.touched()
        if self._follows and not touched.lost and not self._watch.is_stale:
            return {*touched.changed, *self._covered}
        self._follows = self._watch.begin()
        return None
