"""Handles "Not me", a person's denial of another window's action.

In this order: disconnect all other windows; stop all turns and set Review mode; revert what others
set since this window opened.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from ...core.approval.modes import ASKING, MODES, cap
from ...core.commands import DoneElsewhere
from ...core.errors import CodeInterpError, CommandError
from ...core.stores import Journal
from .actions import ActionLog
from .broadcaster import Broadcaster, FrontWindow
from .in_flight import InFlight
from .windows import Windows

if TYPE_CHECKING:
    from ...core.session.session import Session

log = logging.getLogger(__name__)

NOT_ME = (
    "“Not me” in window {}: everything was stopped, the mode is Review, all other windows were "
    "closed, and what they had set was put back. If you did not do this, code in a kernel may "
    "have acted in your name: restart the kernels, and the server, which gets a new token."
)


class Manager(Protocol):
    """The part of the session manager that this uses."""

    windows: Windows
    broadcaster: Broadcaster
    in_flight: InFlight
    actions: ActionLog
    store: Journal

    @property
    def live_sessions(self) -> tuple[Session, ...]: ...

    def live(self, session_id: str) -> Session | None: ...

    def session(self, session_id: str) -> Session: ...


_undoing: set[asyncio.Task[None]] = set()
"""Running tasks. The event loop holds tasks only weakly."""


def not_me(manager: Manager, window: FrontWindow, put_back_settings: Callable[[int], None]) -> None:
    """Handle "Not me" from ``window``. At the end raises CommandError ``not_put_back`` if something
    failed."""
    number = window.number
    manager.windows.close_others(number)
    manager.in_flight.end_others(number)
    manager.broadcaster.close_others(window)
    failed = [words for words in map(_calm(number), manager.live_sessions) if words]
    try:
        _calm_at_rest(manager)
        models = manager.actions.models_set(number)
        for session_id in dict.fromkeys(action.session_id for action in models):
            of_session = [action for action in models if action.session_id == session_id]
            model = last_of(number, of_session)
            session = manager.live(session_id) or manager.session(session_id)
            if model and model != session.info.model:
                task = asyncio.ensure_future(_set_model(session, model, number))
                _undoing.add(task)
                task.add_done_callback(_undoing.discard)
    except CodeInterpError as error:
        failed.append(error.message)
    try:
        put_back_settings(number)
    except CodeInterpError as error:
        failed.append(error.message)
    if failed:
        words = "All other windows are closed, but not everything could be put back: "
        raise CommandError("not_put_back", words + " ".join(dict.fromkeys(failed)))


def _calm(window: int) -> Callable[[Session], str]:
    """Stop a session, drop what others queued, and set Review mode. Returns an error or ""."""

    def calm(session: Session) -> str:
        unasked = MODES[session.info.mode].unasked
        if not (session.running or session.queue.messages or unasked):
            return ""
        session.cancel(window)
        try:
            session.set_mode(cap(session.info.mode, ASKING), window)
            session.queue.take_back_of_others(window)
            session.note(NOT_ME.format(window), "warning")
        except CodeInterpError as error:
            log.warning("%s is not in Review: %s", session.info.session_id, error.message)
            return error.message
        return ""

    return calm


def _calm_at_rest(manager: Manager) -> None:
    """Set Review mode in conversations that are not live. Raises StoreError."""
    for info in manager.store.list(None):
        if MODES[info.mode].unasked and manager.live(info.session_id) is None:
            manager.store.update(replace(info, mode=cap(info.mode, ASKING)))


def last_of(window: int, changes: Iterable[DoneElsewhere]) -> str:
    """A setting's value without other windows' changes since ``window``'s last one; "" if there
    are none. ``changes``: all changes of that setting, in order."""
    value = ""
    for change in reversed(list(changes)):
        if change.window == window:
            break
        value = change.before
    return value


async def _set_model(session: Session, model: str, window: int) -> None:
    """Set the model once the stopped turn has ended."""
    try:
        await session.idle()
        session.set_model(model, window)
    except CodeInterpError as error:
        log.warning("%s keeps its model: %s", session.info.session_id, error.message)
