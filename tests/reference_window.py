"""A window without a browser: a raw WebSocket client that keeps a notebook with
``document.apply``, the reference of what a window must do. It can also misbehave.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import msgspec
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError

from jupyter_codeinterp.base.sentences import from_journal
from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.notebook.content import views
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.events import Draft, DraftWaiting, Event, TurnEnded
from jupyter_codeinterp.wire.ops import Notebook

_decoder = msgspec.json.Decoder(c.ServerFrame, dec_hook=from_journal)
DEADLINE = 30.0
"""Seconds until something that is waited for counts as not happening."""


class ReferenceWindow:
    patience = DEADLINE

    def __init__(self, socket: WebSocketClientConnection, path: str, notebook: Notebook) -> None:
        self.socket = socket
        self.path = path
        self.notebook = notebook
        self.applied: dict[str, int] = {}
        self.active_cell_id = ""
        self.events: list[tuple[int, Event]] = []
        self._of: defaultdict[type[Any], list[Any]] = defaultdict(list)
        self.frames: list[c.ServerFrame] = []
        self.streamed: dict[str, str] = {}
        self.leases: list[c.Lease] = []
        self.session_id = ""
        self.secret = ""
        """Names this window to the server."""
        self.sessions: dict[str, c.SessionChanged] = {}
        self.answering = True
        """Whether ops and reads are answered; a frozen tab does not."""
        self.closed = asyncio.Event()
        self._awake = asyncio.Event()
        self._awake.set()
        self._replies: dict[int, asyncio.Future[c.Reply]] = {}
        self._last_id = 1000
        self._changed = asyncio.Event()
        self._reader = asyncio.ensure_future(self._read())

    # --- commands --------------------------------------------------------------------

    async def post(self, command: c.Command) -> None:
        await self.socket.write_message(msgspec.json.encode(command).decode())

    async def send(self, command: c.Command) -> c.Reply:
        """Send a command and wait for its reply."""
        self._last_id += 1
        numbered = msgspec.structs.replace(command, id=self._last_id)
        future: asyncio.Future[c.Reply] = asyncio.get_running_loop().create_future()
        self._replies[self._last_id] = future
        await self.post(numbered)
        return await asyncio.wait_for(future, DEADLINE)

    async def open(self, kernel_id: str = "") -> None:
        command = c.OpenNotebook(self.path, dict(self.applied), kernel_id)
        assert (await self.send(command)).error is None

    async def ask(self, text: str, mode: str = "review", model: str = "") -> c.Reply:
        reply = await self.send(
            c.SendMessage(text, self.path, self.session_id, mode=mode, model=model)  # type: ignore[arg-type]
        )
        if reply.error is None:
            self.session_id = reply.result["session_id"]
        return reply

    async def decide(
        self, draft: Draft, action: str = "run", source: str | None = None, **others: Any
    ) -> c.Reply:
        """``others`` are fields that are to be other than the draft says."""
        given = {
            "session_id": self.session_id,
            "draft_id": draft.draft_id,
            "nonce": draft.nonce,
            "action": action,
            "source": draft.source if source is None else source,
        }
        return await self.send(c.Decide(**{**given, **others}))

    # --- waiting ---------------------------------------------------------------------

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait until ``condition()`` is true; its value."""

        async def wait() -> Any:
            while not (value := condition()):
                self._changed.clear()
                await self._changed.wait()
            return value

        try:
            return await asyncio.wait_for(wait(), self.patience)
        except asyncio.TimeoutError:
            raise self.hangs() from None

    def hangs(self) -> Exception:
        return AssertionError(f"It did not come true. Events: {self.events[-8:]}")

    async def event(self, kind: type[Any], number: int = 1) -> Any:
        """The ``number``-th event of a kind, waited for."""

        def found() -> Any:
            hits = self._of[kind]
            return hits[number - 1] if len(hits) >= number else None

        return await self.until(found)

    async def draft(self, number: int = 1) -> Draft:
        waiting: DraftWaiting = await self.event(DraftWaiting, number)
        return waiting.draft

    async def ended(self, number: int = 1) -> TurnEnded:
        ended: TurnEnded = await self.event(TurnEnded, number)
        return ended

    def of(self, kind: type[Any]) -> list[Any]:
        return list(self._of[kind])

    # --- the notebook ----------------------------------------------------------------

    @property
    def cells(self) -> list[dict[str, Any]]:
        return list(self.notebook["cells"])

    def cell(self, cell_id: str) -> dict[str, Any] | None:
        return next((cell for cell in self.cells if cell["id"] == cell_id), None)

    async def _read(self) -> None:
        while True:
            await self._awake.wait()
            message = await self.socket.read_message()
            if message is None:
                self.closed.set()
                return
            assert isinstance(message, str)
            for line in message.split("\n"):
                frame = _decoder.decode(line)
                self.frames.append(frame)
                try:
                    await self._take(frame)
                except WebSocketClosedError:
                    self.closed.set()
                    return
                self._changed.set()

    async def _take(self, frame: c.ServerFrame) -> None:
        if isinstance(frame, c.Reply):
            if frame.id in self._replies:
                self._replies.pop(frame.id).set_result(frame)
        elif isinstance(frame, c.EventFrame):
            self.events.append((frame.seq, frame.event))
            self._of[type(frame.event)].append(frame.event)
        elif isinstance(frame, c.Lease):
            self.leases.append(frame)
        elif isinstance(frame, c.SessionChanged):
            self.sessions[frame.session.session_id] = frame
        elif isinstance(frame, c.StreamFrame):
            before = self.streamed.get(frame.cell_id, "")
            if len(before.encode("utf-16-le")) // 2 == frame.start:
                self.streamed[frame.cell_id] = before + frame.text
        elif isinstance(frame, c.OpFrame) and self.answering:
            await self._apply(frame)
        elif isinstance(frame, c.ReadNotebook) and frame.request_id and self.answering:
            await self.post(
                c.SnapshotTaken(
                    self.path,
                    frame.epoch,
                    frame.request_id,
                    views(self.notebook, frame.cell_ids),
                    self.active_cell_id,
                )
            )

    async def _apply(self, frame: c.OpFrame) -> None:
        self.notebook, receipt = apply(self.notebook, frame.op)
        self.applied[frame.session_id] = max(self.applied.get(frame.session_id, 0), frame.seq)
        await self.post(c.OpReceipt(self.path, frame.epoch, frame.session_id, frame.seq, receipt))

    # --- a tab's life ----------------------------------------------------------------

    def pause(self) -> None:
        """Take nothing from the socket any more, as a tab that the browser has put to sleep."""
        self._awake.clear()

    def resume(self) -> None:
        self._awake.set()

    async def close(self) -> None:
        self.resume()
        self.socket.close()
        await self._reader


def notebook(*sources: str) -> Notebook:
    """A notebook of code cells with ids c1, c2, …"""
    cells: list[dict[str, Any]] = [
        {
            "id": f"c{number}",
            "cell_type": "code",
            "metadata": {},
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for number, source in enumerate(sources, 1)
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def body(response: Any) -> Any:
    return json.loads(response.body)
