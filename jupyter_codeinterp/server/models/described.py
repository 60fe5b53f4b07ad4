"""Connections as they are told to people. There is no key in here."""

from __future__ import annotations

from typing import Literal, Union

import msgspec

Origin = Literal["env", "keyring", "file", "none"]
"""Where a key comes from: a variable of the server's environment, the keyring of the operating
system, the file credentials.json; nowhere."""


class Described(msgspec.Struct, frozen=True):
    """A provider, and how it is connected.

    connected  whether its models can be chosen
    entered    whether a person has entered anything for it, which can be forgotten
    source     where its key comes from; ``variable`` is the one of the environment
    address    where requests go; "" as long as nobody has named one
    origin     scheme, host and port of that: where a key goes
    works      whether it did when it was tried last; None: it was not. ``said``: what was wrong
    note       what the person should know of the last change
    keyless    it can be connected without a key
    place_looks  what may be named instead of an address looks like this; "" for nothing
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
    note: str
    keyless: bool
    place_looks: str
    key_looks: str
    key_page: str
    variables: tuple[str, ...]
