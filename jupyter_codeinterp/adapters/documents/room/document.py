"""Works in the room of a shared notebook, frame by frame, as a window does in its copy.

A room is let go some time after its last person has left, and may lose what it has not saved by
then. The next one for the notebook is another document: it gets the ops that it lacks.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Protocol, Union

from pycrdt import Map

from ....core.commands import (
    OpFrame,
    OpReceipt,
    OutputsFrame,
    ReadNotebook,
    ServerFrame,
    SnapshotTaken,
    StreamFrame,
)
from ....core.document.ops import Cell, CellView, protected_in
from ....core.errors import DocumentError
from ...notebook_content.view import views
from .rooms import LOADING, NOT_OPENED, Rooms
from .shared import ORIGIN, SharedNotebook

log = logging.getLogger(__name__)

BROKEN = "Cannot work in the shared notebook. See the server's log for the reason."
PART = 50
"""Cells that are read at once: some milliseconds."""
TRIES = 3
PAUSE = 0.01
"""Seconds between looks at a document that is being loaded."""

Work = Union[OpFrame, ReadNotebook, OutputsFrame, StreamFrame]


class Notebook(Protocol):
    """Whose ops and reads these are."""

    path: str

    def receive(self, window: RoomDocument, command: OpReceipt) -> None: ...

    def answer(self, window: RoomDocument, command: SnapshotTaken) -> None: ...

    def reopened(self, window: RoomDocument, applied: Mapping[str, int]) -> None:
        """The room is another one, and holds only the ops ``applied``."""

    def changed_by_others(self, window: RoomDocument) -> None:
        """A person, or another program, has changed the notebook."""

    def saved_in_room(self, applied: Mapping[str, int]) -> None:
        """The notebook's file holds these ops."""

    def lost(self, reason: str, gone: bool = False) -> None:
        """The room cannot be used; ``gone``: the notebook does not exist."""


