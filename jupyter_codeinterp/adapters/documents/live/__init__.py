"""The notebook that is open in a browser: ops go to one window, receipts come back.

session_document.py  what one session sees of it: the ``Document`` port
notebook.py          one a path: the windows that have it open, the lease
hand_over.py         from the windows to the file and back, while none has it open
parties.py           windows, who stands in for them, what the notebook belongs to
file_holds.py        which ops its file is known to hold
outbox.py            ops on their way, kept until the notebook's file has them
reads.py             reads that wait for whoever has it
live_preview.py      what a window that attaches in mid-turn must be shown besides the ops

One window holds the lease and applies ops; every lease has an epoch, and what comes from
an older one is ignored. A window that attaches says which ops its document already holds
(``applied``), and gets those above that again: ops are idempotent. While no window has the
notebook open, ops and reads wait; after a grace time somebody stands in who works in the
file, and goes when a window is back (docs/adr/0004-hand-over.md).
"""

from .notebook import LiveNotebook
from .parties import FileWriter, Window, WindowState
from .session_document import SessionDocument

__all__ = ["FileWriter", "LiveNotebook", "SessionDocument", "Window", "WindowState"]
