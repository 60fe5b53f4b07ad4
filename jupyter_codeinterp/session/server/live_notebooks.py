"""The notebooks that windows have open or turns work in, with their files.

Conversations follow a notebook that is renamed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...base.errors import CodeInterpError, StoreError
from ...base.preload import freeze
from ...base.sentences import Sentence, as_it_is
from ...journal.sqlite.store import SqliteStore
from ...notebook.live import FileWriter, LiveNotebook, Window
from ...run.turn.ending import Ending
from ...wire.commands import DraftRun, SessionInfo
from ...wire.ops import Receipt
from ...wire.stores import LEASE_TIME, OpsBySession
from .file_tracker import REPLACED, FileTracker

if TYPE_CHECKING:
    from ..session import Session

log = logging.getLogger(__name__)


class LiveNotebooks:
    def __init__(
        self,
        store: SqliteStore,
        sessions: Mapping[str, Session],
        session: Callable[[str], Session],
        file_writer: Callable[[LiveNotebook], FileWriter],
        grace: float,
        moved: Callable[[str, str], None],
        sessions_moved: Callable[[str, str], None],
        has_rooms: Callable[[], bool],
    ) -> None:
        """``sessions``: those in memory, by id; ``session`` loads one. Others as in
        ``SessionManager``."""
        self._store = store
        self._sessions = sessions
        self._session = session
        self._make_file_writer = file_writer
        self._grace = grace
        self._moved = moved
        self._sessions_moved = sessions_moved
        self._has_rooms = has_rooms
        self._notebooks: dict[str, LiveNotebook] = {}
        self._orphaned: dict[str, LiveNotebook] = {}
        """Placeholders for deleted notebooks, by session, until the session's turn ends."""
        self.file_tracker = FileTracker(self)

    def at(self, path: str) -> LiveNotebook:
        """The live notebook. A new one starts with the journaled ops that its file may lack."""
        if path not in self._notebooks:
            notebook = self._notebooks[path] = LiveNotebook(path, self, self._grace)
            self._take_up(notebook)
        return self._notebooks[path]

    def _take_up(self, notebook: LiveNotebook) -> None:
        path = notebook.path
        try:
            notebook.know_saved(self._store.saved_ops(path))
            for session_id, ops in self._store.unsaved_ops(path):
                notebook.restore(session_id, ops)
        except StoreError:
            log.exception("Could not find out what the file of %s lacks", path)
        self._end_killed(notebook)

    def _end_killed(self, notebook: LiveNotebook) -> None:
        """End the turns of killed servers, now or when their leases expire."""
        if self._notebooks.get(notebook.path) is not notebook:
            return
        try:
            running = [info for info in self._store.list(notebook.path) if info.running]
        except StoreError as error:
            log.warning(
                "Could not list the running conversations of %s: %s", notebook.path, error.message
            )
            return
        if not all([self._end_if_killed(info) for info in running]):
            asyncio.get_running_loop().call_later(LEASE_TIME, self._end_killed, notebook)

    def _end_if_killed(self, info: SessionInfo) -> bool:
        """End the turn of a killed server. False if another server has the session."""
        try:
            if self._store.holder(info.session_id):
                return False
            self._session(info.session_id)  # Loaded, it ends the turn.
        except CodeInterpError as error:
            # Another server may have deleted it meanwhile.
            log.warning("Could not take up %s: %s", info.session_id, error.message)
        return True

    def opened(self, path: str) -> LiveNotebook | None:
        return self._notebooks.get(path)

    def leave(self, window: Window) -> None:
        """Detach a window from all notebooks."""
        for path in list(self._notebooks):
            self.close(window, path, for_good=False)

    def close(self, window: Window, path: str, *, for_good: bool) -> None:
        """Detach a window. ``for_good``: the person closed the notebook; otherwise only the
        window left."""
        notebook = self._notebooks.get(path)
        if notebook is not None:
            notebook.close(window, for_good=for_good)
            self.file_tracker.left(path)
            self.forget_if_idle(path)

    def forget_if_idle(self, path: str) -> None:
        notebook = self._notebooks.get(path)
        if notebook is not None and notebook.idle:
            del self._notebooks[path]

    def rename(self, window: Window, old: str, new: str) -> None:
        """Move the notebook and its sessions to ``new``, as a window did.

        A notebook open at ``new`` was replaced, so work in it stops. Other windows still have
        the notebook at ``old``.
        """
        notebook = self._notebooks.get(old)
        if old == new or notebook is None or not notebook.opened_by(window):
            return
        self.file_tracker.settled(old)
        self.file_gone(new, Sentence(REPLACED, path=new))
        self._notebooks[new] = self._notebooks.pop(old)
        self._move_sessions(old, new)
        for other, copy in notebook.moved(new, window).items():
            self.at(old).open(other, copy)

    def _sessions_at(self, path: str) -> list[Session]:
        """A list, because callers may load other sessions."""
        return [one for one in self._sessions.values() if one.info.notebook == path]

    # --- file changes (see ``FileTracker``) ------------------------------------------

    def paths(self) -> set[str]:
        paths = {session.info.notebook for session in self._sessions.values()}
        try:
            paths |= {info.notebook for info in self._store.list(None)}
        except StoreError as error:
            log.error("Following only running sessions: %s", error.message)
        return paths | set(self._notebooks)

    def has_window(self, path: str) -> bool:
        return path in self._notebooks and self._notebooks[path].has_window

    def move(self, old: str, new: str) -> None:
        """Move a notebook that no window has open, and its sessions, to ``new``."""
        notebook = self._notebooks.pop(old, None)
        if new in self._notebooks:
            # Somebody opened it there before the server knew of the move.
            self._move_sessions(old, new)
            self._take_up(self._notebooks[new])
            if notebook is not None:
                notebook.give_up("it is now open elsewhere")
        else:
            if notebook is not None:
                notebook.move(new)
                self._notebooks[new] = notebook
            self._move_sessions(old, new)
        self._moved(old, new)
        self.forget_if_idle(new)

    def _move_sessions(self, old: str, new: str) -> None:
        try:
            self._store.rename_notebook(old, new)
        except StoreError as error:
            # Live sessions journal their path again with the next change.
            log.error("Could not journal the move of %s to %s: %s", old, new, error.message)
        self._sessions_moved(old, new)
        for session in self._sessions_at(old):
            session.log.moved(new)

    def file_gone(self, path: str, words: str) -> None:
        """End the turns of a deleted file with ``words``. Conversations stay.

        Unwritten ops are dropped: a later file of that name is a different notebook.
        """
        ending = Ending("cancelled", "notebook_gone", as_it_is(words))
        for session in self._sessions_at(path):
            if session.running:
                self._orphaned[session.info.session_id] = LiveNotebook(path)
                self._orphaned[session.info.session_id].give_up(words)
                session.task.halt(ending)
        notebook = self._notebooks.pop(path, None)
        if notebook is not None:
            notebook.give_up(words)
        try:
            self._store.give_up_ops(path)
        except StoreError as error:
            log.error("Could not journal the deletion of %s: %s", path, error.message)

    def of_session(self, session_id: str, path: str) -> LiveNotebook:
        """The notebook of a session; the one at ``path`` if the session is not live."""
        if session_id in self._orphaned:
            return self._orphaned[session_id]
        session = self._sessions.get(session_id)
        return self.at(session.info.notebook if session else path)

    def turn_over(self, session_id: str, path: str) -> None:
        freeze()  # The first answer imports a model's SDK.
        if self._orphaned.pop(session_id, None) is not None:
            with contextlib.suppress(StoreError):
                self._store.give_up_ops(path, session_id)
        self.forget_if_idle(path)

    def draft_gone(self, window: Window, path: str, cell_id: str) -> None:
        """Handle a draft that the person deleted."""
        notebook = self._reported(window, path)
        if notebook is None:
            return
        if notebook.sharing.by(window):
            notebook.sharing.look_for(cell_id)
        else:
            self.cells_gone(notebook, frozenset({cell_id}))

    def draft_run(self, window: Window, command: DraftRun) -> None:
        """Handle a draft that the person ran."""
        if self._reported(window, command.notebook) is None:
            return
        for session in self._sessions_at(command.notebook):
            session.decisions.run_by_hand(command.cell_id, command.source)

    def _reported(self, window: Window, path: str) -> LiveNotebook | None:
        """The notebook, if the agent works in that window, or the window is a view of its room.
        Reports of other windows do not count."""
        notebook = self._notebooks.get(path)
        counts = notebook is not None and (notebook.held_by(window) or notebook.sharing.by(window))
        return notebook if counts else None

    # --- callbacks of notebooks (their ``Owner``) ------------------------------------

    @property
    def has_rooms(self) -> bool:
        return self._has_rooms()

    def file_writer(self, notebook: LiveNotebook) -> FileWriter:
        return self._make_file_writer(notebook)

    def ops(self, notebook: LiveNotebook, seqs: Mapping[str, int]) -> OpsBySession:
        return self._store.ops_above(notebook.path, seqs)

    def saved(self, saved: Mapping[str, int]) -> None:
        try:
            for session_id, seq in saved.items():
                self._store.set_saved(session_id, seq)
        except StoreError as error:
            # Harmless: repeating an op changes nothing.
            log.warning("Could not journal what was saved: %s", error.message)

    def late(self, session_id: str, seq: int, receipt: Receipt) -> None:
        session = self._sessions.get(session_id)
        try:
            self._store.set_receipt(session_id, seq, receipt)
            if session is not None:
                for stored in self._store.ops(session_id, seq - 1)[:1]:
                    session.log.ledger.take(stored)
        except StoreError as error:
            log.warning("Could not journal a late receipt: %s", error.message)

    def gone(self, notebook: LiveNotebook, words: str) -> None:
        if self._notebooks.get(notebook.path) is notebook:
            self.file_gone(notebook.path, words)

    def cells_gone(self, notebook: LiveNotebook, cell_ids: frozenset[str]) -> None:
        for session in self._sessions_at(notebook.path):
            for cell_id in cell_ids:
                session.decisions.gone(cell_id)

    def not_saved(self, session_ids: frozenset[str], words: str) -> None:
        for session_id in session_ids & self._sessions.keys():
            self._sessions[session_id].note(as_it_is(words), "warning")

    def note(self, notebook: LiveNotebook, words: str) -> None:
        for session in self._sessions_at(notebook.path):
            if session.running:
                session.note(as_it_is(words))

    async def aclose(self) -> None:
        notebooks = tuple(self._notebooks.values())
        self._notebooks.clear()  # This stops `_end_killed`.
        for notebook in notebooks:
            await notebook.aclose("the server is stopping")
