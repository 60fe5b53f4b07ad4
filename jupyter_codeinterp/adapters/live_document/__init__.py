"""The notebook that is open in a browser: ops go to one window, receipts come back.

document.py   what one session sees of it: the ``Document`` port
notebook.py   one a path: the windows that have it open, the lease, reads
outbox.py     ops on their way, sent again until there is a receipt
shown.py      what a window that attaches in mid-turn must be shown besides the ops

One window holds the lease and applies ops; every lease has an epoch, and what comes from
an older one is ignored. A window that attaches says which ops its document already holds
(``applied``), and gets the running turn's ops above that again: ops are idempotent. While
no window has the notebook open, ops and reads wait.
"""

from .document import SessionDocument
from .notebook import LiveNotebook, Window

__all__ = ["LiveNotebook", "SessionDocument", "Window"]
