"""Works in the room of a shared notebook, frame by frame, as a window does in its copy.

The server closes a room some time after the last person has left. Unsaved changes may be lost.
The notebook's next room is a new document: it gets the ops that it lacks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, Union

from ...base.errors import DocumentError
from ...base.sentences import Sentence
from ...wire.commands import (
    OpFrame,
    OpReceipt,
    OutputsFrame,
    ReadNotebook,
    ServerFrame,
    SnapshotTaken,
)
from ...wire.ops import Cell, CellView
from ..content import views
from . import server_ydoc
from .saves import Autosave, SavedNotebook, Saves
from .server_ydoc import NOT_LOADED, NOT_OPENED, RoomClosed, ServerYDoc, YDocRoom
from .shared import ORIGIN, SharedNotebook

log = logging.getLogger(__name__)

BROKEN = "Cannot work in the shared notebook. See the server's log for the reason."
PART = 50
"""Cells read in one step, which takes some milliseconds."""
TRIES = 3
PAUSE = 0.01
"""Seconds between looks at a document that is being loaded."""


class FindCell(NamedTuple):
    """Request: check that the notebook has this cell."""

    cell_id: str


class LookAtRoom(NamedTuple):
    """Request: check that the room and the file still exist. A new room gets missing ops."""


Work = Union[OpFrame, ReadNotebook, OutputsFrame, FindCell, LookAtRoom]


class RoomNotebook(SavedNotebook, Protocol):
    """Sends ops and reads to the room, and gets the answers."""

    async def is_elsewhere(self, path: str) -> bool:
        """For a missing file: whether the notebook has a new path, or gets one in a moment."""

    def receive(self, window: RoomDocument, command: OpReceipt) -> None: ...

    def answer(self, window: RoomDocument, command: SnapshotTaken) -> None: ...

    def reopened(self, window: RoomDocument, applied: Mapping[str, int]) -> None:
        """The room is a new one, and holds only the ops ``applied``."""

    def changed_by_others(self, window: RoomDocument) -> None:
        """A person, or another program, has changed the notebook."""

    def cells_gone(self, cell_ids: frozenset[str]) -> None:
        """People have deleted these cells."""

    def lost(self, reason: str, gone: bool = False) -> None:
        """The room cannot be used; ``gone``: the notebook does not exist."""


class RoomDocument:
    def __init__(
        self,
        notebook: RoomNotebook,
        rooms: ServerYDoc,
        look: Callable[[], Awaitable[tuple[str, dict[str, int]]]],
    ) -> None:
        """``look`` reads the version of the notebook's file, and the ops that it holds."""
        self._look = look
        self._notebook = notebook
        self._rooms = rooms
        self._room: YDocRoom | None = None
        self._path = ""
        """The notebook's path when its room was opened."""
        self._shared: SharedNotebook | None = None
        self._untrusted: set[str] = set()
        self._frames: asyncio.Queue[Work] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None
        self._saves = Saves(
            notebook,
            rooms,
            look,
            self._applied,
            lambda: self._frames.put_nowait(LookAtRoom()),
        )
        self._autosave: Autosave | None = None
        self._stop_listening: Callable[[], None] = lambda: None

    async def open(self, cells: Mapping[str, str]) -> tuple[dict[str, int], str]:
        """The ops that the room holds, and no remark. Raises DocumentError."""
        await self._rooms.check(self._notebook.path)
        try:
            applied = await self._enter()
        except BaseException:
            self._leave()
            raise
        self._worker = asyncio.ensure_future(self._work())
        return applied, ""

    def _applied(self) -> dict[str, int]:
        assert self._shared is not None
        return self._shared.applied

    async def close(self) -> None:
        """Leave the room. Each op is applied and answered in one step, so none is half done."""
        self._leave()
        if self._worker is not None:
            self._worker.cancel()
        await asyncio.sleep(0)  # cancelled tasks end

    async def look(self) -> tuple[str, dict[str, int]]:
        """The version of the notebook's file, and the ops that it holds. Raises DocumentError."""
        return await self._look()

    def look_for(self, cell_id: str) -> None:
        """A page misses this cell: report the cell as gone if the room lacks it, too."""
        self._frames.put_nowait(FindCell(cell_id))

    def send(self, frame: ServerFrame) -> None:
        if isinstance(frame, (OpFrame, ReadNotebook, OutputsFrame)):
            self._frames.put_nowait(frame)

    # --- work ------------------------------------------------------------------------

    async def _work(self) -> None:
        while True:
            frame = await self._frames.get()
            try:
                if not self._is_open and await self._enter_anew():
                    continue
                await self._carry_out(frame)
            except RoomClosed:
                self._frames.put_nowait(LookAtRoom())
            except DocumentError as error:
                if not await self._may_be_found(error):
                    return self._lose(error)
                self._frames.put_nowait(frame)
            except Exception:
                log.exception("Cannot work in the room of %s", self._notebook.path)
                return self._lose(DocumentError("unreadable", BROKEN))

    def _lose(self, error: DocumentError) -> None:
        self._leave()
        self._notebook.lost(error.message, gone=error.code == "no_file")

    async def _may_be_found(self, error: DocumentError) -> bool:
        """For a missing file: whether the notebook has a new path, or the file is back, as after
        ``git checkout``."""
        if error.code != "no_file":
            return False
        if await self._notebook.is_elsewhere(self._path):
            return True
        try:
            await self._rooms.check(self._notebook.path)
        except DocumentError as now:
            return now.code != "no_file"
        return True

    # --- the room --------------------------------------------------------------------

    @property
    def _is_open(self) -> bool:
        moved = self._notebook.path != self._path
        return self._room is not None and self._room.is_open and not moved

    async def _enter(self) -> dict[str, int]:
        """The ops that the room holds. Raises DocumentError."""
        self._path = self._notebook.path
        self._room = await self._rooms.open(self._path)
        self._follow(self._room)
        applied: dict[str, int] = await self._in_transaction(lambda shared: shared.applied)
        return applied

    async def _enter_anew(self) -> bool:
        """Whether people share a new document. The notebook then sends unanswered frames again."""
        before = self._shared.document if self._shared is not None else None
        applied = await self._enter()
        assert self._room is not None
        if self._room.document is before:
            return False
        while not self._frames.empty():
            self._frames.get_nowait()
        self._notebook.reopened(self, applied)
        return True

    async def _carry_out(self, frame: Work) -> None:
        if isinstance(frame, OpFrame):
            op = (frame.session_id, frame.seq, frame.op)
            receipt = await self._in_transaction(lambda shared: shared.apply(*op))
            if self._autosave is not None:
                self._autosave.ask()
            self._notebook.receive(self, OpReceipt(frame.notebook, frame.epoch, *op[:2], receipt))
        elif isinstance(frame, ReadNotebook):
            if frame.request_id:
                self._notebook.answer(self, await self._read(frame))
        elif isinstance(frame, FindCell):
            if frame.cell_id not in await self._in_transaction(lambda shared: shared.ids):
                self._notebook.cells_gone(frozenset({frame.cell_id}))
        elif isinstance(frame, LookAtRoom):
            await self._look_at_file()
        else:
            shown = (frame.cell_id, frame.run_id, frame.start, frame.outputs)
            await self._in_transaction(lambda shared: shared.show_outputs(*shown))

    async def _look_at_file(self) -> None:
        """Raises DocumentError if the file is gone or read-only. One failed look does not
        stop the work; the next save reports a lasting failure."""
        try:
            await self._rooms.check(self._notebook.path)
        except DocumentError as error:
            if error.code != "unreadable":
                raise
            log.warning("Cannot look at the file of a shared notebook: %s", error.message)

    async def _read(self, frame: ReadNotebook) -> SnapshotTaken:
        """Read in parts, so that the server can do other work in between; in one step if others
        keep moving cells."""
        for _ in range(TRIES):
            if (read := await self._read_in_parts(frame.cell_ids)) is not None:
                break
        else:
            read = await self._in_transaction(lambda shared: _whole(shared, frame.cell_ids))
        return SnapshotTaken(frame.notebook, frame.epoch, frame.request_id, read)

    async def _read_in_parts(self, cell_ids: tuple[str, ...]) -> tuple[CellView, ...] | None:
        """None if others have moved cells meanwhile."""
        places, order = await self._in_transaction(
            lambda shared: (shared.places(cell_ids), shared.order)
        )
        cells: list[CellView] = []
        for start in range(0, len(places), PART):
            part = places[start : start + PART]
            read = await self._in_transaction(partial(_part, places=part, order=order))
            if read is None:
                return None
            cells += views({"cells": read})
            await asyncio.sleep(0)
        return tuple(cells)

    async def _in_transaction(self, work: Callable[[SharedNotebook], Any]) -> Any:
        """Call ``work`` in a transaction, once no other is open and the room has read its file.
        Raises RoomClosed, or DocumentError if that takes too long."""
        assert self._shared is not None and self._room is not None
        shared, room, document = self._shared, self._room, self._shared.document
        end = asyncio.get_running_loop().time() + server_ydoc.LOADING
        while asyncio.get_running_loop().time() < end:
            if not room.is_open:
                raise RoomClosed()
            try:
                transaction = document.ydoc.transaction(origin=ORIGIN)
            except RuntimeError:  # another transaction is open
                await asyncio.sleep(PAUSE)
                continue
            with transaction:
                if room.is_loaded and shared.is_loaded:
                    return work(shared)
            await asyncio.sleep(PAUSE)
        path, why = self._notebook.path, Sentence(NOT_LOADED)
        raise DocumentError("unreadable", NOT_OPENED, path=path, words=why)

    # --- what others do --------------------------------------------------------------

    def _follow(self, room: YDocRoom) -> None:
        self._stop_listening()
        document = room.document
        self._shared = shared = SharedNotebook(document, self._untrusted)
        subscription = document.ycells.observe_deep(self._on_change)
        stop_saves = room.follow_saves(self._saves.on_save, self._saves.on_close)
        self._autosave = autosave = Autosave(room)

        def stop() -> None:
            self._stop_listening = lambda: None
            autosave.stop()
            stop_saves()
            shared.close()
            document.ycells.unobserve(subscription)

        self._stop_listening = stop

    def _leave(self) -> None:
        self._stop_listening()
        self._saves.close()

    def _on_change(self, events: Any, transaction: Any) -> None:
        if transaction.origin != ORIGIN:
            self._notebook.changed_by_others(self)


def _part(shared: SharedNotebook, places: list[int], order: int) -> list[Cell] | None:
    """The cells at these places, if they are still there."""
    return shared.read(places) if shared.order == order else None


def _whole(shared: SharedNotebook, cell_ids: tuple[str, ...]) -> tuple[CellView, ...]:
    return views({"cells": shared.read(shared.places(cell_ids))})
