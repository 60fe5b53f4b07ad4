"""Evicts unused sessions from memory. The journal keeps them, so they can be loaded again."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.redaction.private_names import PrivateNames
    from ..core.session.session import Session

GRACE = 3.0
"""Seconds from a session's last use to its eviction."""


class IdleSessions:
    def __init__(self, sessions: dict[str, Session]) -> None:
        """``sessions``: the sessions in memory, by id."""
        self._sessions = sessions
        self._used: dict[str, float] = {}
        self._private: dict[str, PrivateNames] = {}
        """Private names known to evicted sessions."""
        self._timer: asyncio.TimerHandle | None = None

    def use(self, session: Session) -> None:
        session_id = session.info.session_id
        self._used[session_id] = time.monotonic()
        known = self._private.pop(session_id, None)
        if known is not None:
            session.private_names.add(known)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GRACE, self._evict)

    def is_private(self, name: str) -> bool:
        """Whether an evicted session knew the name as private."""
        return any(name in names for names in self._private.values())

    def _evict(self) -> None:
        self._timer = None
        now = time.monotonic()
        for session_id, session in list(self._sessions.items()):
            if not session.at_rest:
                self._used[session_id] = now
            elif now - self._used.get(session_id, 0.0) >= GRACE:
                del self._sessions[session_id]
                if session.private_names:
                    self._private[session_id] = session.private_names
                session.release()
        self._used = {key: when for key, when in self._used.items() if key in self._sessions}
        if self._sessions:
            self._timer = asyncio.get_running_loop().call_later(GRACE, self._evict)

    def forget(self, session_id: str) -> None:
        self._private.pop(session_id, None)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
