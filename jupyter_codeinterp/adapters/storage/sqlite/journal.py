"""The journal as a file to read from and write to, without what is in it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ....core.errors import StoreError
from . import mark
from .file import file_id, fold_log, in_words, open_file, sync_log
from .retention import Retention, keep

Rows = list[tuple[Any, ...]]

NOT_KEPT = "Conversations cannot be kept, so no message can be sent."

REPLACED = "The journal's file was deleted or replaced while the server was running."


class Journal:
    """The file ``path``; its folder is made if need be.

    Opening raises nothing. Where the file cannot be opened for writing, what can be read is
    read, ``warning`` says what is wrong, and every write tries to open it again and raises
    StoreError if that fails.
    """

    def __init__(
        self,
        path: Path,
        scrub: Callable[[str], str] = lambda text: text,
        retention: Retention | None = None,
    ) -> None:
        self._scrub = scrub
        self._path = path
        self._retention = retention or Retention()
        self._writing = threading.Lock()
        self._newest: mark.Mark | None = None
        """The last event that was appended."""
        self._open()

    def _open(self) -> None:
        self._db, told, self._fault = open_file(self._path)
        self._file = file_id(self._path)
        if told:
            self._notify(told)

    @property
    def warning(self) -> str:
        """ "" or why nothing can be written, in words."""
        return f"{self._fault.message} {NOT_KEPT}" if self._fault is not None else ""

    def close(self) -> None:
        self._db.close()

    async def settle(self) -> None:
        await asyncio.to_thread(self._settle)

    def _settle(self) -> None:
        if self._fault is None and file_id(self._path) != self._file:
            # What is written goes to a file that nobody will find. The next write opens
            # the one that is there, or begins one.
            self._fault = StoreError("not_found", REPLACED)
            raise self._fault
        sync_log(self._path, self._newest)

    async def tidy(self) -> None:
        if self._fault is None:
            await asyncio.to_thread(self._tidy)

    def _tidy(self) -> None:
        keep(self._path, self._retention, self._writing)
        fold_log(self._path)

    def _forget(self, session_id: str) -> None:
        """The session is deleted: its absence is no loss."""
        if self._newest is not None and self._newest.session_id == session_id:
            self._newest = None
        with in_words():
            mark.forget(self._path, session_id)

    # --- what a person is told until they have read it ---------------------------------

    def notices(self) -> dict[int, str]:
        """By number. They outlive the server."""
        return dict(self._rows("SELECT id, text FROM notices ORDER BY id"))

    def dismiss(self, notice: int) -> None:
        with self._transaction():
            self._db.execute("DELETE FROM notices WHERE id = ?", (notice,))

    def _notify(self, text: str) -> None:
        with self._transaction():
            self._db.execute("INSERT INTO notices (text) VALUES (?)", (text,))

    # --- reading and writing -----------------------------------------------------------

    def _written(self, value: object) -> str:
        return self._scrub(msgspec.json.encode(value).decode())

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> Rows:
        with in_words():
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing."""
        if self._fault is not None:
            self._try_again()
        with self._writing, in_words():
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _try_again(self) -> None:
        """The disk may have room by now, the folder may be writable."""
        was_replaced = self._fault is not None and self._fault.message == REPLACED
        self._db.close()
        self._open()
        if was_replaced and self._fault is None:
            self._notify(f"{REPLACED} From now on the file that is there is used.")
        if self._fault is not None:
            raise StoreError(self._fault.code, self.warning)
