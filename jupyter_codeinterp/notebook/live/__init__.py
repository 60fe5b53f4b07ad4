"""The notebook that is open in a browser: ops go to one window, receipts come back.

session_document.py  one session's view of it: the ``NotebookDocument`` port
notebook.py          one per path: ops, receipts and reads, and who gets them
holder.py            state machine of who works in it: states, events, one table
hand_over.py         carries it out: windows, the lease, the file writer; views of a room
protocols.py         windows, the file writer, the notebook's owner
outbox.py            ops on their way, kept until the notebook's file has them
reads.py             reads that wait for the holder
live_preview.py      what a window that attaches in mid-turn needs besides the ops

One window holds the lease and applies ops. Every lease has an epoch; messages of an older one
are ignored. An attaching window reports the ops in its document (``applied``) and gets the later
ones again: ops are idempotent. Without a window, ops and reads wait. After a grace time a file
writer works in the file until a window is back (docs/adr/0004-hand-over.md). Of a notebook that
several people share, all windows are views: the file writer works in its room.
"""

from .notebook import LiveNotebook
from .protocols import FileWriter, Window, WindowState
from .session_document import SessionDocument

__all__ = ["FileWriter", "LiveNotebook", "SessionDocument", "Window", "WindowState"]
