"""Appends in a thread, for a journal on a network drive.

Without a write-ahead log each commit waits for the drive, for tens of milliseconds. The event loop
must not wait with it. The thread commits, in order, all appends that have arrived meanwhile.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from ...base.errors import StoreError

MOST_WAITING = 1_000
"""Appends that may wait; the next one then waits for the drive."""
FINAL = ("repeated", "unknown_session", "unknown_op")
"""Codes of appends that can never succeed."""

Append = TypeVar("Append", bound=Callable[..., None])

log = logging.getLogger(__name__)


class Appending(Protocol):
    """Where ``writer`` is None, the caller's thread makes the appends."""

    writer: Writer | None


def append(method: Append) -> Append:
    """A method of the journal that returns before its commit if there is a ``Writer``. It begins
    with a session's id, or its ``SessionInfo``."""

    @wraps(method)
    def write(journal: Appending, of: Any, *given: Any) -> None:
        if journal.writer is None:
            method(journal, of, *given)
        else:
            session_id = getattr(of, "session_id", of)
            journal.writer.add(session_id, lambda: method(journal, of, *given))

    return cast("Append", write)


class Writer:
    """All methods for one other thread, and ``settle`` for any.

    A failed append stays first and is tried again at the next call. One that can never succeed is
    dropped, with all others of its session.
    """

    def __init__(self, transaction: Callable[[], AbstractContextManager[None]]) -> None:
        self._transaction = transaction
        self._waiting: deque[tuple[str, Callable[[], None]]] = deque()
        self._changed = threading.Condition()
        self._fault: StoreError | None = None
        """Why the first append waits."""
        self._again = False
        """Whether it is tried again."""
        self._lost: dict[str, Exception] = {}
        """Why the appends of a session were dropped, until this server begins with it again."""
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    @property
    def here(self) -> bool:
        """Whether this is the writer's thread."""
        return threading.current_thread() is self._thread

    def add(self, session_id: str, write: Callable[[], None]) -> None:
        """Raises the error of an earlier append; ``write`` is not added then."""
        with self._changed:
            error = self._lost.get(session_id) or self._fault
            self._try_again()
            if error is not None:
                raise error.with_traceback(None)
            self._changed.wait_for(lambda: len(self._waiting) < MOST_WAITING or self._rests())
            self._waiting.append((session_id, write))
            self._changed.notify_all()

    def begin(self, session_id: str) -> None:
        """Call when this server takes over the session: forget why earlier appends were dropped."""
        self._lost.pop(session_id, None)

    def drain(self) -> None:
        """Wait until all appends are committed, or the first one has failed."""
        with self._changed:
            self._changed.wait_for(self._rests)

    def settle(self, session_id: str) -> None:
        """As ``drain``. Raises the error of an append of this session, or of the first one."""
        with self._changed:
            self._try_again()
            self._changed.wait_for(self._rests)
            error = self._lost.get(session_id) or self._fault
            if error is not None:
                raise error.with_traceback(None)

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._try_again()
        self._thread.join()
        if self._waiting:
            log.error("%d entries of the journal are lost: %s", len(self._waiting), self._fault)

    def _try_again(self) -> None:
        self._again = self._fault is not None
        self._changed.notify_all()

    def _rests(self) -> bool:
        """Whether the thread is idle until the next call."""
        return not self._waiting or (self._fault is not None and not self._again)

    def _work(self) -> None:
        single = 0
        while batch := self._next(single):
            try:
                with self._transaction():
                    for _, write in batch:
                        write()
            except Exception as error:
                if len(batch) > 1:
                    single = len(batch)  # Find the one that fails.
                else:
                    self._failed(batch[0][0], error)
                    single = 0
                continue
            single = max(0, single - 1)
            with self._changed:
                for _ in batch:
                    self._waiting.popleft()
                self._fault = None
                self._changed.notify_all()

    def _next(self, single: int) -> list[tuple[str, Callable[[], None]]]:
        """The appends to commit at once, as soon as there are any; [] at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or not self._rests())
            waiting = [] if self._rests() else list(self._waiting)
        return waiting[:1] if single else waiting

    def _failed(self, session_id: str, error: Exception) -> None:
        with self._changed:
            self._again = False
            if isinstance(error, StoreError) and error.code not in FINAL:
                self._fault = error
            else:
                self._fault = None
                self._lost[session_id] = error
                kept = [one for one in self._waiting if one[0] != session_id]
                self._waiting = deque(kept)
            self._changed.notify_all()
