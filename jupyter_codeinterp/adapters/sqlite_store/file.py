"""The journal's file: opened, checked, brought up to date; its faults in words."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ...core.errors import StoreError
from . import schema

_QUICKLY_CHECKED = 500_000
"""Bytes of a file that is checked in some 10 ms."""
_LOCK_WAIT = 0.5
"""Seconds. Another process holds the file for milliseconds; the event loop waits with us."""

# What SQLite says, the code, and what people are told.
_FAULTS = (
    ("full", "disk_full", "The disk is full: the conversation could not be saved."),
    ("readonly", "read_only", "The journal's file is read-only."),
    ("locked", "locked", "Another program keeps the journal's file locked."),
    ("malformed", "damaged", "The journal's file is damaged."),
    ("not a database", "damaged", "The journal's file is damaged."),
    ("unable to open", "not_found", "The journal's file cannot be opened."),
    ("FOREIGN KEY", "unknown_session", "The session is not in the journal."),
    ("UNIQUE", "repeated", "This number is in the journal already."),
)


def open_file(path: Path) -> tuple[sqlite3.Connection, str]:
    """The journal at ``path``, made if need be, and "" or what had to be done to it.

    A damaged file is set aside, not deleted, and a new one begun. Raises StoreError.
    """
    with in_words():
        _prepare(path)
        try:
            return _connect(path), ""
        except sqlite3.DatabaseError as error:
            if _fault(error).code != "damaged":
                raise
        warning = _set_aside(path)
        _prepare(path)
        return _connect(path), warning


def journal_mode(db: sqlite3.Connection) -> str:
    """Write-ahead logging, or ``delete`` where the file system cannot do it (NFS)."""
    mode: str = db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        mode = db.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    return mode


def sync_log(path: Path) -> None:
    """Wait until the disk has the write-ahead log. Without one, each append has waited."""
    log = path.with_name(f"{path.name}-wal")
    with in_words(), suppress(FileNotFoundError), log.open("rb") as file:
        os.fsync(file.fileno())


def fold_log(path: Path) -> None:
    """Bring the write-ahead log into the file, which lets it begin anew. Others may write
    meanwhile; what they are about to write stays in the log."""
    with in_words(), closing(sqlite3.connect(path, timeout=_LOCK_WAIT)) as db:
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def _wants_check(path: Path) -> bool:
    """A small file is checked always. A large one, whose check would hold up the server's
    start, only if its last writer has left without closing it."""
    left_open = path.with_name(f"{path.name}-wal").exists()
    return left_open or (path.exists() and path.stat().st_size < _QUICKLY_CHECKED)


def _connect(path: Path) -> sqlite3.Connection:
    wants_check = _wants_check(path)
    db = sqlite3.connect(path, timeout=_LOCK_WAIT, isolation_level=None)
    try:
        journal_mode(db)
        db.execute("PRAGMA synchronous=NORMAL")
        # SQLite would fold the log into the file in the middle of an append, which then
        # waits for the disk: 50 ms and more. `fold_log` does it.
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute("PRAGMA foreign_keys=ON")
        if wants_check and db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("malformed")
        schema.migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(path: Path) -> None:
    """Folder and file for their owner only: SQLite gives its side files the same mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def _set_aside(path: Path) -> str:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    path.rename(aside)
    for suffix in ("-wal", "-shm"):
        side = path.with_name(path.name + suffix)
        if side.exists():
            side.rename(aside.with_name(aside.name + suffix))
    return (
        "The journal of earlier conversations was damaged. It is kept as "
        f"{aside.name}; a new one has been started."
    )


@contextmanager
def in_words() -> Iterator[None]:
    """Faults of the file as StoreError; faults of the program stay what they are."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise
    except (sqlite3.Error, OSError) as error:
        raise _fault(error) from error


def _fault(error: Exception) -> StoreError:
    for said, code, words in _FAULTS:
        if said in str(error):
            return StoreError(code, words)
    return StoreError("disk_error", f"The journal could not be read or written: {error}.")
