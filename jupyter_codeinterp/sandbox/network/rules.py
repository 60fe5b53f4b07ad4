"""Hosts that a sandboxed kernel may reach, and their addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple, Union

Address = Union[IPv4Address, IPv6Address]
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_][a-z0-9_-]{0,62}(\.[a-z0-9_][a-z0-9_-]{0,62})*\Z")
_PLACE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:/?#@\s]+)(?::([0-9]{1,5}))?\Z")
_UNICAST = IPv6Network("2000::/3")
_TUNNELS = (IPv6Network("2001::/23"), IPv6Network("2002::/16"))
"""Tunnels to any IPv4 address."""
_TRANSLATED = IPv6Network("64:ff9b::/96")
"""IPv4 addresses on networks with IPv6 only."""
_NEVER = (IPv4Network("168.63.129.16/32"), IPv4Network("192.88.99.0/24"))
"""A cloud's service for its machines, and a tunnel. Both look public."""


class Target(NamedTuple):
    """``host`` is a name in lower case, or an address as ``ip_address`` writes it."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def target(text: str, port: int | None = None) -> Target:
    """Parse ``host:port``; an IPv6 address is in brackets. ``port``: the default. Raises
    ValueError."""
    found = _PLACE.match(text)
    if found is None or not (found[2] or port):
        raise ValueError("not a host and a port")
    number = int(found[2]) if found[2] else port or 0
    host = found[1].strip("[]").lower().removesuffix(".")
    if found[1].startswith("["):
        host = str(canonical(host))
    else:
        try:
            host = str(IPv4Address(host))
        except ValueError:
            if not _NAME.match(host):
                raise ValueError("not a host and a port") from None
    if not 0 < number < 65_536:
        raise ValueError("not a host and a port")
    return Target(host, number)


def canonical(text: str) -> Address:
    """An address without its zone; IPv4 if it was wrapped in IPv6. Raises ValueError."""
    address = ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def is_public(address: Address) -> bool:
    """Whether it is on the internet, not on this machine, in a private network, or a provider's
    service for its machines."""
    if isinstance(address, IPv6Address):
        if address in _TRANSLATED:
            return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
        if address not in _UNICAST or any(address in one for one in _TUNNELS):
            return False
    elif any(address in one for one in _NEVER):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


class AllowedHosts:
    """``allow``: the setting, a list of ``host:port``. Raises ValueError with what to change."""

    def __init__(self, allow: Iterable[str]) -> None:
        self.targets = frozenset(configured(one) for one in allow)

    def allows(self, asked: Target) -> bool:
        return asked in self.targets

    def may_connect(self, address: str, port: int) -> bool:
        """Whether an allowed name may lead to this address: a public one, or one in the list."""
        found = canonical(address)
        return is_public(found) or Target(str(found), port) in self.targets


def configured(text: str) -> Target:
    """Parse an entry of the admin's setting. Raises ValueError with what to change."""
    try:
        return target(text)
    except ValueError:
        raise ValueError(
            f"SandboxProvisioner: {text!r} is not host:port, as in 'example.org:443' or "
            "'[2001:db8::1]:443'."
        ) from None
