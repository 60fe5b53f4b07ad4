"""Models, providers and keys. Keys stay on the server.

registry.py    models of all providers
connections.py addresses and keys that a person entered
key_file.py    credentials.json
limits.py      the admin's limits
described.py   connections without their keys, for people
"""

from .described import Described
from .limits import Limits
from .registry import Models

__all__ = ["Described", "Limits", "Models"]
