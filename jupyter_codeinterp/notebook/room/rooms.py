"""What a room of a shared notebook must offer, and the errors on the way to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...base.errors import DocumentError

LOADING = 10.0
"""Seconds that a room has to read its file."""
NO_FILE = "{path} no longer exists."
NOT_OPENED = "The shared notebook {path} cannot be opened: {words}"
NOT_LOADED = "it does not load"
READ_ONLY = "The notebook is read-only. What is done in it would not be saved."


class RoomClosed(DocumentError):
    """The server has closed the room."""

    def __init__(self) -> None:
        super().__init__("unreadable", "The room of the shared notebook was closed.")


class Room(Protocol):
    """A notebook that people share, until the server closes it."""

    @property
    def document(self) -> Any:
        """Its ``YNotebook``."""

    @property
    def is_open(self) -> bool:
        """Whether people who open the notebook get this document."""

    @property
    def is_loaded(self) -> bool:
        """Whether it has read its file to the end."""

    @property
    def awareness(self) -> Any:
        """The people in the room: a pycrdt ``Awareness``."""

    def follow_saves(
        self, saved: Callable[[str], None], closed: Callable[[], None]
    ) -> Callable[[], None]:
        """Call ``saved`` with "" after each save, or with the reason if the room could not read
        or write its file. Call ``closed`` when the room closes, saved or not. Return a function
        that stops the calls."""


class Rooms(Protocol):
    async def open(self, path: str) -> Room:
        """The room of the notebook, loaded or loading. Raises DocumentError ``no_file`` or
        ``unreadable``."""

    async def check(self, path: str) -> None:
        """Raises DocumentError ``not_written`` if the room cannot save its file, ``no_file``, or
        ``unreadable``."""
