"""The notebook as a room that several people share (real-time collaboration).

document.py  takes frames as a window does; applies them in the room, answers
shared.py    what ops do to a shared notebook, by the reference
cells.py     its cells: read as nbformat has them, written with the smallest change
rooms.py     where the server keeps its rooms

Windows are views of a room: they have no lease and apply no ops. The server loads this package,
and pycrdt, only where a known package for collaboration is enabled.
"""

from .document import RoomDocument
from .rooms import Rooms, found

__all__ = ["RoomDocument", "Rooms", "found"]
