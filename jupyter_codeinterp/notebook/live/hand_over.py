"""Who works in a notebook: carries out the state machine of ``holder.py``.

A window has the notebook open. If none comes within the grace time, a file writer works in the
file until a window is back (docs/adr/0004-hand-over.md). Each state has at most one task, which
ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ...base.errors import DocumentError
from ...base.sentences import Sentence, together
from ...wire.commands import ReloadNotebook
from .holder import SETTLED, Event, State, after
from .outbox import FileHolds
from .protocols import FileWriter, Owner, Window, WindowState

# -------------------------------------------------------------------------------------------------
# Windows that are views of a room; the server applies the ops there.


class Sharing:
    def __init__(
        self,
        owner: Owner[Any] | None,
        windows: Callable[[], Mapping[Window, WindowState]],
        writer: Callable[[], FileWriter | None],
    ) -> None:
        """``windows`` have the notebook open; ``writer`` works in its room, or its file."""
        self._owner = owner
        self._windows = windows
        self._writer = writer

    def __bool__(self) -> bool:
        """Whether several people may have the notebook open, in a room of this server."""
        return any(map(self.is_view, self._windows().values()))

    def is_view(self, state: WindowState) -> bool:
        return state.collaborative and self._owner is not None and self._owner.has_rooms

    def by(self, window: Window) -> bool:
        """Whether the window is a view."""
        state = self._windows().get(window)
        return state is not None and self.is_view(state)

    def others(self, window: Window) -> list[Window]:
        """The views besides this one; none if it is no view itself."""
        if not self.by(window):
            return []
        return [one for one in self._windows() if one is not window and self.by(one)]

    @property
    def elsewhere(self) -> bool:
        """Whether a window is a view of a room that the server does not know."""
        return any(s.collaborative and not self.is_view(s) for s in self._windows().values())

    def look_for(self, cell_id: str) -> None:
        """A view misses this cell. The view may be behind, so ask the room."""
        if (writer := self._writer()) is not None:
            writer.look_for(cell_id)


NO_FILE = "no_file"
IN_FILE = Sentence("Notebook closed. Continuing in the background.")
UNSAVED = Sentence(
    "A disconnected window has unsaved changes to the notebook. Reconnect that window, or open "
    "the notebook again."
)
BROKEN = "Cannot work in the notebook's file. See the server's log for the reason."
RELOAD_TIMEOUT = 10.0
"""Seconds that a window has to reload the notebook's file."""
CLOSED_GRACE = 5.0
"""Seconds that a turn waits for a window after the person closed the notebook."""
RETRY_AFTER = 10.0
"""Seconds before the next try after a file could not be read or written."""

log = logging.getLogger(__name__)


class Block(NamedTuple):
    reason: str
    retry_at: float | None = None
    """None: no retry. Only a window or the end of the grace time changes the state."""


class HeldNotebook(Protocol):
    """The part of a notebook that reacts to a change of its holder."""

    path: str
    cells: dict[str, str]
    """The last known sources of cells, by id."""

    @property
    def waits(self) -> bool:
        """Whether an op or a read waits."""

    @property
    def has_unsaved(self) -> bool:
        """Whether there are ops that the file may lack."""

    def begin(self, holder: Window, applied: Mapping[str, int]) -> None:
        """A new holder begins; its copy has the ops ``applied``."""

    def pause(self) -> None:
        """For now there is no holder."""

    def notify(self, window: Window, *, held: bool) -> None:
        """Tell the window whether it has the lease."""

    def look(self) -> None:
        """Ask the holder to check that its document is still the notebook's."""

    def block(self, reason: str) -> None: ...


NotebookT = TypeVar("NotebookT", bound=HeldNotebook)


