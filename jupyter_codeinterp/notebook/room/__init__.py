"""The notebook as a room that several people share (real-time collaboration).

document.py     takes frames as a window does; applies them in the room, answers
shared.py       applies ops to a shared notebook
cells.py        reads and writes its cells
gone.py         finds cells that people have deleted
presence.py     shows the agent among the people in the room
saves.py        which ops the file holds after a save
rooms.py        what a package for collaboration provides, and needs
engines.py      finds the installed package
server_ydoc.py  the rooms of jupyter_server_ydoc
server_documents.py  the rooms of jupyter_server_documents

Windows are views of a room: they have no lease and apply no ops. The server loads this package,
and pycrdt, only where a known package for collaboration is enabled.
"""

from .document import RoomDocument
from .engines import found
from .rooms import Rooms

__all__ = ["RoomDocument", "Rooms", "found"]
