"""Connections as people see them, without keys."""

from __future__ import annotations

from typing import Literal, Union

import msgspec

Origin = Literal["env", "file", "none"]
"""The source of a key: the server's environment, credentials.json, or nothing."""


class Described(msgspec.Struct, frozen=True):
    """A provider and its connection.

    connected  whether a person can choose its models
    entered    whether a person entered a connection, which can be deleted
    source     the source of its key; ``variable`` names the environment variable
    address    where requests go; "" if unknown
    origin     scheme, host and port of the address, which receive the key
    works      result of the last test; None: not tested. ``said``: the error
    keyless    whether it works without a key
    place_looks  an example of what can replace an address; "" for nothing
    """

    provider: str
    label: str
    connected: bool
    entered: bool
    source: Origin
    variable: str
    address: str
    origin: str
    works: Union[bool, None]
    said: str
    keyless: bool
    place_looks: str
    key_looks: str
    key_page: str
    variables: tuple[str, ...]
