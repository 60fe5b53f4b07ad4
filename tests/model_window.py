"""A window and the notebook's file, in this process: what ``src/notebook/live.ts`` and Lab do, in
words of ``notebook``.

The window keeps the notebook with ``apply``, the reference. It writes the marker with each
op, answers what it holds already from its receipts or by reading back, and says how its copy
stands to the file. What a person does is counted as well: every word that they type is a
token, and what became of each is known.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import msgspec

from jupyter_codeinterp.base.errors import DocumentError
from jupyter_codeinterp.notebook.apply import read_back
from jupyter_codeinterp.notebook.content import views
from jupyter_codeinterp.notebook.file.contents import CHANGED, Reading
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.ops import Delete, FinishRun, Notebook, Op, Receipt

PATH = "a.ipynb"
Apply = Callable[[Notebook, Op], tuple[Notebook, Receipt]]


def tokens(text: str, kind: str) -> list[str]:
    """``p1;`` is a person's, ``a1;`` the agent's."""
    return re.findall(rf"{kind}\d+;", text)


def all_tokens(book: Notebook, kind: str) -> list[str]:
    return [token for cell in book["cells"] for token in tokens(cell["source"], kind)]


def ids(book: Notebook) -> list[str]:
    return [cell["id"] for cell in book["cells"]]


def marker(book: Notebook) -> dict[str, int]:
    return dict(book["metadata"].get("codeinterp", {}).get("applied", {}))


class Copy(msgspec.Struct):
    """A notebook, and what must be said of it if nothing goes wrong."""

    book: Notebook
    typed: set[str] = set()
    """The person's tokens that are in it."""
    gone: set[str] = set()
    """Cells of the agent that the person has taken out of it."""

    def clone(self) -> Copy:
        return copy.deepcopy(self)


class Disk:
    """The notebook's file. Fulfils ``File`` for the file writer."""

    path = PATH

    def __init__(self, book: Notebook, written: Callable[[Copy], None]) -> None:
        """``written`` is told what is there before the file writer writes."""
        self.now = Copy(book)
        self.history = [self.now.clone()]
        self.by_pages: set[str] = set(ids(book))
        """Cells that some page has saved."""
        self.confirmed: dict[str, int] = {}
        """The ops that the server knows to have been in the file, by session."""
        self.slow = False
        self._gates: deque[asyncio.Future[None]] = deque()
        self._written = written

    @property
    def stamp(self) -> str:
        return hashlib.sha256(json.dumps(self.now.book).encode()).hexdigest()[:12]

    def save(self, saved: Copy) -> None:
        """By a page."""
        self.by_pages.update(ids(saved.book))
        self.now = saved.clone()
        self.history.append(saved.clone())

    def know(self, cells: Mapping[str, str]) -> None: ...

    async def read(self) -> Reading:
        await self._gate()
        return Reading(copy.deepcopy(self.now.book), self.stamp, self.stamp)

    async def write(self, notebook: Notebook, over: Reading) -> str:
        # It cannot be taken back from here on.
        self._written(self.now)
        await self._gate()
        if over.stamp != self.stamp:
            raise DocumentError(CHANGED, "Another program changed it meanwhile.")
        before = self.now
        lost = set(all_tokens(before.book, "p")) - set(all_tokens(notebook, "p"))
        self.now = Copy(copy.deepcopy(notebook), before.typed - lost, set(before.gone))
        self.history.append(self.now.clone())
        await self._gate()
        self.confirm(marker(notebook))
        return self.stamp

    def confirm(self, saved: Mapping[str, int]) -> None:
        for session_id, seq in saved.items():
            self.confirmed[session_id] = max(seq, self.confirmed.get(session_id, 0))

    async def _gate(self) -> None:
        if self.slow:
            self._gates.append(asyncio.get_running_loop().create_future())
            await self._gates[-1]

    def pass_one(self) -> None:
        while self._gates and self._gates[0].done():
            self._gates.popleft()
        if self._gates:
            self._gates.popleft().set_result(None)

    def forget(self) -> None:
        """Who read or wrote has been killed."""
        self._gates.clear()

    def pass_all(self) -> None:
        self.slow = False
        while self._gates:
            self.pass_one()


class Socket(Protocol):
    def post(self, command: c.Command) -> None: ...


