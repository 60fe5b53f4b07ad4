"""All sessions and notebooks of one server, and how they find each other.

A session works on a notebook by path; when the notebook is renamed, its sessions follow.
"""

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
from ..core.approval.modes import MODES
from ..core.commands import DoneElsewhere, SessionChanged, SessionInfo
from ..core.document.ops import Receipt
from ..core.errors import CommandError, StoreError
from ..core.events import Mode
from ..core.ports import Kernel, Model
from ..core.stores import Beginning, Sessions, SessionStore, StoredOps
from ..core.turn.ending import Ending
from ..core.turn.limits import Rules
from .activity import Activity
from .audience import Audience, FrontWindow
from .early import import_early
from .files.whereabouts import REPLACED, Whereabouts
from .not_me import calm
from .place import Files, LookAround, NotebookPlace, ReadFile, RuleFiles
from .windows import Windows

if TYPE_CHECKING:
    from ..core.hooks.hooks import Hooks
    from ..core.session.service import SessionService
    from ..core.session.session import Session
    from ..core.tools.registry import ToolRegistry

log = logging.getLogger(__name__)


class SessionManager:
    def __init__(
        self,
        store: SessionStore,
        model: Callable[[str], Model],
        default_model: Callable[[str], str],
        make_kernel: Callable[[Callable[[], LiveNotebook]], Kernel],
        files: Files,
        read_file: ReadFile,
        rule_files: RuleFiles,
        look_around: LookAround,
        rules: Rules,
        activity: Activity,
        file_writer: Callable[[LiveNotebook], FileWriter],
        grace: float,
        tools: Callable[[], ToolRegistry],
        hooks: Callable[[], Hooks],
        early: Callable[[], None] = import_early,
        leave_grace: float = 5.0,
        moved: Callable[[str, str], None] = lambda old, new: None,
        seen: Callable[[str], None] = lambda path: None,
    ) -> None:
        """``model`` gives the model for a name, ``default_model`` the name for a notebook,
        ``make_kernel`` the kernel of the notebook that a function gives, ``file_writer`` who
        works in a notebook's file when no window has had it open for ``grace`` seconds, or
        for ``leave_grace`` seconds after the last has said that it goes. ``moved`` is told
        when a notebook that no window has open is elsewhere, ``seen`` when somebody looks at
        one: it may be another that was moved there. ``tools`` and ``hooks`` are asked for with
        the first session; ``early`` is called with each window."""
        self.store = store
        self.rules = rules
        self.make_kernel = make_kernel
        self.files = files
        self.read_file = read_file
        self.rule_files = rule_files
        self.look_around = look_around
        self._activity = activity
        self._model = model
        self._default_model = default_model
        self._tools = tools
        self._hooks = hooks
        self._early = early
        self._make_file_writer = file_writer
        self._grace = grace
        self._leave_grace = leave_grace
        self._moved = moved
        self._seen = seen
        self._sessions: dict[str, Session] = {}
        self._notebooks: dict[str, LiveNotebook] = {}
        self._adrift: dict[str, LiveNotebook] = {}
        """What turns have that still run when their notebook is gone, by session."""
        self._windows = Audience()
        self._at_close: list[Callable[[], None]] = []
        self.known = Windows()
        self.whereabouts = Whereabouts(self)

    @cached_property
    def service(self) -> SessionService:
        """What fronts do goes through it."""
        from ..core.session.service import SessionService  # see ``early``

        return SessionService(self)

    # --- windows ---------------------------------------------------------------------

    def join(self, window: FrontWindow) -> None:
        self._early()
        self._windows.join(window)
        for session in self._sessions.values():
            if session.running:
                window.send(_changed(session))

    def leave(self, window: FrontWindow) -> None:
        """The window's socket is gone. Its sessions go on."""
        said_so = self._windows.leave(window)
        for path in list(self._notebooks):
            self.close_notebook(window, path, for_good=False, said_so=said_so)

    def goes(self, number: int) -> None:
        """The page of a window has said that it goes. Its socket may be gone by then."""
        gone = self._windows.goes(number)
        if gone is not None:
            for notebook in self._notebooks.values():
                notebook.goes(gone)

    def tell_others(self, done: DoneElsewhere, undo: Callable[[], None] | None = None) -> None:
        """What a window has done: see ``Audience``."""
        self._windows.tell_others(done, undo)

    def not_me(self, window: FrontWindow, doer: int) -> None:
        """What ``doer`` has done was not the person at ``window``: nothing of it goes on, and
        no other window does anything any more."""
        self.known.close_others(window.number)
        self._windows.only(window, doer)
        for session in list(self._sessions.values()):
            if session.running or session.queued or MODES[session.info.mode].unasked:
                calm(session, window.number)

    # --- notebooks -------------------------------------------------------------------

    def notebook(self, path: str) -> LiveNotebook:
        """Taken up from the journal if need be: with the ops that its file may lack."""
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
        except StoreError:
            log.exception("What the file of %s lacks is not known", path)

    def opened(self, path: str) -> LiveNotebook | None:
        """The notebook if it is known; what is said of another is out of date."""
        return self._notebooks.get(path)

    def close_notebook(
        self, window: Window, path: str, *, for_good: bool, said_so: bool = False
    ) -> None:
        """``for_good``: the person has closed it; else only the window is gone. ``said_so``:
        with a word."""
        notebook = self._notebooks.get(path)
        if notebook is not None:
            notebook.close(window, for_good=for_good, said_so=said_so)
            self.whereabouts.left(path)
            self.forget_if_idle(path)

    def forget_if_idle(self, path: str) -> None:
        notebook = self._notebooks.get(path)
        if notebook is not None and notebook.idle:
            del self._notebooks[path]

    def rename(self, window: Window, old: str, new: str) -> None:
        """A window has renamed or moved the notebook: it and its sessions go to ``new``.

        Where ``new`` was open too, that file has been replaced: what was going on in it is
        stopped. Other windows still have the notebook at ``old``.
        """
        notebook = self._notebooks.get(old)
        if old == new or notebook is None or not notebook.opened_by(window):
            return
        self.whereabouts.settled(old)
        self.file_gone(new, REPLACED.format(path=new))
        self._notebooks[new] = self._notebooks.pop(old)
        self._move_sessions(old, new)
        for other, copy in notebook.moved(new, window).items():
            self.notebook(old).open(other, copy)

    # --- what is done to files (see ``Whereabouts``) -----------------------------------

    def paths(self) -> set[str]:
        paths = {session.info.notebook for session in self._sessions.values()}
        try:
            paths |= {info.notebook for info in self.store.list(None)}
        except StoreError as error:
            log.error("Only what is going on is followed: %s", error.message)
        return paths | set(self._notebooks)

    def in_a_window(self, path: str) -> bool:
        return path in self._notebooks and self._notebooks[path].in_a_window

    def move(self, old: str, new: str) -> None:
        """A notebook that no window has open is at ``new`` now, with all that goes on in it."""
        notebook = self._notebooks.pop(old, None)
        if new in self._notebooks:
            # Somebody has opened it there before this was known.
            self._move_sessions(old, new)
            self._take_up(self._notebooks[new])
            if notebook is not None:
                notebook.give_up("it is open elsewhere by now")
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
            # Those that are live say so again, with whatever they say next.
            log.error("That %s is now %s is not in the journal: %s", old, new, error.message)
        for session in self._sessions.values():
            if session.info.notebook == old:
                session.moved(new)

    def file_gone(self, path: str, words: str) -> None:
        """The file is no more. Turns in it end with ``words``; conversations stay, and what
        they have not written yet is given up: another file of that name is another one."""
        ending = Ending("cancelled", "notebook_gone", words)
        for session in self._sessions.values():
            if session.info.notebook == path and session.running:
                self._adrift[session.info.session_id] = LiveNotebook(path)
                self._adrift[session.info.session_id].lost(words)
                session.halt(ending)
        notebook = self._notebooks.pop(path, None)
        if notebook is not None:
            notebook.give_up(words)
        try:
            self.store.give_up_ops(path)
        except StoreError as error:
            log.error("That %s is gone is not in the journal: %s", path, error.message)

    def notebook_of(self, session_id: str, path: str) -> LiveNotebook:
        """The notebook that a session works in; at ``path`` if it is not live yet."""
        if session_id in self._adrift:
            return self._adrift[session_id]
        session = self._sessions.get(session_id)
        return self.notebook(session.info.notebook if session else path)

    def turn_over(self, session_id: str, path: str) -> None:
        if self._adrift.pop(session_id, None) is not None:
            with contextlib.suppress(StoreError):
                self.store.give_up_ops(path, session_id)
        self.forget_if_idle(path)

    def draft_gone(self, window: Window, path: str, cell_id: str) -> None:
        """The person deleted a draft in the window that the agent works in."""
        notebook = self._notebooks.get(path)
        if notebook is None or not notebook.held_by(window):
            return
        for session in self._sessions.values():
            if session.info.notebook == path:
                session.decisions.gone(cell_id)

    # --- what notebooks say (their ``Owner``) ----------------------------------------

    def file_writer(self, notebook: LiveNotebook) -> FileWriter:
        return self._make_file_writer(notebook)

    def ops(self, session_id: str, after: int) -> StoredOps:
        return self.store.ops(session_id, after)

    def saved(self, saved: Mapping[str, int]) -> None:
        try:
            for session_id, seq in saved.items():
                self.store.set_saved(session_id, seq)
        except StoreError as error:
            # What is sent once more than it must be changes nothing.
            log.warning("What is saved is not in the journal: %s", error.message)

    def late(self, session_id: str, seq: int, receipt: Receipt) -> None:
        session = self._sessions.get(session_id)
        try:
            self.store.set_receipt(session_id, seq, receipt)
            if session is not None:
                session.confirmed_late(seq, receipt)
        except StoreError as error:
            log.warning("A late receipt is not in the journal: %s", error.message)

    def gone(self, notebook: LiveNotebook, words: str) -> None:
        if self._notebooks.get(notebook.path) is notebook:
            self.file_gone(notebook.path, words)

    def note(self, notebook: LiveNotebook, words: str) -> None:
        for session in self._sessions.values():
            if session.running and session.info.notebook == notebook.path:
                session.note(words)

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
        session = self._sessions[session_id]
        session.look_again()
        return session

    def is_private(self, notebook: str, name: str) -> bool:
        """Whether a live conversation about the notebook has seen a private cell assign it."""
        here = (one for one in self._sessions.values() if one.info.notebook == notebook)
        return any(session.is_private(name) for session in here)

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

    def new_branch(self, of: SessionInfo, turn: int, beginning: Beginning) -> Session:
        """A session that goes on from before that turn of another."""
        from ..core.history.branching import points  # see ``early``

        now = time.time()
        info = SessionInfo(
            session_id=uuid.uuid4().hex,
            notebook=of.notebook,
            title=of.title if turn > 1 else "",
            model=beginning.model or of.model,
            mode=of.mode,
            running=False,
            created=now,
            changed=now,
            branches=points(of, turn),
        )
        self.store.create_branch(info, of.session_id, beginning)
        session = self._sessions[info.session_id] = self._make(info)
        return session

    def _make(self, info: SessionInfo) -> Session:
        place = NotebookPlace(self, info.session_id, info.notebook)
        from ..core.session.session import Session  # see ``early``

        return Session(
            info,
            self.store,
            self._model,
            place,
            self.rules,
            self._announce,
            self._tools(),
            self._hooks(),
        )

    def _announce(self, session: Session) -> None:
        self._windows.send(_changed(session))
        if session.running:
            self._activity.follow(lambda: self.running, self._kernels_at_work)

    def list(self, notebook: str | None) -> list[SessionInfo]:
        """Sessions as they are now, newest first."""
        if notebook:
            self._seen(notebook)
        return self._now(self.store.list(notebook))

    async def search(self, word: str, notebook: str | None) -> Sessions:
        """Those in which ``word`` was said, or that are called so."""
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
        self.store.delete(session_id)

    @property
    def running(self) -> bool:
        return any(session.running for session in self._sessions.values())

    @property
    def working(self) -> bool:
        """Whether a turn does something, or has not waited for a person for long."""
        return any(map(self._activity.counts, self._sessions.values()))

    def _kernels_at_work(self) -> Iterator[str]:
        """The kernels of such turns, as the notebook's window has them, or as the turn had
        them last; "" for none."""
        for session in filter(self._activity.counts, self._sessions.values()):
            notebook = self._notebooks.get(session.info.notebook)
            shown = notebook.kernel_id if notebook is not None else ""
            yield shown or session.workplace.kernel.kernel_id

    @contextlib.contextmanager
    def at_close(self, stop: Callable[[], None]) -> Iterator[None]:
        """``stop`` is called if the server stops within."""
        self._at_close.append(stop)
        try:
            yield
        finally:
            self._at_close.remove(stop)

    async def close(self) -> None:
        """Stop all turns; let nothing wait any longer."""
        for stop in self._at_close:
            stop()
        await asyncio.gather(*(session.close() for session in self._sessions.values()))
        for notebook in self._notebooks.values():
            await notebook.aclose("the server is stopping")
        self._windows.close()
        await self._activity.close()


def _changed(session: Session) -> SessionChanged:
    return SessionChanged(session.info, session.waiting, session.worked)


def _at_rest(info: SessionInfo) -> SessionInfo:
    """Out of the journal, where a server that was killed has left it running."""
    return msgspec.structs.replace(info, running=False)
