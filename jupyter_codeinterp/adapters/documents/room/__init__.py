"""The notebook as a room that several people share (real-time collaboration).

document.py     takes frames as a window does; applies them in the room, answers
shared.py       what ops do to a shared notebook, by the reference
cells.py        its cells: read as nbformat has them, written with the smallest change
gone.py         cells that people have deleted
saves.py        what a room's saves mean for the agent's work
rooms.py        what a package for collaboration provides, and needs
engines.py      which one is there
server_ydoc.py  the rooms of jupyter_server_ydoc
server_documents.py  those of jupyter_server_documents

Windows are views of a room: they have no lease and apply no ops. The server loads this package,
and pycrdt, only where a known package for collaboration is enabled.
"""

from .document import RoomDocument
from .engines import found
from .rooms import Rooms

__all__ = ["RoomDocument", "Rooms", "found"]
