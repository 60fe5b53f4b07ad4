"""Remembers on disk which runs nobody but this server follows, so that the next one can tell
people whose outputs were lost with it.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

import msgspec

from ...core.document.ops import digest

LOST = (
    "The Jupyter server stopped while a cell of yours ran. The outputs that came after its page "
    "had closed are lost."
)

log = logging.getLogger(__name__)


class _Record(msgspec.Struct, frozen=True):
    notebook: str
    msg_id: str
    host: str
    pid: int


class LostRuns:
    """A small file for each run, in a folder that several servers may share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note(self, notebook: str, msg_id: str) -> None:
        record = _Record(notebook, msg_id, socket.gethostname(), os.getpid())
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file(msg_id).write_bytes(msgspec.json.encode(record))
        except OSError as error:
            log.warning("Could not note that a run goes on without its page: %s", error)

    def forget(self, msg_id: str) -> None:
        with suppress(OSError):
            self._file(msg_id).unlink(missing_ok=True)

    def take(self, notebook: str, known: Container[str]) -> bool:
        """Whether runs in this notebook were lost with their server. Forgets them. ``known`` are
        this server's own runs."""
        lost = [
            record
            for record in self._records()
            if record.notebook == notebook and not _is_live(record, known)
        ]
        for record in lost:
            self.forget(record.msg_id)
        return bool(lost)

    def _records(self) -> list[_Record]:
        found = []
        for path in self._folder.glob("*.json"):
            with suppress(OSError, msgspec.MsgspecError):
                found.append(msgspec.json.decode(path.read_bytes(), type=_Record))
        return found

    def _file(self, msg_id: str) -> Path:
        # A window chooses the id: it must not be a path.
        return self._folder / f"{digest(msg_id)}.json"


def _is_live(record: _Record, known: Container[str]) -> bool:
    """Whether the record's server still runs. In containers, different servers may have the same
    process id."""
    if record.host != socket.gethostname():
        return False
    if record.pid == os.getpid():
        return record.msg_id in known
    if os.name == "nt":
        return True  # Asking would interrupt it.
    try:
        os.kill(record.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # It belongs to another user.
    return True
