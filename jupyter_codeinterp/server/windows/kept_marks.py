"""The marks of stale cells on disk, so that a restart of the server does not lose them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from ...core.document.ops import digest

MOST_FILES = 500
"""Notebooks. With more, those that changed longest ago are forgotten."""
MOST_BYTES = 1_000_000

log = logging.getLogger(__name__)


class Mark(msgspec.Struct, frozen=True):
    """As in ``StaleCell``. ``source`` is the digest of the cell's source at that time."""

    reason: str
    marked: bool
    source: str


class _Kept(msgspec.Struct, frozen=True):
    cells: dict[str, Mark] = {}


class KeptMarks:
    """A small file for each notebook that has any. ``root`` tells servers of different folders
    apart."""

    def __init__(self, folder: Path, root: str = "") -> None:
        self._folder = folder
        self._root = root

    def load(self, notebook: str) -> dict[str, Mark]:
        """By cell; nothing if there is no such file, or it cannot be read."""
        file = self._file(notebook)
        try:
            if not file.exists() or file.stat().st_size > MOST_BYTES:
                return {}
            return msgspec.json.decode(file.read_bytes(), type=_Kept).cells
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("Could not read the stale cells of %s: %s", notebook, error)
            return {}

    def save(self, notebook: str, marks: Mapping[str, Mark]) -> None:
        file = self._file(notebook)
        try:
            if not marks:
                file.unlink(missing_ok=True)
                return
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not file.exists():
                self._make_room()
            file.write_bytes(msgspec.json.encode(_Kept(dict(marks))))
        except OSError as error:
            log.warning("Could not keep the stale cells of %s: %s", notebook, error)

    def _make_room(self) -> None:
        files = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for old in files[: max(0, len(files) - MOST_FILES + 1)]:
            with suppress(OSError):  # Another server was quicker.
                old.unlink()

    def _file(self, notebook: str) -> Path:
        return self._folder / f"{digest(f'{self._root}/{notebook}')}.json"
