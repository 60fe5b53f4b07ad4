"""Which window a socket or a request comes from: tickets, secrets, numbers.

One POST gives a page a ticket and a secret. The ticket opens one socket. The secret stays in
the page; it names the window where it is asked for, and when the page connects again. Here
only its digest is kept: who reads this server's memory, logs or addresses finds no secret.

A ticket is signed and not stored, so that nobody's tickets can push out another's.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import itertools
import secrets
import time
from typing import NamedTuple, Union

import msgspec

from ..core.errors import CommandError

TICKET_LIFE = 30.0
"""Seconds in which a ticket must be used."""
MAX_WINDOWS = 10_000
"""Windows that are remembered; one that is forgotten gets another number when it connects."""
CLOSED = "Closed by another window. Reload the page to work here."


class Bearer(NamedTuple):
    """Who asks: a user name, and whether the request itself carries the server's token.

    A client that has a token but keeps no cookies gets another made-up user name with every
    request; the token then says that it is the same one.
    """

    username: str
    has_token: bool


class _Ticket(msgspec.Struct, frozen=True, array_like=True):
    number: str
    """Random; the ticket is good once."""
    username: str
    has_token: bool
    window: str
    """The digest of the window's secret."""
    issued: float


class Windows:
    """The windows that have had a socket since the server started, and clients without one."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._used: dict[str, float] = {}
        """Tickets that were used and are not too old yet, with the time of their issue."""
        self._numbers: dict[str, int] = {}
        """By digest of the secret, 1, 2, …; 0: another window has closed it."""
        self._count = itertools.count(1)

    def issue(self, bearer: Bearer, secret: str = "") -> tuple[str, str]:
        """A ticket and the window's secret: the one it had (``secret``) if it is still known.

        Raises CommandError ``closed_window``.
        """
        if self._numbers.get(_digest(secret)) == 0:
            raise CommandError("closed_window", CLOSED)
        if _digest(secret) not in self._numbers:
            secret = secrets.token_urlsafe(24)
        number = secrets.token_urlsafe(16)
        ticket = _Ticket(number, *bearer, _digest(secret), time.monotonic())
        return self._signed(msgspec.json.encode(ticket)), secret

    def redeem(self, ticket: str, bearer: Bearer) -> int:
        """The number of the window that the ticket is for; 0 if it is not good (any more)."""
        now = time.monotonic()
        self._used = {k: t for k, t in self._used.items() if now - t < TICKET_LIFE}
        given = self._read(ticket)
        if given is None or given.number in self._used or now - given.issued >= TICKET_LIFE:
            return 0
        if given.username != bearer.username and not (given.has_token and bearer.has_token):
            return 0
        self._used[given.number] = given.issued
        return self._remember(given.window)

    def admit(self) -> tuple[int, str]:
        """The number and the secret of a client that has no socket."""
        secret = secrets.token_urlsafe(24)
        return self._remember(_digest(secret)), secret

    def _remember(self, digest: str) -> int:
        """The ones that were not heard of for longest are forgotten first."""
        known = self._numbers.pop(digest, None)
        number = self._numbers[digest] = next(self._count) if known is None else known
        while len(self._numbers) > MAX_WINDOWS:
            del self._numbers[next(iter(self._numbers))]
        return number

    def number(self, secret: str) -> int:
        """Of the window with this secret; 0 if none has it that has had a socket, or no client."""
        return self._numbers.get(_digest(secret), 0)

    def close_others(self, number: int) -> None:
        """No other window connects again, and no ticket that is out is good."""
        self._key = secrets.token_bytes(32)
        self._numbers = {k: n if n == number else 0 for k, n in self._numbers.items()}

    def _signed(self, content: bytes) -> str:
        return base64.urlsafe_b64encode(self._mac(content) + content).decode()

    def _read(self, ticket: str) -> Union[_Ticket, None]:
        try:
            given = base64.urlsafe_b64decode(ticket.encode())
        except (binascii.Error, UnicodeError):
            return None
        mac, content = given[:32], given[32:]
        if not hmac.compare_digest(mac, self._mac(content)):
            return None
        return msgspec.json.decode(content, type=_Ticket)

    def _mac(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, "sha256")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
