"""Claude behind the doors of the clouds, faithfully: who may come in, which path, which shape of
error and of stream. What is behind the door is the fake of the Messages API.

server.py         the three doors
event_stream.py   AWS's binary event stream
signatures.py     AWS's Signature Version 4, checked
google.py         who gives Google's tokens
"""

from typing import Any

from anthropic.lib.aws import _auth

from .google import FakeTokens, service_account
from .server import ACCESS_KEY, SECRET_KEY, FakeBedrock, FakeFoundry, FakeVertex

__all__ = [
    "ACCESS_KEY",
    "SECRET_KEY",
    "FakeBedrock",
    "FakeFoundry",
    "FakeTokens",
    "FakeVertex",
    "forget_sessions",
    "service_account",
]


def forget_sessions() -> None:
    """Those that the SDK keeps for good, with the credentials of the test before."""
    session: Any = _auth._get_session
    session.cache_clear()