class Page:
    """One browser tab that has the notebook open."""

    def __init__(self, disk: Disk, apply: Apply) -> None:
        self.disk = disk
        self.apply = apply
        self.now = disk.now.clone()
        self.unsaved: set[str] = set()
        """The person's tokens that were typed here since the last save."""
        self.touched: set[str] = set()
        """Cells that the person has changed here since the last save."""
        self.undo: list[tuple[str, Any]] = []
        self.socket: Socket | None = None
        self.asleep = False
        self.lease: c.Lease | None = None
        self.announcement = 0
        self.receipts: dict[tuple[str, int], Receipt] = {}
        self.saving: tuple[dict[str, int], str] | None = None
        self.saved: dict[str, int] = {}
        self.version = ""
        self.edited = self.edited_since = False
        self._note_file(self.applied)

    @property
    def book(self) -> Notebook:
        return self.now.book

    @property
    def applied(self) -> dict[str, int]:
        return marker(self.book)

    # --- to the server ---------------------------------------------------------------

    def _post(self, command: c.Command) -> None:
        if self.socket is not None:
            self.socket.post(command)

    def connected(self, socket: Socket) -> None:
        self.socket = socket
        self.announce()

    def disconnected(self) -> None:
        self.socket = self.lease = None

    def announce(self, reverted: bool = False) -> None:
        self.announcement += 1
        self._post(
            c.OpenNotebook(
                PATH,
                self.applied,
                "",
                self.saved,
                self.version,
                self.edited,
                reverted,
                announcement=self.announcement,
            )
        )

    def tell_file(self) -> None:
        self._post(c.FileState(PATH, self.saved, self.version, self.edited))

    # --- from the server -------------------------------------------------------------

    def receive(self, frame: c.ServerFrame) -> None:
        if isinstance(frame, c.Lease):
            newer = frame.epoch >= (self.lease.epoch if self.lease else 0)
            if newer and frame.announcement == self.announcement:
                self.lease = frame
        elif isinstance(frame, c.ReloadNotebook):
            self._reload()
        elif isinstance(frame, (c.OpFrame, c.ReadNotebook)):
            if self.lease is None or not self.lease.held or frame.epoch != self.lease.epoch:
                return
            if isinstance(frame, c.OpFrame):
                self._receive_op(frame)
            elif frame.request_id:
                shown = views(self.book, frame.cell_ids)
                self._post(c.SnapshotTaken(PATH, frame.epoch, frame.request_id, shown))

    def _receive_op(self, frame: c.OpFrame) -> None:
        receipt = self._applied(frame) or self._apply(frame)
        self.receipts[frame.session_id, frame.seq] = receipt
        self._post(c.OpReceipt(PATH, frame.epoch, frame.session_id, frame.seq, receipt))
        if isinstance(frame.op, FinishRun) and receipt.status == "done":
            self.save(by_agent=True)
            self.save_completed()

    def _applied(self, frame: c.OpFrame) -> Receipt | None:
        key = frame.session_id, frame.seq
        if frame.seq > self.applied.get(frame.session_id, 0):
            return None
        return self.receipts.get(key) or read_back(self.book, frame.op)

    def _apply(self, frame: c.OpFrame) -> Receipt:
        before = set(all_tokens(self.book, "p"))
        book, receipt = self.apply(self.book, frame.op)
        if receipt.status == "done":
            metadata = book["metadata"]
            ours = {"applied": {**self.applied, frame.session_id: frame.seq}}
            self.now.book = {**book, "metadata": {**metadata, "codeinterp": ours}}
            if isinstance(frame.op, Delete):
                # What the agent has read, and takes out.
                left = before - set(all_tokens(self.book, "p"))
                self.now.typed -= left & set(tokens(frame.op.expect, "p"))
                self.unsaved -= left & set(tokens(frame.op.expect, "p"))
        return receipt

    def _reload(self) -> None:
        """Atomic here. In a browser it takes some ms, as every reading of a file."""
        if not self.edited:
            assert not self.unsaved, "the person's words are gone"
            self._read_file()
            self._note_file(self.applied)
            self.lease = None
        self.announce()

    def _read_file(self) -> None:
        self.now = self.disk.now.clone()
        self.unsaved, self.touched, self.undo = set(), set(), []

    # --- the file --------------------------------------------------------------------

    @property
    def conflicts(self) -> bool:
        return self.version != self.disk.stamp

    def save(self, by_agent: bool = False) -> None:
        """The file is written; that it was is noted by ``save_completed``."""
        if self.saving is not None or (by_agent and self.conflicts):
            return
        self.edited_since = False
        self.disk.save(self.now)
        self.unsaved, self.touched = set(), set()
        self.saving = self.applied, self.disk.stamp

    def save_completed(self) -> None:
        if self.saving is None:
            return
        saved, version = self.saving
        self.saving = None
        self._note_file(saved, version)
        self.tell_file()

    def _note_file(self, saved: dict[str, int], version: str = "") -> None:
        self.saved, self.version = saved, version or self.disk.stamp
        self.edited, self.edited_since = self.edited_since, False

    def revert(self) -> None:
        """The person goes back to the file."""
        before = self.applied
        self._read_file()
        back = any(self.applied.get(key, 0) < seq for key, seq in before.items())
        self.set_edited()
        if back:
            self.edited_since = False
            self._note_file(self.applied)
            # What is on its way builds on what is gone: dropped until the server has heard.
            self.lease = None
            self.announce(reverted=True)

    def set_edited(self) -> None:
        self.edited_since = True
        if not self.edited:
            self.edited = True
            self.tell_file()

    # --- the person ------------------------------------------------------------------

    def edit(self, cells: list[dict[str, Any]], touched: Iterable[str]) -> None:
        self.now.book = {**self.book, "cells": cells}
        now = set(all_tokens(self.book, "p"))
        self.now.typed = now
        self.unsaved &= now
        self.touched.update(touched)
        self.set_edited()

    def type(self, index: int, token: str) -> str:
        cells = list(self.book["cells"])
        cell = cells[index]
        cells[index] = {**cell, "source": cell["source"] + token}
        self.edit(cells, [cell["id"]])
        self.unsaved.add(token)
        self.undo.append(("type", token))
        return str(cell["id"])