class RoomDocument:
    def __init__(
        self,
        notebook: Notebook,
        rooms: Rooms,
        look: Callable[[], Awaitable[tuple[str, dict[str, int]]]],
    ) -> None:
        """``look`` reads the version of the notebook's file, and the ops that it holds."""
        self._look = look
        self._notebook = notebook
        self._rooms = rooms
        self._shared: SharedNotebook | None = None
        self._streamed: dict[str, str] = {}
        self._untrusted: set[str] = set()
        self._frames: asyncio.Queue[Work] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._unsaved = False
        """Whether ops have been applied since the file was last looked at."""
        self._stop_listening: Callable[[], None] = lambda: None

    async def open(self, cells: Mapping[str, str]) -> tuple[dict[str, int], str]:
        """The ops that the room holds, and no remark. Raises DocumentError."""
        await self._rooms.check(self._notebook.path)
        self._follow(await self._rooms.open(self._notebook.path))
        applied = await self._in_transaction(lambda shared: shared.applied)
        self._worker = asyncio.ensure_future(self._work())
        return applied, ""

    async def close(self) -> None:
        """Leave the room. Each op is applied and answered in one step, so none is half done."""
        self._stop_listening()
        for task in (self._worker, self._looking):
            if task is not None:
                task.cancel()

    async def look(self) -> tuple[str, dict[str, int]]:
        """The version of the notebook's file, and the ops that it holds. Raises DocumentError."""
        return await self._look()

    def has(self, cell_id: str) -> bool:
        """Whether the notebook has this cell now."""
        return self._shared is not None and self._shared.has(cell_id)

    def send(self, frame: ServerFrame) -> None:
        if isinstance(frame, (OpFrame, ReadNotebook, OutputsFrame, StreamFrame)):
            self._frames.put_nowait(frame)

    # --- work ------------------------------------------------------------------------

    async def _work(self) -> None:
        while True:
            frame = await self._frames.get()
            try:
                await self._carry_out(frame)
            except DocumentError as error:
                return self._lose(error.message, gone=error.code == "no_file")
            except Exception:
                log.exception("Cannot work in the room of %s", self._notebook.path)
                return self._lose(BROKEN)

    def _lose(self, reason: str, *, gone: bool = False) -> None:
        self._stop_listening()
        self._notebook.lost(reason, gone)

    async def _carry_out(self, frame: Work) -> None:
        document = await self._rooms.open(self._notebook.path)
        if self._shared is None or self._shared.document is not document:
            self._follow(document)
            applied = await self._in_transaction(lambda shared: shared.applied)
            while not self._frames.empty():
                self._frames.get_nowait()  # all that is unanswered comes again
            self._notebook.reopened(self, applied)
            return
        if isinstance(frame, OpFrame):
            op = (frame.session_id, frame.seq, frame.op)
            receipt = await self._in_transaction(lambda shared: shared.apply(*op))
            self._unsaved = True
            self._notebook.receive(self, OpReceipt(frame.notebook, frame.epoch, *op[:2], receipt))
        elif isinstance(frame, ReadNotebook):
            if frame.request_id:
                self._notebook.answer(self, await self._read(frame))
        else:
            await self._in_transaction(lambda shared: _show(shared, frame))

    async def _read(self, frame: ReadNotebook) -> SnapshotTaken:
        """Read in parts, between which the server does other things, unless others keep moving
        cells meanwhile."""
        for most in (*[PART] * TRIES, sys.maxsize):
            places, order, metadata = await self._in_transaction(
                lambda shared: (shared.places(frame.cell_ids), shared.order, shared.metadata)
            )
            cells: list[CellView] = []
            for start in range(0, len(places), most):
                part = places[start : start + most]
                read = await self._in_transaction(partial(_part, places=part, order=order))
                if read is None:
                    break
                cells += views({"cells": read})
                await asyncio.sleep(0)
            else:
                break
        read_at = (frame.notebook, frame.epoch, frame.request_id, tuple(cells))
        return SnapshotTaken(*read_at, protected=protected_in({"metadata": metadata}))

    async def _in_transaction(self, work: Callable[[SharedNotebook], Any]) -> Any:
        """Do this at once when nobody else is in the midst of a change, as while the room reads
        its file. Raises DocumentError if that takes too long."""
        assert self._shared is not None
        shared, document = self._shared, self._shared.document
        end = asyncio.get_running_loop().time() + LOADING
        while asyncio.get_running_loop().time() < end:
            try:
                transaction = document.ydoc.transaction(origin=ORIGIN)
            except RuntimeError:  # another transaction is open
                await asyncio.sleep(PAUSE)
                continue
            with transaction:
                if shared.is_loaded:
                    return work(shared)
            await asyncio.sleep(PAUSE)
        words = NOT_OPENED.format(path=self._notebook.path, words="it does not load")
        raise DocumentError("unreadable", words)

    # --- what others do --------------------------------------------------------------

    def _follow(self, document: Any) -> None:
        self._stop_listening()
        self._shared = shared = SharedNotebook(document, self._streamed, self._untrusted)
        meta = document.ydoc.get("meta", type=Map)
        watched = (
            (document.ycells, document.ycells.observe_deep(self._on_change)),
            (meta, meta.observe_deep(self._on_change)),
            (document.ystate, document.ystate.observe(self._on_state)),
        )

        def stop() -> None:
            self._stop_listening = lambda: None
            shared.close()
            for watched_type, subscription in watched:
                watched_type.unobserve(subscription)

        self._stop_listening = stop

    def _on_change(self, events: Any, transaction: Any) -> None:
        if transaction.origin != ORIGIN:
            self._notebook.changed_by_others(self)

    def _on_state(self, event: Any) -> None:
        """The room says after each save that nothing is unsaved."""
        state = event.keys.get("dirty") or {}
        if state.get("newValue") is False and self._unsaved and self._looking is None:
            self._unsaved = False
            self._looking = asyncio.ensure_future(self._look_into_file())

    async def _look_into_file(self) -> None:
        try:
            self._notebook.saved_in_room((await self._look())[1])
        except DocumentError as error:
            log.info("Cannot tell what the file holds: %s", error.message)
        except Exception:
            log.exception("Cannot read the file of %s", self._notebook.path)
        finally:
            self._looking = None


def _show(shared: SharedNotebook, frame: OutputsFrame | StreamFrame) -> None:
    """A preview of what an op will bring."""
    if isinstance(frame, OutputsFrame):
        shared.show_outputs(frame.cell_id, frame.run_id, frame.start, frame.outputs)
    elif frame.kind != "edit":
        shared.stream(frame.cell_id, frame.start, frame.text)


def _part(shared: SharedNotebook, places: list[int], order: int) -> list[Cell] | None:
    """The cells at these places, if they are still there."""
    return shared.read(places) if shared.order == order else None
