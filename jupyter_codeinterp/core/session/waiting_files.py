"""Files that wait outside of the notebook's folder: a sandboxed kernel wrote them into an overlay.

A person keeps them, which copies them into the folder; or undoes what a turn did to them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

import msgspec

from ..errors import CommandError, KernelError
from ..events import FileLeft, FilesKept, FilesPutBack
from ..history.review import FilesOffer, TurnFiles
from ..ports import Overlay, WaitingFile
from ..turn.files import OverlayFiles, is_plain
from .persistence import PersistentSession

LISTED = 500
"""Files of a list, and at most kept at once."""
NAMED = 100
"""Files that an event names."""
NO_OVERLAY = "This notebook's kernel writes into the folder itself: no files wait."

log = logging.getLogger(__name__)


class WaitingList(msgspec.Struct, frozen=True):
    """``left_out`` counts files that are not listed: there are more than 500, or their names cannot
    be shown as they are."""

    files: tuple[WaitingFile, ...] = ()
    left_out: int = 0


class WaitingFiles:
    def __init__(self, session: PersistentSession, scrub: Callable[[str], str]) -> None:
        self._session = session
        self._scrub = scrub

    async def begin_turn(self, turn: int) -> None:
        """Remember the files as they wait, so that an undo can put them back. Never fails."""
        try:
            overlay = await self._overlay()
            if overlay is not None:
                await overlay.begin_turn(self._key(turn))
        except Exception:
            # The turn goes on all the same.
            log.exception("Could not keep the files that wait")

    async def end_turn(self, turn: int) -> OverlayFiles:
        """What the turn has changed in the overlay. Never fails."""
        try:
            overlay = await self._overlay()
            if overlay is None:
                return OverlayFiles()
            return OverlayFiles(await overlay.end_turn(self._key(turn)), overlay=True)
        except Exception:
            # The turn ends all the same.
            log.exception("Could not look at the files that wait")
            return OverlayFiles(0, overlay=True)

    async def list(self) -> WaitingList:
        """Raises KernelError."""
        overlay = await self._overlay()
        if overlay is None:
            return WaitingList()
        found = await overlay.files()
        shown = [one for one in found if self._shows(one.path)][:LISTED]
        return WaitingList(tuple(shown), len(found) - len(shown))

    async def keep(self, stamps: Mapping[str, str], window: int = 0) -> None:
        """Copy these files into the folder, each in the state of its stamp. Raises CommandError
        ``busy``, ``no_overlay``, ``too_many_files`` or ``held_elsewhere``, and KernelError."""
        if len(stamps) > LISTED:
            raise CommandError("too_many_files", f"Keep at most {LISTED} files at once.")
        with self._session.alone():
            done, left = await (await self._need_overlay()).keep(stamps)
            self._session.show(FilesKept(*self._bounded(done, left), window=window))

    async def offers(self, turn: int) -> TurnFiles | None:
        """What an undo and a redo of the turn can do with files; None without an overlay."""
        overlay = await self._overlay()
        if overlay is None:
            return None
        try:
            undo, redo = await overlay.offers(self._key(turn))
        except KernelError as error:
            return TurnFiles(why=error.message)
        return TurnFiles(FilesOffer(*self._bounded(*undo)), FilesOffer(*self._bounded(*redo)))

    async def put_back(self, turn: int, window: int = 0, *, redo: bool = False) -> None:
        """Undo what the turn did to files, or redo what an undo took back. The event says where
        that cannot be."""
        try:
            overlay = await self._need_overlay()
            bring = overlay.redo if redo else overlay.put_back
            done, left = await bring(self._key(turn))
        except (CommandError, KernelError) as error:
            # A redo that failed can be tried again.
            event = FilesPutBack(turn, why=error.message, window=window, redone=redo, redoable=redo)
        else:
            bounded = self._bounded(done, left)
            event = FilesPutBack(
                turn, *bounded, window=window, redone=redo, redoable=bool(done) and not redo
            )
        self._session.show(event)

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
        self, done: Iterable[str], left: Iterable[tuple[str, str]]
    ) -> tuple[tuple[str, ...], tuple[FileLeft, ...], int]:
        """Both as an event names them, and how many it does not name."""
        all_done, all_left = list(done), list(left)
        files = [path for path in all_done if self._shows(path)][:NAMED]
        kept = [FileLeft(path, why) for path, why in all_left if self._shows(path)][:NAMED]
        more = len(all_done) - len(files) + len(all_left) - len(kept)
        return tuple(files), tuple(kept), more
