"""All attempts, by area."""

from __future__ import annotations

from scripts.escapes.attempt import Attempt

from .bounds import BOUNDS
from .calls import CALLS
from .files import FILES
from .folder import FOLDER, LEFT
from .listed import LISTED
from .network import NETWORK
from .overlay import OVERLAY
from .processes import PROCESSES
from .server import SERVER
from .system import SYSTEM

AREAS: dict[str, tuple[Attempt, ...]] = {
    "your files": FILES,
    "the server": SERVER,
    "other users and the system": SYSTEM,
    "other processes": PROCESSES,
    "system calls": CALLS,
    "the network": NETWORK,
    "the allow list": LISTED,
    "the notebook's folder": (*FOLDER, *LEFT),
    "an overlay": OVERLAY,
    "limits": BOUNDS,
}
KERNELS = {"limits": "small", "the allow list": "listed", "an overlay": "overlaid"}
"""Areas that need a kernel of their own: one with small limits, one that may connect to a server of
this machine, and one with an overlay."""
