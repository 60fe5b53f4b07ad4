"""SOCKS 5 as the proxy speaks it: connections by name or address, without a login."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

from . import rules

VERSION = b"\x05"
"""The first byte of such a connection; no request of HTTP begins with it."""
GRANTED = b"\x05\x00\x00\x01" + bytes(6)
_NO_LOGIN, _NO_WAY = b"\x05\x00", b"\x05\xff"
_CONNECT = 1
_ADDRESSES = {1: 4, 4: 16}
"""Kinds of addresses, and their bytes."""
_NAME = 3
_CODES = {403: 2, 502: 4}
"""Of an HTTP status: not allowed, not reached. Others are general failures."""


class BadSocks(ValueError):
    """The message says why."""


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> rules.Target:
    """What the program wants to connect to; its first byte has been read. Raises BadSocks."""
    methods = await reader.readexactly((await reader.readexactly(1))[0])
    if 0 not in methods:
        writer.write(_NO_WAY)
        raise BadSocks("a login of SOCKS, which this proxy does not take")
    writer.write(_NO_LOGIN)
    version, command, _, kind = await reader.readexactly(4)
    if version != VERSION[0]:
        raise BadSocks("not a request of SOCKS 5")
    if command != _CONNECT:
        raise BadSocks("a request of SOCKS that is not CONNECT")
    if kind in _ADDRESSES:
        host = str(ip_address(await reader.readexactly(_ADDRESSES[kind])))
    elif kind == _NAME:
        name = await reader.readexactly((await reader.readexactly(1))[0])
        host = name.decode("latin-1")
    else:
        raise BadSocks("an address of SOCKS that cannot be read")
    port = int.from_bytes(await reader.readexactly(2), "big")
    try:
        return rules.target(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    except ValueError as error:
        raise BadSocks(str(error)) from None


def refused(status: int) -> bytes:
    """The answer, by the status that HTTP would have."""
    return b"\x05" + bytes([_CODES.get(status, 1)]) + GRANTED[2:]
