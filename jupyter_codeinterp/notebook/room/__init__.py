"""The notebook as a room that several people share (real-time collaboration).

document.py     takes frames as a window does; applies them in the room, answers
shared.py       applies ops to a shared notebook
cells.py        reads and writes its cells
gone.py         finds cells that people have deleted
presence.py     shows the agent among the people in the room
saves.py        which ops the file holds after a save
rooms.py        what a package for collaboration provides, and needs
server_ydoc.py  the rooms of jupyter_server_ydoc
server_documents.py  the rooms of jupyter_server_documents

Windows are views of a room: they have no lease and apply no ops. The server loads this package,
and pycrdt, only where a known package for collaboration is enabled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .document import RoomDocument
from .rooms import Rooms
from .server_documents import found_documents
from .server_ydoc import found_ydoc

__all__ = ["RoomDocument", "Rooms", "found"]


def found(extensions: Mapping[str, Any], contents: Any) -> Rooms | None:
    """The rooms of the package for collaboration that the server has enabled; None without a known
    one. ``extensions``: the server's, by name."""
    return found_ydoc(extensions, contents) or found_documents(extensions, contents)
