"""The notebook as a room that several people share (real-time collaboration).

document.py     takes frames as a window does; applies them in the room, answers
shared.py       applies ops to a shared notebook
cells.py        reads and writes its cells
saves.py        asks the room to save while nobody else is there; which ops the file holds then
server_ydoc.py  the rooms of jupyter_server_ydoc

Windows are views of a room: they have no lease and apply no ops. The server loads this package,
and pycrdt, only where jupyter-collaboration is enabled.
"""

from __future__ import annotations

from .document import RoomDocument
from .server_ydoc import ServerYDoc, found

__all__ = ["RoomDocument", "ServerYDoc", "found"]
