"""Which model answers, and with which key. Keys stay on the server.

registry.py    the models of all providers: what answers, what can be chosen
connections.py what a person has entered for each provider, tried and kept
key_file.py    credentials.json
keyring.py     the keyring of the operating system
limits.py      what an admin allows
described.py   connections as they are told to people; never with a key
"""

from .described import Described
from .limits import Limits
from .registry import Models

__all__ = ["Described", "Limits", "Models"]
