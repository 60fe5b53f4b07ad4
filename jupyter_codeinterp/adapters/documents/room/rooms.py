"""Where a server keeps its shared notebooks: what each known package for collaboration provides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ....core.errors import DocumentError

LOADING = 10.0
"""Seconds that a room has to read its file."""
LOBBY = "JupyterLab:globalAwareness"
"""The room of all people in JupyterLab, in both packages."""
NO_FILE = "{path} no longer exists."
NOT_OPENED = "The shared notebook {path} cannot be opened: {words}"
NOT_LOADED = "it does not load"
READ_ONLY = "The notebook is read-only. What is done in it would not be saved."


class RoomClosed(DocumentError):
    """The server has let the room go."""

    def __init__(self) -> None:
        super().__init__("unreadable", "The room of the shared notebook was closed.")


class Room(Protocol):
    """A notebook that people share, until the server lets it go."""

    @property
    def document(self) -> Any:
        """Its ``YNotebook``."""

    @property
    def is_open(self) -> bool:
        """Whether people who open the notebook get this document, and no other."""

    @property
    def is_loaded(self) -> bool:
        """Whether it has read its file to the end."""

    @property
    def awareness(self) -> Any:
        """Who is there: a pycrdt ``Awareness``."""

    @property
    def lobby(self) -> Any:
        """The same for all of JupyterLab; None if nobody has come yet."""

    def follow_saves(self, saved: Callable[[str], None]) -> Callable[[], None]:
        """Call ``saved`` with "" after each save and when the room goes, or with words if the
        room could not read or write its file. The function that is returned ends this."""


class Rooms(Protocol):
    async def open(self, path: str) -> Room:
        """The notebook that all people there share, loaded or about to be. Raises DocumentError
        ``no_file`` or ``unreadable``."""

    async def check(self, path: str) -> None:
        """Raises DocumentError ``not_written`` if the room cannot save its file, ``no_file``, or
        ``unreadable``."""
