"""The journal's file: opening, checking, migrating; its faults in words."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ...base.errors import StoreError
from ...base.sentences import Sentence, as_it_is
from . import schema

_QUICKLY_CHECKED = 500_000
"""Bytes of a file whose check takes some 10 ms."""
_LONGEST_LOG = 16_000_000
"""Bytes to which a checkpoint cuts the write-ahead log."""
LOCK_WAIT = 0.5
"""Seconds. Other processes lock the file for milliseconds; the event loop waits with us."""

_NETWORK = frozenset({
    0x6969, 0x517B, 0xFF534D42, 0xFE534D42, 0x01021997, 0x65735546, 0x00C36400, 0x0BD00BD0,
    0x47504653, 0x5346414F, 0x19830326, 0x7461636F, 0x01161970,
})  # fmt: skip
"""Linux's numbers: NFS, SMB (3), 9P, FUSE, Ceph, Lustre, GPFS, AFS, BeeGFS, OCFS2, GFS2."""

# (part of SQLite's message, our code, our message)
_FAULTS = (
    ("full", "disk_full", Sentence("The disk is full. The conversation could not be saved.")),
    ("readonly", "read_only", Sentence("The journal's file is read-only.")),
    ("locked", "locked", Sentence("Another program has locked the journal's file.")),
    ("malformed", "damaged", Sentence("The journal's file is damaged.")),
    ("not a database", "damaged", Sentence("The journal's file is damaged.")),
    ("unable to open", "not_found", Sentence("Could not open the journal's file.")),
    ("FOREIGN KEY", "unknown_session", Sentence("The journal does not have this session.")),
    ("UNIQUE", "repeated", Sentence("The journal already has this number.")),
)


class OpenedJournal(NamedTuple):
    """``notice``: how the file was repaired, or "". ``fault``: why ``db`` is read-only; it
    then holds what can be read."""

    db: sqlite3.Connection
    notice: Sentence
    fault: StoreError | None


def open_file(path: Path) -> OpenedJournal:
    """Open or create the journal at ``path``. Always returns a database that can be read.

    A damaged file is moved aside, not deleted, and a new one begun.
    """
    try:
        with in_words():
            db, notice = _open_or_begin(path)
            return OpenedJournal(db, notice, None)
    except StoreError as fault:
        return OpenedJournal(_open_read_only(path), Sentence(), fault)


def _open_or_begin(path: Path) -> tuple[sqlite3.Connection, Sentence]:
    _prepare(path)
    try:
        db = _connect(path)
    except sqlite3.DatabaseError as error:
        if _fault(error).code != "damaged":
            raise
        notice = _move_aside(path)
        _prepare(path)
        return _connect(path), notice
    return db, Sentence()


def connect(path: Path) -> sqlite3.Connection:
    """Another connection to an open journal, for a thread."""
    db = sqlite3.connect(path, timeout=LOCK_WAIT, isolation_level=None)
    try:
        _set_up(db, db.execute("PRAGMA journal_mode").fetchone()[0])
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def step(db: sqlite3.Connection, writing: threading.Lock) -> Iterator[None]:
    """A short transaction of a thread on a connection of its own. Writers of this process hold
    ``writing``, so that the event loop waits for one step at most."""
    with writing, db:
        db.execute("BEGIN IMMEDIATE")
        yield


def _set_up(db: sqlite3.Connection, mode: str) -> None:
    db.execute("PRAGMA foreign_keys=ON")
    # Deleted data must be nowhere in the file.
    db.execute("PRAGMA secure_delete=ON")
    db.execute(f"PRAGMA journal_size_limit={_LONGEST_LOG}")
    # Without a write-ahead log, each append waits for the disk.
    db.execute(f"PRAGMA synchronous={'NORMAL' if mode == 'wal' else 'FULL'}")
    # SQLite would checkpoint in the middle of an append, which then waits for the disk: 50 ms and
    # more. `fold_log` does it instead.
    db.execute("PRAGMA wal_autocheckpoint=0")


def journal_mode(db: sqlite3.Connection, path: Path) -> str:
    """Write-ahead logging, or ``delete`` where the file system cannot do it. Servers on two
    machines would share no memory, and damage the file: so not on a network drive."""
    for mode in ("WAL", "DELETE")[_kind_of_file_system(path.parent) in _NETWORK :]:
        found: str = db.execute(f"PRAGMA journal_mode={mode}").fetchone()[0]
        if found == "wal":
            break
    return found