class HandOver(Generic[NotebookT]):
    def __init__(
        self,
        notebook: NotebookT,
        owner: Owner[NotebookT] | None,
        file_holds: FileHolds,
        grace: float,
    ) -> None:
        """``grace``: seconds that a window may be away. Without an ``owner`` nobody works in the
        file."""
        self.state = State.NOBODY
        self.holder: Window | None = None
        self.blocked: Block | None = None
        self.windows: dict[Window, WindowState] = {}
        """Windows with the notebook open, oldest first."""
        self.sharing = Sharing(owner, lambda: self.windows, lambda: self._file_writer)
        self.settled = asyncio.Event()
        self._notebook = notebook
        self._owner = owner
        self._file_holds = file_holds
        self._grace = grace
        self._file_writer: FileWriter | None = None
        self._version = ""
        """The version that the file writer wrote last; "" if a window's copy is newer."""
        self._awaited: dict[Window | None, float] = {None: _now() + grace}
        """Departed windows that may come back, and until when. Cleared when one comes."""
        self._sooner = asyncio.Event()
        """Set when no window is expected any more."""
        self._unsaved = False
        """Whether a window left with edits of the person's that the file lacks."""
        self._task: asyncio.Task[None] | None = None
        """The current state's task."""
        self._look: asyncio.Task[None] | None = None
        """Compares a window's copy with the file."""
        self._ending: asyncio.Future[None] | None = None

    @property
    def may_begin(self) -> bool:
        """Whether a turn may begin: in a window, or in the file if no window is expected. If one
        is about to get the lease, the turn waits for it."""
        if self.state in (State.CLOSING, State.CHECKING):
            return not self.sharing.elsewhere
        return self.holder is not None or self.headless or bool(self.sharing)

    @property
    def headless(self) -> bool:
        """Whether there is no window, and none is expected."""
        return not self._awaited and not self.windows

    @property
    def idle(self) -> bool:
        """Whether it can be dropped without loss."""
        resting = self.state in (State.NOBODY, State.BLOCKED)
        return resting and not (self._version or self._unsaved or self.headless)

    # --- the machine -------------------------------------------------------------------

    def _handle(self, event: Event, block: Block | None = None) -> bool:
        """Return whether the event changed anything."""
        state = after(self.state, event)
        if state is None:
            return False
        self._stop_task()
        self.state, self.blocked = state, block
        if state in SETTLED:
            self.settled.set()
        else:
            self.settled.clear()
        if state not in (State.CHECKING, State.WINDOW):
            self._stop_look()
        if state in (State.NOBODY, State.CHECKING, State.BLOCKED) and self.holder is not None:
            self.holder = None
            self._notebook.pause()
        if state is State.NOBODY and self._notebook.waits:
            self.need()
        elif state is State.WAITING:
            self._begin(self._wait())
        elif state is State.OPENING:
            self._begin(self._open())
        elif state is State.CLOSING:
            self._begin(self._close())
        elif state is State.BLOCKED and block is not None:
            self._notebook.block(block.reason)
        return True

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.ensure_future(work)

    def _stop_task(self) -> None:
        """Cancel the task, unless it changes the state itself and so is at its end."""
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._task = None

    # --- windows come and go -------------------------------------------------------------

    def window_came(self, window: Window, state: WindowState) -> None:
        """A window has the notebook open and reports its copy's state. The holder may call
        again."""
        before = self.windows.get(window)
        state.asked_to_reload = before is not None and before.asked_to_reload
        self.windows[window] = state
        self._unsaved = False
        self._awaited.clear()
        if window is self.holder:
            return
        if self.sharing.is_view(state):
            self._notebook.notify(window, held=False)
            self._notebook.look()
            self._go_on_without_window()
            if self._notebook.has_unsaved:
                self.need()
            return
        if self._handle(Event.WINDOW_CAME):
            if self.state is State.CHECKING:
                self._stop_look()
                self._offer(window)
        elif self.state is State.WINDOW and state.asked_to_reload:
            self._offer(window)
        elif self.state is State.WINDOW:
            self._notebook.notify(window, held=False)

    def window_left(self, window: Window, *, edited: bool, for_good: bool) -> None:
        """``edited``: with edits of the person's that the file lacks. ``for_good``: the person
        closed the notebook; otherwise only the window's socket is gone."""
        del self.windows[window]
        self._awaited[window] = _now() + min(self._grace, CLOSED_GRACE if for_good else math.inf)
        self._unsaved = self._unsaved or edited
        if window is self.holder:
            self._handle(Event.HOLDER_LEFT)
        self._offer_next()

    def expect_no_window(self) -> None:
        """Expect no window until one comes by itself. Unsaved edits of a departed window still
        block the file."""
        if not self.windows:
            self._awaited.clear()
            self._go_on_without_window()

    def _go_on_without_window(self) -> None:
        """Let waiting ops and reads go on without a window."""
        self._sooner.set()
        self._handle(Event.NO_WINDOW_COMES)

    def moved(self, window: Window) -> dict[Window, WindowState]:
        """The notebook has a new path in this window. Return the windows that still have the old
        path: none for a room, which moves in all windows."""
        if self.sharing.by(window):
            return {}
        ours = self.windows.pop(window)
        others, self.windows = self.windows, {window: ours}
        if self.state in (State.CHECKING, State.WINDOW):
            self._give(window)
        return others

    # --- the lease -----------------------------------------------------------------------

    def take(self, window: Window) -> None:
        """The person works in this window now."""
        free = self.state in (State.CHECKING, State.WINDOW) and self._look is None
        if free and window in self.windows and window is not self.holder:
            self._offer(window)

    def _offer(self, window: Window) -> None:
        """Give this window the lease, after a reload if its copy is too old."""
        state = self.windows[window]
        newest = state.file or self._version
        unknown = self._owner is not None and state.file is None
        if state.collaborative:
            self._notebook.notify(window, held=False)
        elif unknown and self._file_holds.lacking_in(state):
            self._stop_look()
            self._look = asyncio.ensure_future(self._compare(window, state))
        elif newest not in ("", state.version) and not (state.edited or state.asked_to_reload):
            state.asked_to_reload = True
            window.send(ReloadNotebook(self._notebook.path))
            asyncio.get_running_loop().call_later(RELOAD_TIMEOUT, self._offer_again, window)
        else:
            self._give(window)

    def _give(self, window: Window) -> None:
        """Give this window the lease, however old its copy is."""
        before, self.holder = self.holder, window
        self._stop_look()
        self._handle(Event.LEASE_GIVEN)
        self._version = ""
        state = self.windows[window]
        # Another holder may write the file before this window's next lease.
        state.file, state.asked_to_reload = None, False
        self._notebook.begin(window, state.applied)
        if before in self.windows and before is not window:
            self._notebook.notify(before, held=False)

    def _offer_next(self) -> None:
        """Offer a free lease to the oldest window."""
        if self.state is State.CHECKING and self._look is None:
            copies = (one for one, state in self.windows.items() if not self.sharing.is_view(state))
            if (oldest := next(copies, None)) is not None:
                self._offer(oldest)
            else:
                self._handle(Event.LAST_WINDOW_LEFT)

    def _offer_again(self, window: Window) -> None:
        if self.state is State.CHECKING and window in self.windows:
            self._offer(window)

    async def _compare(self, window: Window, state: WindowState) -> None:
        """Find out whether the window's copy is old, or an old file was put back."""
        assert self._owner is not None
        version, holds = state.version, dict[str, int]()
        try:
            version, holds = await self._owner.file_writer(self._notebook).look()
        except DocumentError as error:
            log.info("The window knows best: %s", error.message)
        except Exception:
            log.exception("Cannot read the file of %s", self._notebook.path)
        state.file = version
        if version == self._version:
            holds = self._file_holds.ops  # The file may have no marker, as a script.
        if state.edited and version != state.version:
            # An old copy with the person's edits gets the file's newer ops.
            has = {session_id: state.applied.get(session_id, 0) for session_id in holds}
            state.missing_ops = [
                (session_id, [op for op in ops if op.seq <= holds[session_id]])
                for session_id, ops in self._owner.ops(self._notebook, has)
            ]
        self._look = None
        if self.windows.get(window) is state and window is not self.holder:
            self._offer(window)
        else:
            self._offer_next()

    def _stop_look(self) -> None:
        if self._look is not None:
            self._look.cancel()
            self._look = None

    # --- the file ------------------------------------------------------------------------

    def need(self) -> None:
        """An op or a read waits for a holder."""
        if self._owner is None:
            return
        retry_at = self.blocked.retry_at if self.blocked is not None else None
        if retry_at is not None and _now() >= retry_at:
            self._handle(Event.RETRIED)
        else:
            self._handle(Event.NEEDED)

    async def _wait(self) -> None:
        while (wait := max(self._awaited.values(), default=0.0) - _now()) > 0:
            self._sooner.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._sooner.wait(), wait)
        if self._unsaved:
            self._handle(Event.UNSAVED_LEFT, Block(UNSAVED))
        else:
            self._handle(Event.GRACE_OVER)

    async def _open(self) -> None:
        assert self._owner is not None
        file_writer = self._owner.file_writer(self._notebook)
        try:
            applied, note = await file_writer.open(self._notebook.cells)
        except DocumentError as error:
            return self.file_failed(error.message, gone=error.code == NO_FILE)
        except Exception:
            log.exception("Cannot work in the file of %s", self._notebook.path)
            return self.file_failed(BROKEN)
        if not self.windows:
            self._owner.note(self._notebook, together(IN_FILE, note))
        self._file_writer = self.holder = file_writer
        self._handle(Event.FILE_OPENED)
        self._notebook.begin(file_writer, applied)

    async def _close(self) -> None:
        if self._file_writer is not None:
            await self._file_writer.close()
        self._file_writer = None
        self._handle(Event.FILE_CLOSED)
        self._offer_next()

    def file_written(self, version: str) -> None:
        self._version = version

    def file_failed(self, reason: str, *, gone: bool = False) -> None:
        """The file cannot be used; ``gone``: it does not exist. A window gets the ops that it
        lacks."""
        if self._handle(Event.FILE_FAILED, Block(reason, _now() + RETRY_AFTER)):
            self._file_writer = None
            if gone and self._owner is not None:
                self._owner.gone(self._notebook, reason)

    # --- the end ---------------------------------------------------------------------------

    def give_up(self, reason: str) -> None:
        """The notebook no longer exists: nobody may work in it."""
        self.windows.clear()
        if self._file_writer is not None:
            self._ending = asyncio.ensure_future(self._file_writer.close())
        self._file_writer = None
        self._handle(Event.GAVE_UP, Block(reason))

    async def aclose(self) -> None:
        """Wait until the file writer has finished."""
        if self._file_writer is not None:
            await self._file_writer.close()


def _now() -> float:
    return asyncio.get_running_loop().time()
