"""Which server works on a session, where several share a journal."""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ....core.errors import StoreError
from ....core.stores import LEASE_TIME, Holder
from .journal import Journal
from .retention import Retention

_HOST = socket.gethostname()
_open_stores: set[str] = set()
"""Names of the stores that are open in this process."""


class Leases(Journal):
    """The leases of this store's server."""

    def __init__(
        self,
        path: Path,
        scrub: Callable[[str], str] = lambda text: text,
        retention: Retention | None = None,
        root: str | None = None,
    ) -> None:
        super().__init__(path, scrub, retention, root)
        self._server = uuid.uuid4().hex
        _open_stores.add(self._server)

    def take_lease(self, session_id: str) -> Holder | None:
        with self._transaction():
            holder = self.holder(session_id)
            if holder is None:
                self._db.execute(
                    "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)",
                    (session_id, self._server, _HOST, os.getpid(), time.time()),
                )
        return holder

    def renew_lease(self, session_id: str) -> bool:
        with self._transaction():
            renewed = self._db.execute(
                "UPDATE leases SET beat = ? WHERE session_id = ? AND server = ?",
                (time.time(), session_id, self._server),
            )
        return renewed.rowcount == 1

    def release_lease(self, session_id: str) -> None:
        with self._transaction():
            self._db.execute(
                "DELETE FROM leases WHERE session_id = ? AND server = ?",
                (session_id, self._server),
            )

    def holder(self, session_id: str) -> Holder | None:
        rows = self._rows(
            "SELECT server, host, pid, beat FROM leases WHERE session_id = ?", (session_id,)
        )
        for server, host, pid, beat in rows:
            if server != self._server and _is_live(server, host, pid, beat):
                return Holder(host, pid)
        return None

    def close(self) -> None:
        was_open = self._server in _open_stores
        _open_stores.discard(self._server)
        if was_open and self._fault is None:
            # A lease not released now expires soon: this process is ending.
            with suppress(StoreError), self._transaction():
                self._db.execute("DELETE FROM leases WHERE server = ?", (self._server,))
        super().close()


def _is_live(server: str, host: str, pid: int, beat: float) -> bool:
    if abs(time.time() - beat) > LEASE_TIME:
        return False
    if host != _HOST:
        return True
    if pid == os.getpid():
        return server in _open_stores
    return _runs(pid)


def _runs(pid: int) -> bool:
    if os.name == "nt":
        return True  # Asking would interrupt it.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # It belongs to another user.
    return True