def _kind_of_file_system(folder: Path) -> int:
    """Linux's number for the file system; 0 on other systems."""
    # The C structure ``statfs`` has 120 bytes; the number is its first field.
    about = ctypes.create_string_buffer(512)
    if sys.platform != "linux" or ctypes.CDLL(None).statfs(bytes(folder), about) != 0:
        return 0
    return ctypes.c_long.from_buffer(about).value & 0xFFFFFFFF


def sync_log(path: Path) -> None:
    """Wait until the write-ahead log is on the disk; without a log, each append has waited."""
    log = path.with_name(f"{path.name}-wal")
    with in_words(), suppress(FileNotFoundError), log.open("r+b") as file:  # Windows syncs no other
        os.fsync(file.fileno())


def file_id(path: Path) -> tuple[int, int] | None:
    """Identifies the file, even if another takes its place; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def fold_log(path: Path, writing: threading.Lock, empty: bool) -> bool:
    """Checkpoint the write-ahead log, so that it restarts; ``empty``: also truncate it. Return
    whether that failed, because others read the log."""
    left = False
    with in_words(), closing(connect(path)) as db:
        # Others may write meanwhile; their writes stay in the log.
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if empty:
            db.execute("PRAGMA busy_timeout=0")
            with writing:  # Little is left to checkpoint: milliseconds.
                left = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] != 0
            db.execute(f"PRAGMA busy_timeout={int(LOCK_WAIT * 1_000)}")
        # The first write to a log waits for the disk, so it should be no append.
        db.execute("PRAGMA application_id=0")
    return left


def _wants_check(path: Path) -> bool:
    """Always check a small file. A large one, whose check would delay the server's start, only
    if its last writer did not close it."""
    left_open = path.with_name(f"{path.name}-wal").exists()
    return left_open or (path.exists() and path.stat().st_size < _QUICKLY_CHECKED)


def _connect(path: Path) -> sqlite3.Connection:
    wants_check = _wants_check(path)
    db = sqlite3.connect(path, LOCK_WAIT, isolation_level=None, check_same_thread=False)
    try:
        if path.stat().st_size == 0:  # Lets `retention` shrink the file step by step.
            db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        if wants_check and db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("malformed")
        schema.known_version(db)  # Before a file of another version is changed.
        _set_up(db, journal_mode(db, path))
        schema.migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _open_read_only(path: Path) -> sqlite3.Connection:
    """Open the journal read-only if possible; else an empty one."""
    log = path.with_name(f"{path.name}-wal")
    # In a read-only folder, SQLite reads a file without a log only as immutable.
    for how in ("mode=ro", "immutable=1"):
        try:
            if how == "immutable=1" and log.exists() and log.stat().st_size:
                break
            name = f"{path.absolute().as_uri()}?{how}"
            db = sqlite3.connect(name, uri=True, timeout=LOCK_WAIT, isolation_level=None)
        except (sqlite3.Error, OSError):
            continue
        try:
            if schema.known_version(db) == schema.VERSION:
                return db
        except (sqlite3.Error, StoreError):
            pass
        db.close()
    db = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(db)
    db.execute("PRAGMA query_only=ON")
    return db


def _prepare(path: Path) -> None:
    """Make folder and file owner-only: SQLite gives its side files the same mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def _move_aside(path: Path) -> Sentence:
    stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9}"
    damaged = path.with_name(f"{path.name}.damaged-{stamp}")
    path.rename(damaged)
    for side in (path.with_name(path.name + end) for end in ("-wal", "-shm")):
        if side.exists():
            side.rename(damaged.with_name(damaged.name + side.name[len(path.name) :]))
    return Sentence(
        "The journal of earlier conversations was damaged. It was renamed to {name}, and a new "
        "journal was started.",
        name=damaged.name,
    )


@contextmanager
def in_words() -> Iterator[None]:
    """Turn file errors into StoreError; let program errors pass."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise
    except (sqlite3.Error, OSError) as error:
        raise _fault(error) from error


def _fault(error: Exception) -> StoreError:
    text = str(error)
    for part, code, words in _FAULTS:
        if part in text:
            return StoreError(code, as_it_is(words))
    why = error.strerror if isinstance(error, OSError) else error
    return StoreError("disk_error", "Could not read or write the journal: {why}.", why=why)
