"""The agent as one of the people in a room: its name, the cell it works in, and its cursor there.

The server has one entry of its own in each room. jupyter-collaboration does not use it.
"""

from __future__ import annotations

from typing import Any

from pycrdt import Assoc, Text

from .rooms import Room

USER = {
    "username": "codeinterp",
    "name": "Code interpreter",
    "display_name": "Code interpreter",
    "initials": "CI",
    "color": "var(--jp-collaborator-color2)",
    "avatar_url": None,
}
AUTOSAVE = "autosave"
"""The field by which people ask jupyter_server_ydoc to save. It also saves an empty room."""


class Presence:
    def __init__(self, room: Room) -> None:
        self._room = room
        self._awareness = room.awareness
        self._here = False

    def works_in(self, cell_id: str, text: Any) -> None:
        """Show the agent at the end of this cell's shared text. Call it within a transaction."""
        state = {"user": USER, "current": cell_id, "cursors": _cursor_at_end(text)}
        _change(self._awareness, {**state, AUTOSAVE: self._is_alone})
        self._here = True

    def others_changed(self) -> None:
        """Somebody has entered or left. The agent asks for saves only while nobody else is
        there."""
        state = self._awareness.get_local_state() or {}
        if self._here and state.get(AUTOSAVE) != self._is_alone:
            _change(self._awareness, {AUTOSAVE: self._is_alone})

    def leave(self) -> None:
        if not self._here:
            return
        self._here = False
        if self._room.is_open:
            _change(self._awareness, dict.fromkeys(("user", "current", "cursors", AUTOSAVE)))

    @property
    def _is_alone(self) -> bool:
        own = self._awareness.client_id
        return not any(state for one, state in self._awareness.states.items() if one != own)


def _change(awareness: Any, fields: dict[str, Any]) -> None:
    """Set these fields of the server's own state, and remove those without a value."""
    before = awareness.get_local_state() or {}
    changed = {**before, **fields}
    awareness.set_local_state({key: value for key, value in changed.items() if value is not None})


def _cursor_at_end(text: Any) -> list[dict[str, Any]]:
    """A cursor in the form that pages use; none in an empty text."""
    if not isinstance(text, Text) or not len(text):
        return []
    place = text.sticky_index(len(text), Assoc.BEFORE).to_json()
    return [{"anchor": place, "head": place, "primary": True, "empty": True}]
