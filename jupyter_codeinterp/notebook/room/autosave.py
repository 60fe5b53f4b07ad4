"""Asks a room to save by itself while nobody else is there."""

from __future__ import annotations

from typing import Any

from .rooms import Room

AUTOSAVE = "autosave"
"""The field by which people ask jupyter_server_ydoc to save. It also saves an empty room."""


class Autosave:
    """The server has one entry of its own in each room. jupyter-collaboration does not use it."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._awareness = room.awareness
        self._people = self._awareness.observe(lambda topic, changes: self.ask())

    def ask(self) -> None:
        """Call it after an op. People who are there decide for themselves."""
        own = self._awareness.client_id
        alone = not any(state for one, state in self._awareness.states.items() if one != own)
        state: dict[str, Any] = self._awareness.get_local_state() or {}
        if state.get(AUTOSAVE) != alone:
            self._awareness.set_local_state({**state, AUTOSAVE: alone})

    def stop(self) -> None:
        self._awareness.unobserve(self._people)
        state = self._awareness.get_local_state() or {}
        if AUTOSAVE in state and self._room.is_open:
            del state[AUTOSAVE]
            self._awareness.set_local_state(state)
