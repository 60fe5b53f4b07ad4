"""All sessions and notebooks of one server. Sessions follow a notebook that is renamed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from ..adapters.documents.live import FileWriter, LiveNotebook, Window
from ..core.commands import (
    DoneElsewhere,
    DraftRun,
    SessionChanged,
    SessionInfo,
    WaitingChanged,
)
from ..core.document.ops import Receipt
from ..core.errors import CommandError, StoreError
from ..core.events import Mode
from ..core.ports import Kernel, Model
from ..core.stores import Beginning, Journal, Sessions, StoredOps
from ..core.turn.ending import Ending
from ..core.turn.limits import Rules
from .activity import Activity
from .files.file_tracker import REPLACED, FileTracker
from .idle_sessions import IdleSessions
from .own_runs import OWN, OwnRuns
from .place import (
    Files,
    GetOutsideTools,
    LookAround,
    MakeFreshRuns,
    MakeNewNotebooks,
    NotebookPlace,
    OwnCommands,
    ReadFile,
    RuleFiles,
    no_outside_tools,
)
from .preload import freeze, preload
from .windows.actions import ActionLog
from .windows.broadcaster import Broadcaster, FrontWindow
from .windows.in_flight import InFlight
from .windows.not_me import not_me
from .windows.windows import Windows

if TYPE_CHECKING:
    from ..core.checks.checks import Checks
    from ..core.hooks.hooks import Hooks
    from ..core.session.service import SessionService
    from ..core.session.session import Session
    from ..core.tools.registry import ToolRegistry
    from .windows.kept_marks import KeptMarks
    from .windows.stale_cells import ReportedCells

log = logging.getLogger(__name__)


class SessionManager:
    def __init__(
        self,
        store: Journal,
        model: Callable[[str], Model],
        default_model: Callable[[str], str],
        make_kernel: Callable[[Callable[[], LiveNotebook]], Kernel],
        files: Files,
        read_file: ReadFile,
        rule_files: RuleFiles,
        own_commands: OwnCommands,
        look_around: LookAround,
        rules: Rules,
        activity: Activity,
        file_writer: Callable[[LiveNotebook], FileWriter],
        grace: float,
        tools: Callable[[], ToolRegistry],
        hooks: Callable[[], Hooks],
        checks: Callable[[], Checks],
        on_window: Callable[[], None] = preload,
        leave_grace: float = 5.0,
        moved: Callable[[str, str], None] = lambda old, new: None,
        seen: Callable[[str], None] = lambda path: None,
        put_back_settings: Callable[[int], None] = lambda window: None,
        own_runs: OwnRuns | None = None,
        make_new_notebooks: MakeNewNotebooks = lambda session_id, path: None,
        make_fresh_runs: MakeFreshRuns = lambda path: None,
        outside_tools: GetOutsideTools = no_outside_tools,
        stale_marks: Callable[[], KeptMarks | None] = lambda: None,
        has_rooms: Callable[[], bool] = lambda: False,
    ) -> None:
        """Set up an empty manager.

        model          model by id
        default_model  id of the default model, by notebook path
        file_writer    edits a notebook's file when no window has had it open for ``grace``
                       seconds, or for ``leave_grace`` if the last one announced its departure
        moved          called after the move of a notebook that no window has open
        seen           called when somebody opens a path: another notebook may have moved there
        tools, hooks, checks  called with the first session
        on_window      called with each window
        put_back_settings  reverts server settings that others changed since a window opened
        own_runs       keeps the outputs of runs whose page closes; None: it keeps none
        make_new_notebooks  lets a conversation go on in another notebook
        stale_marks    gives the marks of stale cells on disk, if they are kept
        make_fresh_runs  runs a conversation's notebook in a fresh kernel
        has_rooms      whether windows may share a notebook in a room of this server
        outside_tools  gives a conversation's tools of MCP servers
        """
        self.store = store
        self.rules = rules
        self.make_kernel = make_kernel
        self.files = files
        self.read_file = read_file
        self.rule_files = rule_files
        self.own_commands = own_commands
        self.look_around = look_around
        self.make_new_notebooks = make_new_notebooks
        self.make_fresh_runs = make_fresh_runs
        self.outside_tools = outside_tools
        self._stale_marks = stale_marks
        self._has_rooms = has_rooms
        self._activity = activity
        self._model = model
        self._default_model = default_model
        self._tools = tools
        self._hooks = hooks
        self._checks = checks
        self._on_window = on_window
        self._make_file_writer = file_writer
        self._grace = grace
        self._leave_grace = leave_grace
        self._moved = moved
        self._seen = seen
        self._put_back_settings = put_back_settings
        self._sessions: dict[str, Session] = {}
        self._idle = IdleSessions(self._sessions)
        self._notebooks: dict[str, LiveNotebook] = {}
        self._orphaned: dict[str, LiveNotebook] = {}
        """Stand-ins for deleted notebooks, by session, until the session's turn ends."""
        self.actions = ActionLog(store)
        self.broadcaster = Broadcaster(self.actions)
        self.in_flight = InFlight()
        self._at_close: list[Callable[[], None]] = []
        self.windows = Windows(self.actions.new_window, self.broadcaster.has)
        self.file_tracker = FileTracker(self)
        self.own_runs = own_runs or OwnRuns(None, grace)

    @cached_property
    def stale_cells(self) -> ReportedCells:
        from .windows.stale_cells import ReportedCells  # see ``preload``

        return ReportedCells(self._stale_marks())

    @cached_property
    def service(self) -> SessionService:
        from ..core.session.service import SessionService  # see ``preload``

        return SessionService(self)

    # --- windows ---------------------------------------------------------------------

    def join(self, window: FrontWindow, seen: int | None = None) -> None:
        self._on_window()
        self.broadcaster.join(window, seen)
        for session in self._sessions.values():
            if session.running:
                window.send(changed(session))

    def leave(self, window: FrontWindow) -> None:
        """Handle a closed socket. The window's sessions continue."""
        announced = self.broadcaster.leave(window)
        self.own_runs.left(window.number, announced=announced)
        for path in list(self._notebooks):
            self.close_notebook(window, path, for_good=False, announced=announced)

    def departing(self, number: int) -> None:
        """Handle a page's announced departure. Its socket may already be closed."""
        gone = self.broadcaster.departing(number)
        if gone is not None:
            for notebook in self._notebooks.values():
                notebook.leaves(gone)
            self.own_runs.left(number, announced=True)

    def record(self, action: DoneElsewhere) -> DoneElsewhere:
        """Number and journal an action, and send it to all other windows.

        Programs without a window (0) are not recorded.
        """
        if action.window:
            action = self.actions.add(action)
            self.broadcaster.send_others(action)
        return action

    def person(self, notebook: str, window: int) -> str:
        live = self._notebooks.get(notebook)
        return self.broadcaster.person(window) if live is not None and live.sharing else ""

    def not_me(self, window: FrontWindow) -> None:
        """See ``not_me.py``."""
        not_me(self, window, self._put_back_settings)

    # --- notebooks -------------------------------------------------------------------

    def notebook(self, path: str) -> LiveNotebook:
        """The live notebook. A new one starts with the journaled ops that its file may lack."""
        if path not in self._notebooks:
            self._seen(path)
        if path not in self._notebooks:
            notebook = self._notebooks[path] = LiveNotebook(
                path, self, self._grace, self._leave_grace
            )
            self._take_up(notebook)
        return self._notebooks[path]

    def _take_up(self, notebook: LiveNotebook) -> None:
        path = notebook.path
        try:
            notebook.know_saved(self.store.saved_ops(path))
            for session_id, ops in self.store.unsaved_ops(path):
                notebook.restore(session_id, ops)
            for info in self.store.list(path):
                if info.running and self.store.holder(info.session_id) is None:
                    self.session(info.session_id)  # A killed server's: it ends the turn.
        except StoreError:
            log.exception("Could not find out what the file of %s lacks", path)

    def opened(self, path: str) -> LiveNotebook | None:
        return self._notebooks.get(path)

    def close_notebook(
        self, window: Window, path: str, *, for_good: bool, announced: bool = False
    ) -> None:
        """Detach a window. ``for_good``: the person closed the notebook; otherwise only the
        window left. ``announced``: it announced that."""
        notebook = self._notebooks.get(path)
        if notebook is not None:
            notebook.close(window, for_good=for_good, announced=announced)
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
        self.file_gone(new, REPLACED.format(path=new))
        self._notebooks[new] = self._notebooks.pop(old)
        self._move_sessions(old, new)
        for other, copy in notebook.moved(new, window).items():
            self.notebook(old).open(other, copy)

    # --- file changes (see ``FileTracker``) ------------------------------------------

    def paths(self) -> set[str]:
        paths = {session.info.notebook for session in self._sessions.values()}
        try:
            paths |= {info.notebook for info in self.store.list(None)}
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
                self.own_runs.gone(notebook)
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
            self.store.rename_notebook(old, new)
        except StoreError as error:
            # Live sessions journal their path again with the next change.
            log.error("Could not journal the move of %s to %s: %s", old, new, error.message)
        for session in self._sessions.values():
            if session.info.notebook == old:
                session.moved(new)

    def file_gone(self, path: str, words: str) -> None:
        """End the turns of a deleted file with ``words``. Conversations stay.

        Unwritten ops are dropped: a later file of that name is a different notebook.
        """
        ending = Ending("cancelled", "notebook_gone", words)
        for session in self._sessions.values():
            if session.info.notebook == path and session.running:
                self._orphaned[session.info.session_id] = LiveNotebook(path)
                self._orphaned[session.info.session_id].give_up(words)
                session.halt(ending)
        notebook = self._notebooks.pop(path, None)
        if notebook is not None:
            self.own_runs.gone(notebook)
            notebook.give_up(words)
        try:
            self.store.give_up_ops(path)
        except StoreError as error:
            log.error("Could not journal the deletion of %s: %s", path, error.message)

    def notebook_of(self, session_id: str, path: str) -> LiveNotebook:
        """The notebook of a session; the one at ``path`` if the session is not live."""
        if session_id in self._orphaned:
            return self._orphaned[session_id]
        session = self._sessions.get(session_id)
        return self.notebook(session.info.notebook if session else path)

    def turn_over(self, session_id: str, path: str) -> None:
        freeze()  # what the first answer imported
        if self._orphaned.pop(session_id, None) is not None:
            with contextlib.suppress(StoreError):
                self.store.give_up_ops(path, session_id)
        self.forget_if_idle(path)

    def draft_gone(self, window: Window, path: str, cell_id: str) -> None:
        """Handle a draft that the person deleted, in the window that the agent works in or in a
        view of the room."""
        notebook = self._notebooks.get(path)
        if notebook is None or not _may_tell(notebook, window):
            return
        if notebook.sharing.by(window):
            notebook.sharing.look_for(cell_id)
        else:
            self.cells_gone(notebook, frozenset({cell_id}))

    def draft_run(self, window: Window, command: DraftRun) -> None:
        """Handle a draft that the person ran, in the window that the agent works in or in a view
        of the room."""
        notebook = self._notebooks.get(command.notebook)
        if notebook is None or not _may_tell(notebook, window):
            return
        for session in self._sessions.values():
            if session.info.notebook == command.notebook:
                session.decisions.run_by_hand(command.cell_id, command.source, command.ended)

    # --- callbacks of notebooks (their ``Owner``) ------------------------------------

    @property
    def has_rooms(self) -> bool:
        return self._has_rooms()

    def file_writer(self, notebook: LiveNotebook) -> FileWriter:
        return self._make_file_writer(notebook)

    def ops(self, session_id: str, after: int) -> StoredOps:
        return self.store.whole_ops(session_id, after)

    def saved(self, saved: Mapping[str, int]) -> None:
        try:
            for session_id, seq in saved.items():
                self.store.set_saved(session_id, seq)
        except StoreError as error:
            # Harmless: repeating an op changes nothing.
            log.warning("Could not journal what was saved: %s", error.message)

    def late(self, session_id: str, seq: int, receipt: Receipt) -> None:
        if session_id == OWN:
            self.own_runs.late(seq, receipt)
            return
        session = self._sessions.get(session_id)
        try:
            self.store.set_receipt(session_id, seq, receipt)
            if session is not None:
                session.confirmed_late(seq)
        except StoreError as error:
            log.warning("Could not journal a late receipt: %s", error.message)

    def gone(self, notebook: LiveNotebook, words: str) -> None:
        if self._notebooks.get(notebook.path) is notebook:
            self.file_gone(notebook.path, words)

    def cells_gone(self, notebook: LiveNotebook, cell_ids: frozenset[str]) -> None:
        for session in self._sessions.values():
            if session.info.notebook == notebook.path:
                for cell_id in cell_ids:
                    session.decisions.gone(cell_id)

    def not_saved(self, session_ids: frozenset[str], words: str) -> None:
        for session in self._sessions.values():
            if session.info.session_id in session_ids:
                session.note(words, "warning")

    def note(self, notebook: LiveNotebook, words: str) -> None:
        for session in self._sessions.values():
            if session.running and session.info.notebook == notebook.path:
                session.note(words)

    # --- sessions --------------------------------------------------------------------

    @property
    def live_sessions(self) -> tuple[Session, ...]:
        return tuple(self._sessions.values())

    def live(self, session_id: str) -> Session | None:
        return self._sessions.get(session_id)

    def session(self, session_id: str) -> Session:
        """The live session, loaded from the journal if needed.

        Raises CommandError ``unknown_session``.
        """
        if session_id not in self._sessions:
            info = self.store.get(session_id)
            if info is None:
                raise CommandError("unknown_session", "This conversation does not exist.")
            self._add(_at_rest(info))
        session = self._sessions[session_id]
        self._idle.use(session)
        session.refresh()
        return session

    def is_private(self, notebook: str, name: str) -> bool:
        """Whether a conversation about the notebook has seen a private cell assign the name."""
        here = (one for one in self._sessions.values() if one.info.notebook == notebook)
        return self._idle.is_private(name) or any(session.is_private(name) for session in here)

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
        return self._add(info)

    def new_branch(self, of: SessionInfo, turn: int, beginning: Beginning) -> Session:
        """A session that continues from before a turn of another session."""
        from ..core.history.branching import points  # see ``preload``

        now = time.time()
        info = SessionInfo(
            session_id=uuid.uuid4().hex,
            notebook=of.notebook,
            title=of.title,
            model=beginning.model or of.model,
            mode=of.mode,
            running=False,
            created=now,
            changed=now,
            branches=points(of, turn),
        )
        self.store.create_branch(info, of.session_id, beginning)
        return self._add(info)

    def _add(self, info: SessionInfo) -> Session:
        from ..core.session.session import Session  # see ``preload``

        place = NotebookPlace(self, info.session_id, info.notebook)
        session = self._sessions[info.session_id] = Session(
            info,
            self.store,
            self._model,
            place,
            self.rules,
            self._announce,
            self._tools(),
            self._hooks(),
            self._checks(),
            self._announce_waiting,
        )
        self._idle.use(session)
        return session

    def _announce(self, session: Session) -> None:
        self.broadcaster.send(changed(session))
        if session.running:
            self._activity.follow(lambda: self.running, self._kernels_at_work)

    def _announce_waiting(self, session: Session) -> None:
        self.broadcaster.send(WaitingChanged(session.info.session_id, session.waiting))

    def list(self, notebook: str | None) -> list[SessionInfo]:
        """Sessions as they are now, newest first."""
        if notebook:
            self._seen(notebook)
        return self._now(self.store.list(notebook))

    async def search(self, word: str, notebook: str | None) -> Sessions:
        """Sessions with ``word`` in their text or title."""
        return self._now(await self.store.search(word, notebook))

    def _now(self, stored: Sessions) -> Sessions:
        return [
            self._sessions[info.session_id].info
            if info.session_id in self._sessions
            else _at_rest(info)
            for info in stored
        ]

    async def delete(self, session_id: str) -> None:
        """Stop and forget a session. Raises CommandError ``unknown_session`` or
        ``held_elsewhere``."""
        session = self.session(session_id)
        session.need_here()
        await session.close()
        self.notebook(session.info.notebook).drop(session_id)
        self._sessions.pop(session_id, None)
        self._idle.forget(session_id)
        self.store.delete(session_id)

    @property
    def running(self) -> bool:
        return any(session.running for session in self._sessions.values())

    @property
    def working(self) -> bool:
        """Whether a turn is active (see ``Activity.counts``)."""
        return any(map(self._activity.counts, self._sessions.values()))

    def _kernels_at_work(self) -> Iterator[str]:
        """Kernel ids of active turns: the window's, or else the turn's last one ("" for none)."""
        for session in filter(self._activity.counts, self._sessions.values()):
            notebook = self._notebooks.get(session.info.notebook)
            shown = notebook.kernel_id if notebook is not None else ""
            yield shown or session.workplace.kernel.kernel_id

    @contextlib.contextmanager
    def at_close(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call ``stop`` if the server stops within the context."""
        self._at_close.append(stop)
        try:
            yield
        finally:
            self._at_close.remove(stop)

    async def close(self) -> None:
        """Stop all turns and end all waits."""
        for stop in self._at_close:
            stop()
        self._idle.close()
        self.own_runs.close()
        await asyncio.gather(*(session.close() for session in self._sessions.values()))
        for notebook in self._notebooks.values():
            await notebook.aclose("the server is stopping")
        self.broadcaster.close()
        await self._activity.close()


def changed(session: Session) -> SessionChanged:
    return SessionChanged(session.info, session.waiting, session.worked, session.stop_reason)


def _at_rest(info: SessionInfo) -> SessionInfo:
    """The stored session, not running: a killed server may have left that mark."""
    return msgspec.structs.replace(info, running=False)


def _may_tell(notebook: LiveNotebook, window: Window) -> bool:
    """Whether the window may tell what the person did with a draft's cell."""
    return notebook.held_by(window) or notebook.sharing.by(window)
