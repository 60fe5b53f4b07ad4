"""Windows that are views of a room, in which the server works itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .protocols import FileWriter, Owner, Window, WindowState


class Sharing:
    def __init__(
        self,
        owner: Owner[Any] | None,
        windows: Callable[[], Mapping[Window, WindowState]],
        writer: Callable[[], FileWriter | None],
    ) -> None:
        """``windows`` have the notebook open; ``writer`` works in its room, or its file."""
        self._owner = owner
        self._windows = windows
        self._writer = writer

    def __bool__(self) -> bool:
        """Whether several people may have the notebook open, in a room of this server."""
        return any(map(self.is_view, self._windows().values()))

    def is_view(self, state: WindowState) -> bool:
        return state.collaborative and self._owner is not None and self._owner.has_rooms

    def by(self, window: Window) -> bool:
        """Whether the window is a view."""
        state = self._windows().get(window)
        return state is not None and self.is_view(state)

    def others(self, window: Window) -> list[Window]:
        """The views besides this one; none if it is no view itself."""
        if not self.by(window):
            return []
        return [one for one in self._windows() if one is not window and self.by(one)]

    @property
    def elsewhere(self) -> bool:
        """Whether a window is a view of a room that the server does not know."""
        return any(s.collaborative and not self.is_view(s) for s in self._windows().values())

    def rest(self) -> None:
        """No turn works in the notebook now."""
        if (writer := self._writer()) is not None:
            writer.rest()

    def look_for(self, cell_id: str) -> None:
        """A view misses this cell. It may be behind, so the room is asked."""
        if (writer := self._writer()) is not None:
            writer.look_for(cell_id)
