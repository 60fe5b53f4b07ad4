"""Windows: their identity, and their stale cells."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import itertools
import secrets
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, Union
from weakref import WeakKeyDictionary

import msgspec

from ...base.errors import CommandError
from ...notebook.live import LiveNotebook, Window
from ...run.turn.staleness import Watch
from ...wire.commands import CodeCells, StaleCell, StaleCells

# -------------------------------------------------------------------------------------------------
# Tells windows which cells are stale, from what they report of their notebooks.


class ReportedCells:
    def __init__(self) -> None:
        self.watch = Watch()
        self._sent: WeakKeyDictionary[Window, dict[str, StaleCells]] = WeakKeyDictionary()

    def report(self, window: Window, notebook: LiveNotebook | None, command: CodeCells) -> None:
        """Send the stale cells after a report of the window that the agent works in. In a shared
        notebook any window may report, and all with the same kernel get them."""
        if notebook is None or not (notebook.held_by(window) or notebook.sharing.by(window)):
            return
        path, kernel_id, watch = command.notebook, command.kernel_id, self.watch
        others = notebook.sharing.others(window)
        watch.report(path, command.order, command.sources)
        for run in command.ran:
            watch.ran(kernel_id, run.cell_id, run.number, run.source)
        stale = watch.stale(path, kernel_id)
        cells = tuple(StaleCell(cell_id, reason) for cell_id, reason in stale.items())
        frame = StaleCells(path, cells)
        if len(command.sources) == len(command.order):
            self._sent.setdefault(window, {}).pop(path, None)  # The window shows no marks yet.
        for one in (window, *(one for one in others if notebook.kernel_in(one) == kernel_id)):
            sent = self._sent.setdefault(one, {})
            if sent.get(path) != frame:
                sent[path] = frame
                one.send(frame)


class FrontWindow(Window, Protocol):
    """A connected window."""

    person: str
    """The user's name, from Jupyter's identity provider."""

    @property
    def number(self) -> int: ...

    def leave(self) -> None:
        """Handle a closed socket, or the server's stop."""


# -------------------------------------------------------------------------------------------------
# Identifies the window of a socket or request: tickets, secrets and numbers.
#
# One POST gives a page a ticket and a secret. The ticket opens one socket. The secret stays in
# the page and identifies the window in requests and when it reconnects. The server keeps only a
# digest, so its memory, logs and URLs contain no secret.
#
# Tickets are signed and not stored, so nobody can fill a store with them.

TICKET_LIFE = 30.0
"""Seconds in which a ticket must be used."""
MAX_WINDOWS = 10_000
"""Windows and clients that are remembered. A forgotten page gets a new number when it
reconnects."""
MAX_OF_A_LOGIN = 100
"""Windows and clients of one login that are remembered."""
TOO_MANY = "Too many windows of this login are open. Close some, and try again."


class Bearer(NamedTuple):
    """The sender of a request: the user name, and whether the request has the server's token.

    A client with a token but without cookies gets a new made-up user name with every request; then
    only the token identifies it.
    """

    username: str
    has_token: bool


class _Ticket(msgspec.Struct, frozen=True, array_like=True):
    number: str
    """Random. Each ticket is valid once."""
    username: str
    has_token: bool
    window: str
    """The digest of the window's secret."""
    issued: float


class _Known(msgspec.Struct):
    number: int
    login: str


class Windows:
    """Windows that had a socket since the server started, and clients without one."""

    def __init__(
        self,
        connected: Callable[[int], bool] = lambda number: False,
    ) -> None:
        """``connected``: whether a window has a socket. Such windows are never forgotten."""
        self._new_number = itertools.count(1).__next__
        self._connected = connected
        self._key = secrets.token_bytes(32)
        self._used: dict[str, float] = {}
        """Used tickets that are not expired, with their time of issue."""
        self._known: dict[str, _Known] = {}
        """By digest of the secret, in order of last use."""

    def issue(self, bearer: Bearer, secret: str = "") -> tuple[str, str]:
        """A ticket and the window's secret, which stays the same while it is known."""
        if _digest(secret) not in self._known:
            secret = secrets.token_urlsafe(24)
        number = secrets.token_urlsafe(16)
        content = msgspec.json.encode(_Ticket(number, *bearer, _digest(secret), time.monotonic()))
        return base64.urlsafe_b64encode(self._mac(content) + content).decode(), secret

    def redeem(self, ticket: str, bearer: Bearer) -> int:
        """The number of the ticket's window; 0 if the ticket is invalid, used or expired."""
        now = time.monotonic()
        self._used = {k: t for k, t in self._used.items() if now - t < TICKET_LIFE}
        given = self._read(ticket)
        if given is None or given.number in self._used or now - given.issued >= TICKET_LIFE:
            return 0
        if given.username != bearer.username and not (given.has_token and bearer.has_token):
            return 0
        self._used[given.number] = given.issued
        return self._remember(given.window, bearer)

    def admit(self, bearer: Bearer) -> tuple[int, str]:
        """Number and secret for a client without a socket. Raises CommandError
        ``too_many_windows``."""
        secret = secrets.token_urlsafe(24)
        number = self._remember(_digest(secret), bearer)
        if not number:
            raise CommandError("too_many_windows", TOO_MANY)
        return number, secret

    def _remember(self, digest: str, bearer: Bearer) -> int:
        """The window's number; 0 if there are too many windows."""
        known = self._known.pop(digest, None)
        if known is None:
            login = "" if bearer.has_token else bearer.username
            of_login = [k for k, one in self._known.items() if one.login == login]
            room = len(of_login) < MAX_OF_A_LOGIN or self._forget_one(of_login)
            if len(self._known) >= MAX_WINDOWS:
                room = room and self._forget_one(list(self._known))
            if not room:
                return 0
            known = _Known(self._new_number(), login)
        self._known[digest] = known
        return known.number

    def _forget_one(self, digests: list[str]) -> bool:
        """Forget the least recently used window without a socket."""
        for digest in digests:
            if not self._connected(self._known[digest].number):
                del self._known[digest]
                return True
        return False

    def number(self, secret: str) -> int:
        """The number of the window or client with this secret; 0 if unknown."""
        known = self._known.get(_digest(secret))
        return 0 if known is None else known.number

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
