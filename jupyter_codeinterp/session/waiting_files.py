"""Waiting files: written by a sandboxed kernel into an overlay, not into the notebook's folder.

A person keeps them (copies them into the folder) or discards them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

import msgspec

from ..base.errors import CommandError, KernelError
from ..base.sentences import Sentence
from ..run.turn.files import MOST, OverlayFiles, is_plain
from ..wire.events import FileLeft, FilesKept
from ..wire.ports import Overlay, WaitingFile
from .log import SessionLog

LISTED = 500
"""Maximum number of files in a list, and of files kept at once."""
NAMED = 100
"""Files that an event names."""
HEAD = 10_000
"""Bytes of a preview."""
NOT_TEXT = Sentence("This file is not text.")
NO_OVERLAY = "This notebook's kernel writes into the folder itself: no files wait."

log = logging.getLogger(__name__)


class WaitingList(msgspec.Struct, frozen=True):
    """``left_out``: number of files that are not listed, because there are more than 500, or their
    names cannot be shown."""

    files: tuple[WaitingFile, ...] = ()
    left_out: int = 0


class WaitingText(msgspec.Struct, frozen=True):
    """The beginning of a waiting file, or ``why`` it cannot be shown."""

    text: str = ""
    why: Sentence = msgspec.field(default_factory=Sentence)


class WaitingFiles:
    def __init__(self, session: SessionLog, scrub: Callable[[str], str]) -> None:
        self._session = session
        self._scrub = scrub

    async def begin_turn(self, turn: int) -> None:
        """Note which files wait. Never fails."""
        try:
            overlay = await self._overlay()
            if overlay is not None:
                await overlay.begin_turn(self._key(turn))
        except Exception:
            log.exception("Could not list the files that wait")

    async def end_turn(self, turn: int) -> OverlayFiles:
        """The turn's changes in the overlay. Never fails."""
        try:
            overlay = await self._overlay()
            if overlay is None:
                return OverlayFiles()
            changed = await overlay.end_turn(self._key(turn))
            named = [path for path in changed if self._shows(path)][:MOST]
            return OverlayFiles(len(changed), tuple(named), overlay=True)
        except Exception:
            log.exception("Could not look at the files that wait")
            return OverlayFiles(overlay=True)

    async def list(self) -> WaitingList:
        """The waiting files. Raises KernelError."""
        overlay = await self._overlay()
        if overlay is None:
            return WaitingList()
        found = await overlay.files()
        shown = [one for one in found if self._shows(one.path)][:LISTED]
        return WaitingList(tuple(shown), len(found) - len(shown))

    async def text(self, path: str) -> WaitingText:
        """The beginning of a waiting file. Raises CommandError ``no_overlay``."""
        try:
            data = await (await self._need_overlay()).head(path, HEAD + 1)
        except KernelError as error:
            return WaitingText(why=error.message)
        if b"\0" in data:
            return WaitingText(why=NOT_TEXT)
        more = "\n…" if len(data) > HEAD else ""
        return WaitingText(self._scrub(data[:HEAD].decode("utf-8", "replace")) + more)

    async def keep(
        self, stamps: Mapping[str, str], window: int = 0, *, discard: bool = False
    ) -> None:
        """Copy these files into the folder, or discard them, each in the state of its stamp. Raises
        CommandError ``busy``, ``no_overlay``, ``too_many_files`` or ``held_elsewhere``, and
        KernelError."""
        if len(stamps) > LISTED:
            words = "Choose at most {limit} files at once."
            raise CommandError("too_many_files", words, limit=LISTED)
        with self._session.alone():
            overlay = await self._need_overlay()
            done, left = await (overlay.discard if discard else overlay.keep)(stamps)
            bounded = self._bounded(done, left)
            self._session.show(FilesKept(*bounded, window=window, discarded=discard))

    async def _overlay(self) -> Overlay | None:
        try:
            return await self._session.workplace.kernel.overlay()
        except KernelError:
            return None

    async def _need_overlay(self) -> Overlay:
        overlay = await self._overlay()
        if overlay is None:
            raise CommandError("no_overlay", NO_OVERLAY)
        return overlay

    def _key(self, turn: int) -> str:
        return f"{self._session.info.session_id}/{turn}"

    def _shows(self, path: str) -> bool:
        return is_plain(path) and self._scrub(path) == path

    def _bounded(
        self, done: Iterable[str], left: Iterable[tuple[str, Sentence]]
    ) -> tuple[tuple[str, ...], tuple[FileLeft, ...], int]:
        """Both bounded for an event, and the number of files left out."""
        all_done, all_left = list(done), list(left)
        files = [path for path in all_done if self._shows(path)][:NAMED]
        kept = [FileLeft(path, why) for path, why in all_left if self._shows(path)][:NAMED]
        more = len(all_done) - len(files) + len(all_left) - len(kept)
        return tuple(files), tuple(kept), more
