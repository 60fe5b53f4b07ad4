"""All sessions and notebooks of one server, and how they find each other.

A session works on a notebook by path; when the notebook is renamed, its sessions follow.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from ..adapters.live_document import LiveNotebook, SessionDocument, Window
from ..core.commands import SessionChanged, SessionInfo
from ..core.errors import CommandError
from ..core.events import Mode
from ..core.ports import Kernel, Model, SessionStore
from ..core.session import Rules, Session
from .activity import Activity

Files = Callable[[str], Awaitable[list[tuple[str, int]]]]
"""Names and sizes of the files beside a notebook (its server path)."""


class FrontWindow(Window, Protocol):
    def leave(self) -> None:
        """The window's socket is gone, or the server is stopping."""


class NotebookPlace:
    """The notebook of one session. Fulfils the core's ``Workplace``."""

    def __init__(self, hub: Hub, session_id: str, notebook: str) -> None:
        self._hub = hub
        self._session_id = session_id
        self._first = notebook
        self.document = SessionDocument(self._notebook, hub.store, session_id)
        self.kernel = hub.make_kernel(self._notebook)

    def _notebook(self) -> LiveNotebook:
        session = self._hub.live(self._session_id)
        return self._hub.notebook(session.info.notebook if session else self._first)

    def begin_turn(self, turn: int) -> None:
        self.document.begin_turn(turn)

    def end_turn(self) -> None:
        self.document.end_turn()

    async def files(self) -> list[tuple[str, int]]:
        return await self._hub.files(self._notebook().path)


