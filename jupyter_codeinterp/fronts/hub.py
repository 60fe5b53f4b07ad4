"""All sessions and notebooks of one server, and how they find each other.

A session works on a notebook by path; when the notebook is renamed, its sessions follow.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Protocol

from ..adapters.live_document import LiveNotebook, SessionDocument, Window
from ..core.commands import ServerFrame, SessionChanged, SessionInfo
from ..core.errors import CommandError
from ..core.events import Mode
from ..core.ports import Kernel, Model, SessionStore
from ..core.session import Rules, Session

Files = Callable[[str], Awaitable[list[tuple[str, int]]]]
"""Names and sizes of the files beside a notebook (its server path)."""


class FrontWindow(Window, Protocol):
    def unsubscribe_all(self) -> None: ...


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
        self.document.turn = turn

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
    ) -> None:
        """``model`` gives the model for a name, ``default_model`` the name for a notebook,
        ``make_kernel`` the kernel of the notebook that a function gives."""
        self.store = store
        self.rules = rules
        self.make_kernel = make_kernel
        self.files = files
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
        window.unsubscribe_all()
        for notebook in list(self._notebooks.values()):
            notebook.close(window)

    def broadcast(self, frame: ServerFrame) -> None:
        for window in self._windows:
            window.send(frame)

    # --- notebooks -------------------------------------------------------------------

    def notebook(self, path: str) -> LiveNotebook:
        if path not in self._notebooks:
            self._notebooks[path] = LiveNotebook(path)
        return self._notebooks[path]

    def rename(self, old: str, new: str) -> None:
        """A notebook was renamed or moved: its sessions follow."""
        if old == new or old not in self._notebooks:
            return
        notebook = self._notebooks.pop(old)
        notebook.path = new
        replaced = self._notebooks.get(new)
        self._notebooks[new] = notebook
        if replaced is not None:
            for window in replaced.windows:
                notebook.open(window, {}, replaced.kernel_id)
        self.store.rename_notebook(old, new)
        for session in self._sessions.values():
            if session.info.notebook == old:
                session.moved(new)

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
            self._sessions[session_id] = self._make(info)
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
        self.broadcast(_changed(session))

    def list(self, notebook: str | None) -> list[SessionInfo]:
        """Sessions as they are now, newest first."""
        return [
            self._sessions[info.session_id].info if info.session_id in self._sessions else info
            for info in self.store.list(notebook)
        ]

    async def delete(self, session_id: str) -> None:
        """Stop and forget a session. Raises CommandError ``unknown_session``."""
        await self.session(session_id).close()
        del self._sessions[session_id]
        self.store.delete(session_id)

    def draft_gone(self, notebook: str, cell_id: str) -> None:
        for session in self._sessions.values():
            if session.info.notebook == notebook:
                session.decisions.gone(cell_id)

    @property
    def busy(self) -> bool:
        """Whether a turn is working, not only waiting for a person."""
        return any(s.running and not s.waiting for s in self._sessions.values())

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()


def _changed(session: Session) -> SessionChanged:
    return SessionChanged(session.info, session.waiting)
