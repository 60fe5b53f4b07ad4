"""A server, its journal and its agents in this process, on a clock that a test moves.

Real are the session manager, the live notebook with its outbox, the sessions' documents, the
journal in a file, the file writer and the connections that take windows' commands as JSON. The
network is two queues a socket; frames in it can be held up, lost and repeated.
"""

from __future__ import annotations

import asyncio
import itertools
import selectors
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec

from jupyter_codeinterp.base.errors import DocumentError
from jupyter_codeinterp.base.sentences import from_journal, in_english
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.notebook.file import FileDocument
from jupyter_codeinterp.notebook.live import FileWriter, LiveNotebook, SessionDocument
from jupyter_codeinterp.server.socket.connection import ClientConnection
from jupyter_codeinterp.session.server.live_notebooks import LiveNotebooks
from jupyter_codeinterp.session.server.manager import SessionManager
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.ops import BeginRun, Op, Receipt, Snapshot
from tests.model_window import PATH, Disk, Page

SESSIONS = ("S1", "S2")
GRACE = 30.0
_command = msgspec.json.Decoder(c.Command)
_frame = msgspec.json.Decoder(c.ServerFrame, dec_hook=from_journal)


class _Impatient(selectors.DefaultSelector):
    """Never waits: nothing comes from outside."""

    def select(self, timeout: float | None = None) -> Any:
        return super().select(0)


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time stands still unless it is moved."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        super().__init__(_Impatient())

    def time(self) -> float:
        return self.now

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> asyncio.Future[Any]:
        """At once: threads would bring an order of their own."""
        done = self.create_future()
        done.set_result(func(*args))
        return done

    def ticks(self, number: int = 12) -> None:
        """Run what can run, and what that sets going."""

        async def pass_() -> None:
            for _ in range(number):
                await asyncio.sleep(0)

        self.run_until_complete(pass_())

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.ticks()


_numbers = itertools.count(1)


async def _allowed(action: str, resource: str) -> bool:
    return True


class Wire:
    """One socket between a page and the server. Fulfils the connection's send queue."""

    def __init__(self, site: Site, page: Page) -> None:
        self.site = site
        self.page = page
        self.down: deque[c.ServerFrame] = deque()
        self.up: deque[c.Command] = deque()
        self.past: list[c.OpFrame | c.OpReceipt] = []
        self.lags = False
        self.dead = False
        """Whether the page has lost it. The server may not know yet."""
        self.number = next(_numbers)
        self.client = ClientConnection(
            site.manager, cast(Any, _SendQueue(self)), _allowed, self.number
        )
        site.do(lambda: site.manager.join(self.client))

    def post(self, command: c.Command) -> None:
        self.up.append(_command.decode(msgspec.json.encode(command)))

    def take(self, frame: c.ServerFrame) -> None:
        if not self.dead:
            self.down.append(_frame.decode(msgspec.json.encode(frame, enc_hook=in_english)))

    def deliver_up(self) -> None:
        command = self.up.popleft()
        if isinstance(command, c.OpReceipt):
            self.past.append(command)
        self.site.heard(self, command)
        self.site.loop.run_until_complete(self.client.receive(msgspec.json.encode(command)))

    def deliver_down(self) -> None:
        frame = self.down.popleft()
        if isinstance(frame, c.OpFrame):
            self.past.append(frame)
        self.page.receive(frame)

    def repeat(self, which: int) -> None:
        """Of what has come already, something comes once more."""
        again = self.past[-1 - which % len(self.past)]
        if isinstance(again, c.OpFrame):
            self.down.append(again)
        else:
            self.up.append(again)

    @property
    def can_deliver(self) -> bool:
        awake = not self.page.asleep and not self.dead
        return bool(self.up) or (bool(self.down) and awake)


class _SendQueue:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def post(self, frame: c.ServerFrame) -> None:
        self._wire.take(frame)


