"""Models, providers and keys. Keys stay on the server.

registry.py    models of all providers
connections.py addresses and keys that a person entered, and credentials.json
limits.py      the admin's limits, and the cost of a day
"""

from .connections import Described
from .limits import AllowedModels
from .registry import Models

__all__ = ["AllowedModels", "Described", "Models"]
