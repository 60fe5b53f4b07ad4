"""All sessions of one server, and the windows that show them."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, MutableMapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import msgspec
from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

from ...base.errors import CommandError
from ...journal.sqlite.store import SqliteStore
from ...run.turn.limits import Rules
from ...wire.commands import (
    DoneElsewhere,
    ServerFrame,
    SessionChanged,
    SessionInfo,
    WaitingChanged,
    YouAre,
)
from ...wire.events import Mode
from ...wire.stores import Beginning
from .live_notebooks import LiveNotebooks
from .windows import FrontWindow, ReportedCells, Windows

if TYPE_CHECKING:
    from ...view.redaction.private_names import PrivateNames
    from ..session import Session


GRACE = 3.0
"""Seconds between looks for unused sessions. One found unused twice leaves the memory; the journal
keeps it."""
SETTING = "codeinterp_last_activity"
"""A hub that culls idle servers reads the last activity from ``/api/status``: the latest of all
settings whose names end in ``_last_activity``."""
INTERVAL = 0.4
"""Seconds between updates of the last activity. A kernel's shortest timeout is one second."""


class SessionManager:
    def __init__(
        self,
        store: SqliteStore,
        rules: Rules,
        make_session: Callable[[SessionInfo, SessionManager], Session],
        make_notebooks: Callable[[SessionManager], LiveNotebooks],
        default_model: Callable[[str], str],
        settings: MutableMapping[str, Any],
        kernels: MappingKernelManager,
        on_window: Callable[[], None],
    ) -> None:
        """``default_model``: the id of the default model, by notebook path. ``settings``, the web
        application's, get the last activity. Calls ``on_window`` with each window."""
        self.store = store
        self.rules = rules
        self._make_session = make_session
        self._default_model = default_model
        self._settings = settings
        self._kernels = kernels
        self._marking: asyncio.Task[None] | None = None
        self._on_window = on_window
        self.sessions: dict[str, Session] = {}
        """The sessions in memory, by id."""
        self._unused: set[str] = set()
        """Sessions that the last look found unused."""
        self._private: dict[str, PrivateNames] = {}
        """Names that private cells assign, by notebook, for sessions that are loaded again."""
        self._looking: asyncio.TimerHandle | None = None
        self.connected: set[FrontWindow] = set()
        """Windows with a socket."""
        self.windows = Windows(
            lambda number: any(window.number == number for window in self.connected)
        )
        self.stale_cells = ReportedCells()
        self.notebooks = make_notebooks(self)

    # --- windows ---------------------------------------------------------------------

    def join(self, window: FrontWindow) -> None:
        self._on_window()
        self.connected.add(window)
        window.send(YouAre(window.number))
        for session in self.sessions.values():
            if session.running:
                window.send(changed(session))

    def leave(self, window: FrontWindow) -> None:
        """Handle a closed socket. The window's sessions continue."""
        self.connected.discard(window)
        window.leave()
        self.notebooks.leave(window)

    def tell_others(self, done: DoneElsewhere) -> None:
        """Send what a window (not 0) did to all others."""
        for window in self.connected if done.window else ():
            if window.number != done.window:
                window.send(done)

    def person(self, notebook: str, window: int) -> str:
        live = self.notebooks.opened(notebook)
        if live is None or not live.sharing:
            return ""
        return next((one.person for one in self.connected if one.number == window), "")

    def _send(self, frame: ServerFrame) -> None:
        for window in self.connected:
            window.send(frame)

    # --- sessions --------------------------------------------------------------------

    def session(self, session_id: str) -> Session:
        """The live session, loaded from the journal if needed.

        Raises CommandError ``unknown_session``.
        """
        if session_id not in self.sessions:
            info = self.store.get(session_id)
            if info is None:
                raise CommandError("unknown_session", "This conversation does not exist.")
            if info.running:
                self.notebooks.at(info.notebook)  # It loads sessions of a killed server itself.
            if session_id not in self.sessions:
                self._add(info)
        session = self.sessions[session_id]
        self._unused.discard(session_id)
        session.log.refresh()
        return session

    def is_private(self, notebook: str, name: str) -> bool:
        """Whether a conversation about the notebook has seen a private cell assign the name."""
        return notebook in self._private and name in self._private[notebook]

    def moved(self, old: str, new: str) -> None:
        """Let the private names follow a notebook."""
        if old in self._private:
            names = self._private[old]
            if new in self._private:
                names.add(self._private[new])
            self._private[new] = names

    def new_session(self, notebook: str, mode: Mode, model: str) -> Session:
        info = _new(notebook, mode, model or self._default_model(notebook))
        self.store.create(info)
        return self._add(info)

    def new_branch(self, of: SessionInfo, turn: int, beginning: Beginning) -> Session:
        """A session that continues from before a turn of another session."""
        from ...journal.branching import points  # see ``preload``

        info = msgspec.structs.replace(
            _new(of.notebook, of.mode, beginning.model or of.model),
            branches=points(of, turn),
        )
        self.store.create_branch(info, of.session_id, beginning)
        return self._add(info)

    def _add(self, info: SessionInfo) -> Session:
        session = self.sessions[info.session_id] = self._make_session(info, self)
        session.private_names = self._private.setdefault(info.notebook, session.private_names)
        if self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(GRACE, self._evict)
        return session

    def _evict(self) -> None:
        unused = {session_id for session_id, one in self.sessions.items() if one.at_rest}
        for session_id in unused & self._unused:
            del self.sessions[session_id]
        self._unused = unused
        loop = asyncio.get_running_loop()
        self._looking = loop.call_later(GRACE, self._evict) if self.sessions else None

    def announce(self, session: Session) -> None:
        """Tell the windows that the session has changed."""
        self._send(changed(session))
        self._mark_active()

    def announce_waiting(self, session: Session) -> None:
        """Tell the windows whether the session waits for a person."""
        self._send(WaitingChanged(session.info.session_id, session.waiting))
        self._mark_active()

    def list(self, notebook: str | None) -> list[SessionInfo]:
        """Sessions as they are now, newest first."""
        return [
            self.sessions[info.session_id].info
            if info.session_id in self.sessions
            # A killed server may have left it marked as running.
            else msgspec.structs.replace(info, running=False)
            for info in self.store.list(notebook)
        ]

    async def delete(self, session_id: str) -> None:
        """Stop and forget a session. Raises CommandError ``unknown_session`` or
        ``held_elsewhere``."""
        session = self.session(session_id)
        session.log.need_here()
        await session.close()
        self.notebooks.at(session.info.notebook).drop(session_id)
        self.sessions.pop(session_id, None)
        self.store.delete(session_id)

    @property
    def running(self) -> bool:
        return any(session.running for session in self.sessions.values())

    @property
    def working(self) -> bool:
        """Whether a turn runs and does not wait for a person."""
        return bool(self._kernels_at_work())

    def _kernels_at_work(self) -> tuple[str, ...]:
        """The kernel of each turn that does not wait for a person: the window's, or else the turn's
        last one ("" for none)."""
        kernels: tuple[str, ...] = ()
        for session in self.sessions.values():
            if session.running and not session.waiting:
                notebook = self.notebooks.opened(session.info.notebook)
                shown = notebook.kernel_id if notebook is not None else ""
                kernels += (shown or session.workplace.kernel.kernel_id,)
        return kernels

    def _mark_active(self) -> None:
        """Mark the server and the kernels at work as active, until there are none."""
        if self._marking is None or self._marking.done():
            self._marking = asyncio.get_running_loop().create_task(self._keep_active())

    async def _keep_active(self) -> None:
        while kernel_ids := self._kernels_at_work():
            now = self._settings[SETTING] = datetime.now(timezone.utc)
            for kernel_id in kernel_ids:
                if kernel_id in self._kernels:
                    kernel: Any = self._kernels.get_kernel(kernel_id)
                    kernel.last_activity = now  # See ``cull_idle_timeout`` of the server.
            await asyncio.sleep(INTERVAL)

    async def close(self) -> None:
        """Stop all turns."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(session.close() for session in self.sessions.values()))
        await self.notebooks.aclose()
        for window in self.connected:
            window.leave()
        if self._marking is not None:
            self._marking.cancel()
            await asyncio.gather(self._marking, return_exceptions=True)


def _new(notebook: str, mode: Mode, model: str) -> SessionInfo:
    now = time.time()
    return SessionInfo(uuid.uuid4().hex, notebook, "", model, mode, False, now, now)


def changed(session: Session) -> SessionChanged:
    return SessionChanged(session.info, session.waiting, session.worked, session.stop_reason)
