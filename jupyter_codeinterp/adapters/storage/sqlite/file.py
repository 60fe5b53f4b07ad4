"""The journal's file: opened, checked, brought up to date; its faults in words."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ....core.errors import StoreError
from . import mark, schema

_QUICKLY_CHECKED = 500_000
"""Bytes of a file that is checked in some 10 ms."""
_QUICKLY_REBUILT = 5_000_000
"""Bytes of a file that is written anew in some 50 ms."""
_LONGEST_LOG = 16_000_000
"""Bytes to which a write-ahead log that has been folded in is cut."""
LOCK_WAIT = 0.5
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
# The same for what the operating system says.
_SYSTEM_FAULTS = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EFBIG: "full",
    errno.EROFS: "readonly",
    errno.EACCES: "readonly",
    errno.EPERM: "readonly",
    errno.EEXIST: "unable to open",
    errno.ENOTDIR: "unable to open",
    errno.EISDIR: "unable to open",
    errno.ENOENT: "unable to open",
}


class Opened(NamedTuple):
    """``told`` is "" or what had to be done to the file. ``fault`` is why ``db`` is for
    reading only: then it is the file as far as it can be read, or nothing."""

    db: sqlite3.Connection
    told: str
    fault: StoreError | None


def open_file(path: Path) -> Opened:
    """The journal at ``path``, made if need be. Always gives something to read from.

    A damaged file is set aside, not deleted, and a new one begun.
    """
    try:
        with in_words():
            db, told = _open_or_begin(path)
            return Opened(db, told, None)
    except StoreError as fault:
        return Opened(_to_read(path), "", fault)


def _open_or_begin(path: Path) -> tuple[sqlite3.Connection, str]:
    _prepare(path)
    try:
        db = _connect(path)
    except sqlite3.DatabaseError as error:
        if _fault(error).code != "damaged":
            raise
        told = _set_aside(path)
        _prepare(path)
        return _connect(path), told
    return db, mark.missing(path, db)


def journal_mode(db: sqlite3.Connection) -> str:
    """Write-ahead logging, or ``delete`` where the file system cannot do it (NFS)."""
    mode: str = db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        mode = db.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    return mode


def sync_log(path: Path, last: mark.Mark | None = None) -> None:
    """Wait until the disk has the write-ahead log. Without one, each append has waited.
    ``last`` is what the log holds, to be found again when the file is opened."""
    log = path.with_name(f"{path.name}-wal")
    with in_words():
        with suppress(FileNotFoundError), log.open("rb") as file:
            os.fsync(file.fileno())
        if last is not None:
            mark.write(path, last)


def file_id(path: Path) -> tuple[int, int] | None:
    """What tells the file from another one at the same place; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def fold_log(path: Path) -> None:
    """Bring the write-ahead log into the file, which lets it begin anew. Others may write
    meanwhile; what they are about to write stays in the log."""
    with in_words(), closing(sqlite3.connect(path, timeout=LOCK_WAIT)) as db:
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def _wants_check(path: Path) -> bool:
    """A small file is checked always. A large one, whose check would hold up the server's
    start, only if its last writer has left without closing it."""
    left_open = path.with_name(f"{path.name}-wal").exists()
    return left_open or (path.exists() and path.stat().st_size < _QUICKLY_CHECKED)


def _connect(path: Path) -> sqlite3.Connection:
    wants_check = _wants_check(path)
    db = sqlite3.connect(path, timeout=LOCK_WAIT, isolation_level=None)
    try:
        _give_back_free_space(db, path)
        # Without a log to sync at the right moments, each append waits for the disk.
        wait = "NORMAL" if journal_mode(db) == "wal" else "FULL"
        db.execute(f"PRAGMA synchronous={wait}")
        # SQLite would fold the log into the file in the middle of an append, which then
        # waits for the disk: 50 ms and more. `fold_log` does it.
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute(f"PRAGMA journal_size_limit={_LONGEST_LOG}")
        db.execute("PRAGMA foreign_keys=ON")
        if wants_check and db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("malformed")
        schema.migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _give_back_free_space(db: sqlite3.Connection, path: Path) -> None:
    """Let the file shrink step by step when something is deleted (``retention``). This can
    be set in an empty file, or in one that is written anew; not in a large one, then."""
    if db.execute("PRAGMA auto_vacuum").fetchone()[0] == 0:
        db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        small = 0 < path.stat().st_size < _QUICKLY_REBUILT
        if small and _version(db) <= len(schema.MIGRATIONS):
            # Another server may be at work: then some other time.
            with suppress(sqlite3.OperationalError):
                db.execute("VACUUM")


def _to_read(path: Path) -> sqlite3.Connection:
    """The journal for reading only, as far as that goes; else one in which nothing is."""
    log = path.with_name(f"{path.name}-wal")
    # Without a folder to write in, SQLite reads a file with no log only if it is told that
    # nobody changes it.
    for how in ("mode=ro", "immutable=1"):
        try:
            if how == "immutable=1" and log.exists() and log.stat().st_size:
                break
            name = f"{path.absolute().as_uri()}?{how}"
            db = sqlite3.connect(name, uri=True, timeout=LOCK_WAIT, isolation_level=None)
        except (sqlite3.Error, OSError):
            continue
        try:
            if _version(db) == len(schema.MIGRATIONS):
                return db
        except sqlite3.Error:
            pass
        db.close()
    db = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(db)
    db.execute("PRAGMA query_only=ON")
    return db


def _version(db: sqlite3.Connection) -> int:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version


def _prepare(path: Path) -> None:
    """Folder and file for their owner only: SQLite gives its side files the same mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def _set_aside(path: Path) -> str:
    aside = _free_name(path)
    path.rename(aside)
    for side in (*(path.with_name(path.name + end) for end in ("-wal", "-shm")), mark.of(path)):
        if side.exists():
            side.rename(aside.with_name(aside.name + side.name[len(path.name) :]))
    return (
        "The journal of earlier conversations was damaged. It is kept as "
        f"{aside.name}; a new one has been started."
    )


def _free_name(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside, number = path.with_name(f"{path.name}.damaged-{stamp}"), 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    return aside


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
    text = str(error)
    if isinstance(error, OSError) and error.errno in _SYSTEM_FAULTS:
        text = _SYSTEM_FAULTS[error.errno]
    for said, code, words in _FAULTS:
        if said in text:
            return StoreError(code, words)
    why = error.strerror if isinstance(error, OSError) else error
    return StoreError("disk_error", f"The journal could not be read or written: {why}.")
