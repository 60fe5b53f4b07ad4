"""A browser page with one notebook: a ``ReferenceWindow`` that keeps its copy as
``src/notebook/live.ts`` does, saves as ``src/notebook/saving/saver.ts``, and outlives its socket.
"""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError

from jupyter_codeinterp.base.sentences import from_journal
from jupyter_codeinterp.notebook.apply import apply, read_back
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.events import (
    Draft,
    DraftDecided,
    DraftWaiting,
    Event,
    Mode,
    TurnEnded,
    TurnStarted,
)
from jupyter_codeinterp.wire.ops import Delete, FinishRun, Notebook, Receipt, SetSource
from tests.reference_window import ReferenceWindow

from .points import Trigger
from .site import Site

PATIENCE = 60.0
"""Seconds to wait for an event before it counts as missing."""


class Page(ReferenceWindow):
    patience = PATIENCE

    def __init__(
        self, site: Site, socket: WebSocketClientConnection, path: str, kernel_id: str
    ) -> None:
        super().__init__(socket, path, {})
        self.site = site
        self.kernel_id = kernel_id
        self.mode: Mode = "auto"
        self.saves = True
        """Whether it saves the agent's work, as pages do."""
        self.trigger: Trigger | None = None
        self.taken: Counter[str] = Counter()
        """The number of received frames of each kind."""
        self.told: dict[int, Event] = {}
        """The conversation's received events, by number."""
        self.wrong: list[str] = []
        """Wrong statements of the server."""
        self.asked_to_overwrite = False
        """Whether Lab has asked the person at a save, because the file had changed."""
        self.save_cut_off = False
        """Whether the result of a save is unknown to the page."""
        self._saved: dict[str, int] = {}
        self._version = ""
        self._edited = False
        self._edited_since = False
        self._lease: c.Lease | None = None
        self._announcement = 0
        self._receipts: dict[tuple[str, int], Receipt] = {}
        self._hints: dict[str, str] = {}
        self._saving: asyncio.Task[None] | None = None
        self._again = False
        self._reloading: asyncio.Task[None] | None = None

    @classmethod
    async def load(cls, site: Site, path: str, kernel_id: str) -> Page:
        """Open the page: it reads the file and announces the notebook."""
        page = cls(site, await site.connect(), path, kernel_id)
        await page._read_file()
        await page.announce()
        return page

    # --- its socket ------------------------------------------------------------------

    def cut(self) -> None:
        """Cut the connection: messages on their way are lost in both directions."""
        protocol = self.socket.protocol
        if protocol is not None:
            protocol._abort()

    async def reconnect(self) -> None:
        self.cut()
        await self._reader
        self.trigger = self._lease = None
        self._replies.clear()
        self.socket = await self.site.connect()
        self.closed.clear()
        self._reader = asyncio.ensure_future(self._read())
        await self.announce()
        if self.session_id:
            await self.follow()

    async def announce(self) -> None:
        self._announcement += 1
        await self.post(
            c.OpenNotebook(
                self.path,
                dict(self.applied),
                self.kernel_id,
                dict(self._saved),
                self._version,
                self._edited,
                announcement=self._announcement,
            )
        )

    async def follow(self) -> None:
        """Follow the conversation from the last received event."""
        reply = await self.send(c.Subscribe(self.session_id, max(self.told, default=0)))
        if reply.error is not None:
            self.wrong.append(f"the conversation is not there: {reply.message}")
        for draft in self._open_drafts:
            await self._allow(draft)  # An earlier press may have been lost.

    async def leave(self) -> None:
        """Close the page: its copy of the notebook is lost."""
        self.cut()
        await self._reader
        for task in (self._saving, self._reloading):
            if task is not None:
                task.cancel()

    async def _read(self) -> None:
        while (message := await self.socket.read_message()) is not None:
            for line in str(message).split("\n"):
                frame = _decode(line)
                kind = str(frame.__struct_config__.tag)
                self.taken[kind] += 1
                if self.trigger is not None and not self.trigger.before(kind):
                    return
                await self._take(frame)
                if self.trigger is not None:
                    self.trigger.after()
                self._changed.set()
        self.closed.set()
        self._changed.set()

    async def post(self, command: c.Command) -> None:
        if self.trigger is not None and self.trigger.mute:
            return
        try:
            await super().post(command)
        except WebSocketClosedError:
            return  # As in a browser, the message is lost.

    def hangs(self) -> Exception:
        last = [type(event).__name__ for event in list(self.told.values())[-6:]]
        return Hangs(f"nothing happens any more, after {', '.join(last) or 'nothing'}")

    # --- frames ----------------------------------------------------------------------

    async def _take(self, frame: c.ServerFrame) -> None:
        if isinstance(frame, c.EventFrame):
            await self._hear(frame)
        elif isinstance(frame, c.Lease):
            newer = self._lease is None or frame.epoch >= self._lease.epoch
            if newer and frame.announcement == self._announcement:
                self._lease = frame
        elif isinstance(frame, c.ReloadNotebook):
            self._reloading = asyncio.ensure_future(self._reload())
        elif not isinstance(frame, (c.OpFrame, c.StreamFrame, c.OutputsFrame, c.ReadNotebook)):
            await super()._take(frame)
        elif self._lease is not None and self._lease.held and frame.epoch == self._lease.epoch:
            await self._carry_out(frame)

    async def _hear(self, frame: c.EventFrame) -> None:
        if frame.seq <= max(self.told, default=0):
            self.wrong.append(f"event {frame.seq} has come twice")
        self.told[frame.seq] = frame.event
        self.session_id = self.session_id or frame.session_id
        if isinstance(frame.event, DraftWaiting):
            await self._allow(frame.event.draft)
        if isinstance(frame.event, TurnEnded) and self.trigger is not None:
            self.trigger.now()

    async def _allow(self, draft: Draft) -> None:
        """Let the person press Run."""
        await self.post(c.Decide(self.session_id, draft.draft_id, draft.nonce, "run", draft.source))

    @property
    def _open_drafts(self) -> list[Draft]:
        drafts: dict[str, Draft] = {}
        for event in self.told.values():
            if isinstance(event, DraftWaiting):
                drafts[event.draft.draft_id] = event.draft
            elif isinstance(event, DraftDecided):
                drafts.pop(event.draft_id, None)
        return list(drafts.values())

    async def _carry_out(
        self, frame: c.OpFrame | c.StreamFrame | c.OutputsFrame | c.ReadNotebook
    ) -> None:
        if isinstance(frame, c.OpFrame):
            await self._receive_op(frame)
        elif isinstance(frame, c.StreamFrame):
            self._stream(frame)
        elif isinstance(frame, c.OutputsFrame):
            cell = self.cell(frame.cell_id)
            if cell is not None and _run_id(cell) == frame.run_id:
                cell["outputs"][frame.start :] = copy.deepcopy(list(frame.outputs))
        else:
            if frame.request_id:
                await super()._take(frame)
            if frame.save:
                self.save()

    # --- ops -------------------------------------------------------------------------

    async def _receive_op(self, frame: c.OpFrame) -> None:
        key = (frame.session_id, frame.seq)
        if frame.seq <= self.applied.get(frame.session_id, 0):
            receipt = self._receipts.get(key) or read_back(self.notebook, frame.op)
        else:
            receipt = self._apply_new(frame)
        self._receipts[key] = receipt
        await self.post(c.OpReceipt(self.path, frame.epoch, *key, receipt))
        if isinstance(frame.op, FinishRun) and receipt.status == "done":
            self.save()

    def _apply_new(self, frame: c.OpFrame) -> Receipt:
        op = frame.op
        cell = self.cell(op.cell_id)
        # A source that only hints have written is the server's own, and incomplete.
        hinted = cell is not None and cell["source"] == self._hints.get(op.cell_id)
        if hinted and isinstance(op, (SetSource, Delete)):
            op = msgspec.structs.replace(op, expect=self._hints[op.cell_id])
        self.notebook, receipt = apply(self.notebook, op)
        self._hints.pop(op.cell_id, None)
        if receipt.status == "done":
            self._mark(frame)
        return receipt

    def _mark(self, frame: c.OpFrame) -> None:
        metadata = self.notebook["metadata"]
        ours = metadata.get("codeinterp", {})
        marked = {**ours, "applied": {**self.applied, frame.session_id: frame.seq}}
        self.notebook = {**self.notebook, "metadata": {**metadata, "codeinterp": marked}}

    @property
    def applied(self) -> dict[str, int]:
        """The notebook's own marker."""
        metadata = self.notebook.get("metadata", {})
        return dict(metadata.get("codeinterp", {}).get("applied", {}))

    @applied.setter
    def applied(self, value: dict[str, int]) -> None:
        """The marker is in the notebook's metadata."""

    def _stream(self, frame: c.StreamFrame) -> None:
        cell = self.cell(frame.cell_id)
        if frame.kind == "edit" or cell is None or cell["cell_type"] != "raw":
            return
        source = cell["source"]
        if self._hints.get(frame.cell_id, source) != source:
            return
        if len(source.encode("utf-16-le")) // 2 == frame.start:
            cell["source"] = self._hints[frame.cell_id] = source + frame.text

    # --- the file --------------------------------------------------------------------

    async def _read_file(self) -> None:
        model = await self._contents(content=1)
        self.notebook = model["content"]
        self._note_file(model, self.applied)

    async def _contents(self, *, content: int) -> Any:
        return await self.site.fetch("GET", f"api/contents/{self.path}?content={content}&hash=1")

    def _note_file(self, model: Any, saved: dict[str, int]) -> None:
        self._saved, self._version = saved, model["hash"]
        self._edited, self._edited_since = self._edited_since, False

    async def _reload(self) -> None:
        if not self._edited:
            await self._read_file()
        await self.announce()

    def save(self) -> None:
        """Save unsaved work, now or after the running save."""
        if not self.saves:
            return
        if self._saving is not None and not self._saving.done():
            self._again = True
        else:
            self._saving = asyncio.ensure_future(self._save_all())

    async def saved(self) -> None:
        """Let the person save by hand, once the page is in step with the server. If the file has
        changed since the page read it, Lab asks, and they overwrite it."""
        await self.until(lambda: self._lease is not None and self._lease.held)
        if self._saving is not None:
            await asyncio.gather(self._saving, return_exceptions=True)
        model = await self._contents(content=0)
        self.asked_to_overwrite |= model["hash"] != self._version
        await self._put()

    async def _save_all(self) -> None:
        self._again = True
        while self._again:
            self._again = False
            try:
                if (await self._contents(content=0))["hash"] == self._version:
                    await self._put()
            except (OSError, HTTPClientError):
                return  # The server is gone; a browser reports this in its console.

    async def _put(self) -> None:
        marker = self.applied
        self._edited_since = False
        book = copy.deepcopy(self.notebook)
        route = f"api/contents/{self.path}"
        model = {"type": "notebook", "format": "json", "content": book}
        try:
            await self.site.fetch("PUT", route, model)
            self._note_file(await self._contents(content=0), marker)
        except (OSError, HTTPClientError):
            self.save_cut_off = True
            raise
        await self._tell_file()

    async def _tell_file(self) -> None:
        await self.post(c.FileState(self.path, dict(self._saved), self._version, self._edited))

    # --- the person ------------------------------------------------------------------

    async def edit(self, change: Callable[[Notebook], None]) -> None:
        """Make a change as the person."""
        change(self.notebook)
        self._edited_since = True
        if not self._edited:
            self._edited = True
            await self._tell_file()

    async def have_kernel(self, kernel_id: str) -> None:
        self.kernel_id = kernel_id
        await self.post(c.KernelOf(self.path, kernel_id))

    @property
    def ended(self) -> TurnEnded | None:  # type: ignore[override]
        """The end of the last turn; None while it runs, or if there was none."""
        kinds = ("turn_started", "turn_ended")
        last = [e for e in self.told.values() if e.__struct_config__.tag in kinds][-1:]
        return last[0] if last and isinstance(last[0], TurnEnded) else None

    @property
    def turns(self) -> int:
        """The number of the latest turn."""
        return max((e.turn for e in self.told.values() if isinstance(e, TurnStarted)), default=0)


class Hangs(Exception):
    """An expected event does not happen."""


_decode = msgspec.json.Decoder(c.ServerFrame, dec_hook=from_journal).decode


def _run_id(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("codeinterp", {}).get("run_id", ""))
