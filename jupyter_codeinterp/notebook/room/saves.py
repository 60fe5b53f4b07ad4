"""Asks a room to save by itself while nobody else is there. After each save: which ops the file
holds, or why the save failed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from ...base.errors import DocumentError
from ...base.sentences import Sentence
from .server_ydoc import ServerYDoc, YDocRoom

log = logging.getLogger(__name__)

NOT_SAVED = Sentence(
    "The shared notebook could not read or write its file, which may lack the last changes. The "
    "next save that works has them. The reason: {words}"
)
AUTOSAVE = "autosave"
"""The field by which people ask jupyter_server_ydoc to save. It also saves an empty room."""
SETTLING = 1.0
"""Seconds that a server needs to close a room."""


class Autosave:
    """The server has one entry of its own in each room. jupyter-collaboration does not use it."""

    def __init__(self, room: YDocRoom) -> None:
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


class SavedNotebook(Protocol):
    path: str

    @property
    def has_unsaved(self) -> bool:
        """Whether there are ops that the file may lack."""

    def saved_in_room(self, applied: Mapping[str, int]) -> None:
        """The notebook's file holds these ops."""

    def not_saved(self, words: str) -> None:
        """The room could not save what the agent has done."""


class Saves:
    def __init__(
        self,
        notebook: SavedNotebook,
        rooms: ServerYDoc,
        look: Callable[[], Awaitable[tuple[str, dict[str, int]]]],
        applied: Callable[[], dict[str, int]],
        look_at_room: Callable[[], None],
    ) -> None:
        """``look`` reads the version of the notebook's file, and the ops that it holds.
        ``applied`` returns the ops that the room holds. ``look_at_room`` checks that the room
        and the file still exist."""
        self._notebook = notebook
        self._rooms = rooms
        self._look = look
        self._applied = applied
        self._look_at_room = look_at_room
        self._failed = False
        """Whether the last save failed; people were told then."""
        self._heard: asyncio.Queue[tuple[str, dict[str, int]]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def on_save(self, words: str) -> None:
        """The room was saved (``words`` is ""), or could not read or write its file."""
        self._hear(words, {} if words else self._applied())

    def on_close(self) -> None:
        self._hear("", {})

    def _hear(self, words: str, held: dict[str, int]) -> None:
        """``held``: the ops in the room when it was saved."""
        if words or self._notebook.has_unsaved:
            self._heard.put_nowait((words, held))
            if self._task is None:
                self._task = asyncio.ensure_future(self._follow())

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _follow(self) -> None:
        while True:
            words, held = await self._heard.get()
            try:
                words = await self._why_not(words)
                if words and not self._failed:
                    self._notebook.not_saved(Sentence(NOT_SAVED, words=words))
                self._failed = bool(words)
                if not words:
                    # A script keeps no marker. An op that came during the save counts, too.
                    self._notebook.saved_in_room((await self._look())[1] or held)
            except DocumentError as error:
                log.info("Cannot tell what the file holds: %s", error.message)
            except Exception:
                log.exception("Cannot read the file of %s", self._notebook.path)
            if self._notebook.has_unsaved:
                await asyncio.sleep(SETTLING)
                self._look_at_room()

    async def _why_not(self, words: str) -> str:
        """Why the room cannot be saved, or "". A room counts a read-only file as saved."""
        try:
            await self._rooms.check(self._notebook.path)
        except DocumentError as error:
            return "" if error.code == "no_file" else error.message
        return words
