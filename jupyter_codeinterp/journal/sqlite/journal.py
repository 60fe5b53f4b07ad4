"""The journal's file for reading and writing; its tables are in subclasses."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ...base.errors import StoreError
from ...base.sentences import Sentence, as_it_is, from_journal, in_english, together
from ...wire.stores import LEASE_TIME
from .file import file_id, fold_log, in_words, open_file, sync_log
from .retention import Retention, keep
from .writer import Writer, append

# -------------------------------------------------------------------------------------------------
# Names of notebooks in the journal: whole paths, so that servers with other root folders, or the
# command line, do not take one notebook for another.

_WHOLE = re.compile(r"/|[A-Za-z]:/")


class Root:
    """A server's root folder, which its paths are relative to.

    Rows of early versions have a path without a root. Every root has these, until their next
    change adds the whole path. ``folder`` is None where files are not on this machine's disk:
    then paths are stored as they are.
    """

    def __init__(self, folder: str | None = None) -> None:
        """``folder``: with slashes, absolute, without links."""
        self._folder = None if folder is None else folder.rstrip("/") + "/"

    def whole(self, notebook: str) -> str:
        return notebook if self._folder is None else self._folder + notebook

    def relative(self, stored: str) -> str | None:
        """The path of a stored notebook on this server; None if it is outside the root. Without a
        root, the stored path."""
        if self._folder is None or not _WHOLE.match(stored):
            return stored
        return stored[len(self._folder) :] if stored.startswith(self._folder) else None


Rows = list[tuple[Any, ...]]

NOT_KEPT = Sentence("Conversations cannot be saved, so messages cannot be sent.")

_HOST = socket.gethostname()
_open_stores: set[str] = set()
"""Ids of the stores that are open in this process."""

REPLACED = Sentence("The journal's file was deleted or replaced while the server was running.")
USED_NOW = Sentence("The file now at its path is used instead.")


class JournalFile:
    """The file ``path``; its folder is created if missing.

    Opening raises nothing. If the file cannot be opened for writing, reads give what is
    readable, and ``warning`` names the fault. Every write tries to open it again and raises
    StoreError on failure.
    """

    def __init__(
        self,
        path: Path,
        scrub: Callable[[str], str] = lambda text: text,
        retention: Retention | None = None,
        root: str | None = None,
    ) -> None:
        """``root``: the folder that paths of notebooks are relative to (see ``Root``)."""
        self._scrub = scrub
        self._root = Root(root)
        self._path = path
        self._retention = retention or Retention()
        self._writing = threading.Lock()
        self._left_in_log = False
        """Whether the write-ahead log may hold deleted data."""
        self.writer: Writer | None = None
        """Where each commit waits for the drive."""
        self._notice = Sentence()
        """How the file was repaired."""
        self._server = uuid.uuid4().hex
        _open_stores.add(self._server)
        self._open()

    def _open(self) -> None:
        self._db, notice, self._fault = open_file(self._path)
        self._file = file_id(self._path)
        if self.writer is None and self._fault is None:
            mode = self._db.execute("PRAGMA journal_mode").fetchone()[0]
            self.writer = Writer(self._transaction) if mode == "delete" else None
        self._notice = notice or self._notice

    def _names(self, notebook: str) -> tuple[str, str]:
        """The names of a notebook in the tables: its whole path, which is written now, and the
        relative one."""
        return self._scrub(self._root.whole(notebook)), self._scrub(notebook)

    @property
    def warning(self) -> Sentence:
        """Why nothing can be written, or how the file was repaired; "" if all is well."""
        if self._fault is not None:
            return together(self._fault.message, NOT_KEPT)
        return self._notice

    def close(self) -> None:
        was_open = self._server in _open_stores
        if self.writer is not None:
            self.writer.close()
            self.writer = None
        _open_stores.discard(self._server)
        if was_open and self._fault is None:
            # A lease not released now expires soon: this process is ending.
            with suppress(StoreError), self._transaction():
                self._db.execute("DELETE FROM leases WHERE server = ?", (self._server,))
        self._db.close()

    @property
    def appends_later(self) -> bool:
        """Whether an append returns before its commit, for which ``settle`` waits."""
        return self.writer is not None

    async def settle(self, session_id: str = "") -> None:
        """Flush appended data to the disk (2 to 50 ms). On a network drive it also raises the
        error of an append of this session, because appends only wait for the drive here."""
        await asyncio.to_thread(self._settle, session_id)

    def _settle(self, session_id: str) -> None:
        if self._fault is None and file_id(self._path) != self._file:
            # Our file was replaced, and nobody would find new writes. The next write opens the
            # current file, or begins one.
            self._fault = StoreError("not_found", as_it_is(REPLACED))
            raise self._fault
        if self.writer is not None:
            self.writer.settle(session_id)
        sync_log(self._path)

    async def tidy(self) -> None:
        """Do slow periodic maintenance."""
        if self._fault is None:
            await asyncio.to_thread(self._tidy)

    def _tidy(self) -> None:
        self._left_in_log |= keep(self._path, self._retention, self._writing)
        self._left_in_log = fold_log(self._path, self._writing, empty=self._left_in_log)

    # --- leases: which server works on a session, where several share a journal -----------

    def take_lease(self, session_id: str) -> Sentence:
        """Reserve the session for this server until it releases the lease, does not renew it for
        ``LEASE_TIME``, or exits. If another server has it, return its name and change nothing."""
        with self._transaction():
            holder = self.holder(session_id)
            if not holder:
                self._db.execute(
                    "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)",
                    (session_id, self._server, _HOST, os.getpid(), time.time()),
                )
        if not holder and self.writer is not None:
            self.writer.begin(session_id)
        return holder

    def renew_lease(self, session_id: str) -> bool:
        """Call well within ``LEASE_TIME``. False if the lease is lost."""
        with self._transaction():
            renewed = self._db.execute(
                "UPDATE leases SET beat = ? WHERE session_id = ? AND server = ?",
                (time.time(), session_id, self._server),
            )
        return renewed.rowcount == 1

    @append
    def release_lease(self, session_id: str) -> None:
        with self._transaction():
            self._db.execute(
                "DELETE FROM leases WHERE session_id = ? AND server = ?",
                (session_id, self._server),
            )

    def holder(self, session_id: str) -> Sentence:
        """The name of the other server that works on the session now; "" if none does."""
        rows = self._rows(
            "SELECT server, host, pid, beat FROM leases WHERE session_id = ?", (session_id,)
        )
        for server, host, pid, beat in rows:
            if server != self._server and _is_live(server, host, pid, beat):
                return Sentence("{host} (process {pid})", host=host, pid=pid)
        return Sentence()

    # --- reading and writing -----------------------------------------------------------

    def _written(self, value: object) -> str:
        return self._scrub(msgspec.json.encode(value, enc_hook=in_english).decode())

    def _number(self, query: str, session_id: str) -> int:
        number: int = self._rows(query, (session_id,))[0][0]
        return number

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> Rows:
        self._drain()
        with in_words():
            return self._db.execute(query, values).fetchall()

    def _drain(self) -> None:
        """Wait for the writer, so that reads see all appends and one thread uses ``_db``."""
        if self.writer is not None and not self.writer.here:
            self.writer.drain()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing. Within another one of the writer's it is a part of that."""
        self._drain()
        if self.writer is not None and self.writer.here and self._db.in_transaction:
            yield
            return
        if self._fault is not None:
            self._reopen()
        with self._writing, in_words():
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _reopen(self) -> None:
        """Reopen the file: the disk may have room again, the folder may be writable."""
        was_replaced = self._fault is not None and self._fault.message == REPLACED
        self._db.close()
        self._open()
        if was_replaced and self._fault is None:
            self._notice = together(REPLACED, USED_NOW)
        if self._fault is not None:
            raise StoreError(self._fault.code, as_it_is(self.warning))


def read(data: str | bytes, kind: Any) -> Any:
    return reader(kind)(data)


@cache
def reader(kind: Any) -> Callable[[str | bytes], Any]:
    """A decoder to reuse: for a union of 30 structs, making one takes 0.1 ms, longer than reading
    an event. It raises StoreError ``damaged``."""
    decoder = msgspec.json.Decoder(kind, dec_hook=from_journal)

    def decode(data: str | bytes) -> Any:
        try:
            return decoder.decode(data)
        except msgspec.MsgspecError as error:
            words = Sentence("Cannot read an entry of the journal: {error}.", error=error)
            raise StoreError("damaged", words) from error

    return decode


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
        return True  # There ``os.kill`` would end it.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # It belongs to another user.
    return True