class Agent:
    """One session: what it has read, and the ops that it makes of that."""

    def __init__(self, site: Site, session_id: str) -> None:
        self.session_id = session_id
        self.site = site
        self.document = SessionDocument(site.notebook, site.store, session_id)
        self.turn = max((op.turn for op in site.store.ops(session_id)), default=0)
        self.running = False
        self.first = 0
        """The number of the turn's first op."""
        self.known: dict[str, str] = {}
        """Sources as they were read or written last, in order."""
        self.runs: dict[str, str] = {}
        """Run ids, by cell."""
        self._reading: asyncio.Task[Snapshot] | None = None

    def begin(self) -> None:
        if not self.running:
            self.running, self.turn = True, self.turn + 1
            self.document.begin_turn(self.turn)
            self.first = self._last + 1
            self.read()

    @property
    def _last(self) -> int:
        ops = self.site.store.ops(self.session_id)
        return ops[-1].seq if ops else 0

    def end(self) -> None:
        if self.running:
            self.running = False
            self.document.end_turn()
            self.site.manager.notebooks.forget_if_idle(PATH)

    def read(self) -> None:
        if self._reading is None:
            self._reading = self.site.loop.create_task(self.document.snapshot())
            self._reading.add_done_callback(self._read)

    def _read(self, reading: asyncio.Task[Snapshot]) -> None:
        self._reading = None
        if reading.cancelled():
            return
        error = reading.exception()
        if error is None:
            self.known = {cell.cell_id: cell.source for cell in reading.result().cells}
        elif not isinstance(error, DocumentError):
            raise error

    def apply(self, op: Op) -> int:
        """The number that the op was given."""
        self.begin()
        seq = self._last + 1
        self.site.posted(self.session_id, seq, op)
        receipt = asyncio.ensure_future(self.document.apply(op), loop=self.site.loop)
        receipt.add_done_callback(lambda done: self._confirmed(op, done))
        return seq

    def _confirmed(self, op: Op, done: asyncio.Future[Receipt]) -> None:
        if done.cancelled():
            return
        receipt = done.result()
        if receipt.status == "conflict":
            self.known[op.cell_id] = receipt.source
        elif receipt.status == "missing":
            self.known.pop(op.cell_id, None)
        if isinstance(op, BeginRun) and receipt.status not in ("done", "pending"):
            self.runs.pop(op.cell_id, None)


class Site:
    def __init__(
        self,
        folder: Path,
        disk: Disk,
        posted: Callable[[str, int, Op], None],
        heard: Callable[[Wire, c.Command], None],
    ) -> None:
        """``posted`` is told of every op, ``heard`` of every command that reaches the server."""
        self.loop = Clock()
        self.disk = disk
        self.posted = posted
        self.heard = heard
        self._journal = folder / "sessions.db"
        self.wires: list[Wire] = []
        self.grace = GRACE
        self._start()
        for session_id in SESSIONS:
            self.store.create(c.SessionInfo(session_id, PATH, "", "m", "review", False, 0.0, 0.0))
        self._engage()

    def _start(self) -> None:
        self.store = SqliteStore(self._journal)
        nothing = cast(Any, None)
        self.manager = SessionManager(
            self.store,
            rules=nothing,
            make_session=nothing,
            make_notebooks=self._notebooks,
            default_model=nothing,
            settings=nothing,
            kernels=nothing,
            on_window=lambda: None,
        )

    def _notebooks(self, manager: SessionManager) -> LiveNotebooks:
        return LiveNotebooks(
            self.store,
            manager.sessions,
            manager.session,
            self._file_writer,
            self.grace,
            moved=lambda old, new: None,
            sessions_moved=manager.moved,
            has_rooms=lambda: False,
        )

    def _engage(self) -> None:
        self.agents = [Agent(self, session_id) for session_id in SESSIONS]

    def _file_writer(self, notebook: LiveNotebook) -> FileWriter:
        def answer(said: c.OpReceipt | c.SnapshotTaken) -> None:
            if isinstance(said, c.OpReceipt):
                notebook.receive(document, said)
            else:
                notebook.answer(document, said)

        document = FileDocument(self.disk, answer, notebook.written, notebook.lost)
        return document

    def notebook(self) -> LiveNotebook:
        return self.manager.notebooks.at(PATH)

    def do(self, work: Callable[[], object]) -> None:
        """On the loop, as the server does all its work."""

        async def working() -> None:
            work()

        self.loop.run_until_complete(working())

    # --- sockets ---------------------------------------------------------------------

    def connect(self, page: Page) -> Wire:
        wire = Wire(self, page)
        self.wires.append(wire)
        page.connected(wire)
        return wire

    def wire_of(self, page: Page) -> Wire | None:
        return cast("Wire | None", page.socket)

    def lose(self, page: Page, *, heard: bool) -> None:
        """The page's socket is gone. ``heard``: what the page has said before comes through."""
        wire = self.wire_of(page)
        if wire is not None:
            wire.dead = True
            wire.down.clear()
            if not heard:
                wire.up.clear()
            page.disconnected()

    def notice(self, wire: Wire) -> None:
        """The server sees that a socket is gone."""
        self.wires.remove(wire)
        self.do(lambda: self.manager.leave(wire.client))

    def flow(self) -> None:
        """Deliver what is on its way, but for sockets that lag, until all is quiet."""
        for _ in range(500):
            self.loop.ticks()
            ready = [wire for wire in self.wires if wire.can_deliver and not wire.lags]
            if not ready:
                return
            for wire in ready:
                if wire.up:
                    wire.deliver_up()
                elif wire.can_deliver:
                    wire.deliver_down()
        raise AssertionError("it never comes to rest")

    # --- the server's life -----------------------------------------------------------

    def restart(self) -> None:
        """Killed, and started again: what was on its way is gone, the journal is there."""
        self.close()
        for wire in self.wires:
            wire.dead = True
            if wire.page.socket is wire:
                wire.page.disconnected()
        self.wires.clear()
        self.disk.forget()
        self.loop = Clock(self.loop.now)
        self._start()
        self._engage()

    def close(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.ticks(3)
        self.store.close()
        self.loop.close()