class Hub:
    def __init__(
        self,
        store: SessionStore,
        model: Callable[[str], Model],
        default_model: Callable[[str], str],
        make_kernel: Callable[[Callable[[], LiveNotebook]], Kernel],
        files: Files,
        rules: Rules,
        activity: Activity,
    ) -> None:
        """``model`` gives the model for a name, ``default_model`` the name for a notebook,
        ``make_kernel`` the kernel of the notebook that a function gives."""
        self.store = store
        self.rules = rules
        self.make_kernel = make_kernel
        self.files = files
        self._activity = activity
        self._model = model
        self._default_model = default_model
        self._sessions: dict[str, Session] = {}
        self._notebooks: dict[str, LiveNotebook] = {}
        self._windows: set[FrontWindow] = set()

    # --- windows ---------------------------------------------------------------------

    def join(self, window: FrontWindow) -> None:
        self._windows.add(window)
        for session in self._sessions.values():
            if session.running:
                window.send(_changed(session))

    def leave(self, window: FrontWindow) -> None:
        """The window's socket is gone. Its sessions go on."""
        self._windows.discard(window)
        window.leave()
        for path in list(self._notebooks):
            self.close_notebook(window, path)

    # --- notebooks -------------------------------------------------------------------

    def notebook(self, path: str) -> LiveNotebook:
        if path not in self._notebooks:
            self._notebooks[path] = LiveNotebook(path)
        return self._notebooks[path]

    def opened(self, path: str) -> LiveNotebook | None:
        """The notebook if it is known; what is said of another is out of date."""
        return self._notebooks.get(path)

    def close_notebook(self, window: Window, path: str) -> None:
        notebook = self._notebooks.get(path)
        if notebook is None:
            return
        notebook.close(window)
        if notebook.idle:
            del self._notebooks[path]

    def rename(self, window: Window, old: str, new: str) -> None:
        """A window has renamed or moved the notebook: it and its sessions go to ``new``.

        Where ``new`` was open too, that file has been replaced: what was going on in it is
        stopped. Other windows still have the notebook at ``old``.
        """
        notebook = self._notebooks.get(old)
        if old == new or notebook is None or not notebook.opened_by(window):
            return
        self._replace(new)
        self._notebooks[new] = self._notebooks.pop(old)
        for other, copy in notebook.moved(new, window).items():
            self.notebook(old).open(other, copy.applied, copy.kernel_id)
        self._move_sessions(old, new)

    def file_moved(self, old: str, new: str) -> None:
        """The server has renamed or moved a file or a folder. Conversations about notebooks
        in it that nobody has open follow; for the others their windows speak."""
        for path in {info.notebook for info in self.list(None)}:
            inside = path == old or path.startswith(f"{old}/")
            if inside and path not in self._notebooks:
                self._move_sessions(path, new + path[len(old) :])

    def _move_sessions(self, old: str, new: str) -> None:
        self.store.rename_notebook(old, new)
        for session in self._sessions.values():
            if session.info.notebook == old:
                session.moved(new)

    def _replace(self, path: str) -> None:
        replaced = self._notebooks.pop(path, None)
        if replaced is None:
            return
        for session in self._sessions.values():
            if session.info.notebook == path:
                session.cancel()
        replaced.give_up("another notebook has taken its place")

    def draft_gone(self, window: Window, path: str, cell_id: str) -> None:
        """The person deleted a draft in the window that the agent works in."""
        notebook = self._notebooks.get(path)
        if notebook is None or not notebook.held_by(window):
            return
        for session in self._sessions.values():
            if session.info.notebook == path:
                session.decisions.gone(cell_id)

    # --- sessions --------------------------------------------------------------------

    def live(self, session_id: str) -> Session | None:
        return self._sessions.get(session_id)

    def session(self, session_id: str) -> Session:
        """The live session, taken up from the journal if need be.

        Raises CommandError ``unknown_session``.
        """
        if session_id not in self._sessions:
            info = self.store.get(session_id)
            if info is None:
                raise CommandError("unknown_session", "There is no such conversation.")
            self._sessions[session_id] = self._make(_at_rest(info))
        return self._sessions[session_id]

    def new_session(self, notebook: str, mode: Mode, model: str) -> Session:
        now = time.time()
        info = SessionInfo(
            session_id=uuid.uuid4().hex,
            notebook=notebook,
            title="",
            model=model or self._default_model(notebook),
            mode=mode,
            running=False,
            created=now,
            changed=now,
        )
        self.store.create(info)
        session = self._sessions[info.session_id] = self._make(info)
        return session

    def _make(self, info: SessionInfo) -> Session:
        place = NotebookPlace(self, info.session_id, info.notebook)
        return Session(info, self.store, self._model, place, self.rules, self._announce)

    def _announce(self, session: Session) -> None:
        for window in self._windows:
            window.send(_changed(session))
        if session.running:
            self._activity.follow(lambda: self.running, lambda: self.working)

    def list(self, notebook: str | None) -> list[SessionInfo]:
        """Sessions as they are now, newest first."""
        return [
            self._sessions[info.session_id].info
            if info.session_id in self._sessions
            else _at_rest(info)
            for info in self.store.list(notebook)
        ]

    async def delete(self, session_id: str) -> None:
        """Stop and forget a session. Raises CommandError ``unknown_session``."""
        session = self.session(session_id)
        await session.close()
        self.notebook(session.info.notebook).drop(session_id)
        self._sessions.pop(session_id, None)
        self.store.delete(session_id)

    @property
    def running(self) -> bool:
        return any(session.running for session in self._sessions.values())

    @property
    def working(self) -> bool:
        """Whether a turn does something, and does not only wait for a person."""
        return any(s.running and not s.waiting for s in self._sessions.values())

    async def close(self) -> None:
        """Stop all turns; let nothing wait any longer."""
        await asyncio.gather(*(session.close() for session in self._sessions.values()))
        for notebook in self._notebooks.values():
            notebook.give_up("the server is stopping")
        for window in self._windows:
            window.leave()
        await self._activity.close()


def _changed(session: Session) -> SessionChanged:
    return SessionChanged(session.info, session.waiting)


def _at_rest(info: SessionInfo) -> SessionInfo:
    """Out of the journal, where a server that was killed has left it running."""
    return msgspec.structs.replace(info, running=False)
