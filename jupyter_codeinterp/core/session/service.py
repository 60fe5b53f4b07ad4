"""What a front may do with conversations, whichever front it is: the windows' socket, REST, a
program. Nothing of the loop is known outside of this.

Who does it is a number (``by``), that of a window or of another client; 0: it is not known.
What decides, or sets something, is told to all others, which can take it back ("Not me").
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, NamedTuple, Protocol

from ..approval.modes import ASKING, MODES
from ..commands import Doing, DoneElsewhere, SessionInfo
from ..errors import CodeInterpError, CommandError
from ..events import Kept, Mode, Reference
from ..history.review import Review
from ..stores import Beginning
from ..turn.limits import Rules
from .enter import Does
from .session import Session

MAX_MESSAGE = 100_000
"""Characters of a person's message."""
MOST_REFERENCES = 20
"""That a message names."""
LONGEST_NAME = 300
"""Characters of a name in a reference: a file's has at most 255 bytes."""


class Sent(NamedTuple):
    """Where a message went, and what became of it."""

    session: Session
    did: Does


class Sessions(Protocol):
    """Where the live ones are kept."""

    rules: Rules

    def session(self, session_id: str) -> Session:
        """Taken up from the journal if need be. CommandError ``unknown_session``."""

    def new_session(self, notebook: str, mode: Mode, model: str) -> Session: ...

    def new_branch(self, of: SessionInfo, turn: int, beginning: Beginning) -> Session: ...

    async def delete(self, session_id: str) -> None: ...

    def tell_others(self, done: DoneElsewhere) -> None: ...


class SessionService:
    """Every method raises CommandError ``unknown_session``, and StoreError if the journal
    cannot be read or written; other codes of CommandError as said."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    # --- a turn ----------------------------------------------------------------------

    def create(self, notebook: str, mode: Mode = ASKING, model: str = "") -> Session:
        """A conversation on a notebook (its server path); nothing begins."""
        return self._sessions.new_session(notebook, mode, model)

    def send(
        self,
        text: str,
        *,
        session_id: str = "",
        notebook: str = "",
        mode: Mode = ASKING,
        model: str = "",
        about: str = "",
        source: str | None = None,
        after: str = "",
        references: tuple[Reference, ...] = (),
        rule_files: bool = True,
        by: int = 0,
        headless: bool = False,
    ) -> Sent:
        """What the person says: it starts a turn, in a new conversation without
        ``session_id``; while a turn is running it is queued, or answers the question, or
        rejects the draft, that it is ``about`` (``enter.py``). ``source`` is what stands in
        that draft's cell. ``after`` is the cell after which new ones are to go, "" for where
        they belong. ``references`` are what the message names. ``rule_files``: whether the
        person's files of wishes are read. ``headless``: who sends shows no notebook, so none
        is waited for; where no window has it open, the work is done in its file at once.

        CommandError ``too_long``, ``too_many_references``, ``empty_message``, ``no_notebook``,
        ``busy``, ``no_longer_waits``, ``too_many_queued``, ``held_elsewhere``.
        """
        _bounded(text)
        references = _few(references)
        if session_id:
            session = self._sessions.session(session_id)
        elif not text.strip():
            raise CommandError("empty_message", "The message is empty.")
        elif notebook:
            session = self.create(notebook, mode, model)
        else:
            raise CommandError("no_notebook", "Open a notebook first.")
        before = session.info.model
        # Here already: from here on the words go to the model, journal, lists and windows.
        words = self._sessions.rules.scrub(text)
        given = (by, about, source, after, references, rule_files)
        did, title = session.send(words, mode, model, *given)
        if did == "begin" and headless:
            session.workplace.nobody_comes()
        if session_id and session.info.model != before:
            self._tell(session, by, "model", session.info.model)
        if did == "reject":
            self._tell(session, by, "reject", title)
        elif did != "answer":
            self._tell_of_auto(session, by)
        return Sent(session, did)

    async def branch(
        self,
        session_id: str,
        turn: int,
        text: str,
        *,
        undo: bool = False,
        mode: Mode = ASKING,
        model: str = "",
        references: tuple[Reference, ...] = (),
        rule_files: bool = True,
        by: int = 0,
        headless: bool = False,
    ) -> Session:
        """Say ``text`` in the place of the message that began ``turn``: in a new conversation,
        which begins with the turns before it. ``undo``: what came after is put back first, and
        what cannot be is told in the new one. Other arguments as in ``send``.

        CommandError ``too_long``, ``too_many_references``, ``empty_message``, ``busy``,
        ``unknown_turn``, ``held_elsewhere``; DocumentError ``not_open``. Then there is no new
        conversation.
        """
        _bounded(text)
        references = _few(references)
        if not text.strip():
            raise CommandError("empty_message", "The message is empty.")
        session = self._here(session_id)
        beginning = session.beginning(turn)
        kept: tuple[Kept, ...] = ()
        if undo:
            if headless:
                session.workplace.nobody_comes()
            kept = await session.undo_since(turn)
        branch = self._sessions.new_branch(session.info, turn, beginning)
        words = self._sessions.rules.scrub(text)
        given = (by, "", None, "", references, rule_files)
        try:
            if kept:
                branch.note(_not_put_back(len(kept)))
            branch.send(words, mode, model or session.info.model, *given)
        except CodeInterpError:
            await self._sessions.delete(branch.info.session_id)
            raise
        if headless:
            branch.workplace.nobody_comes()
        self._tell_of_auto(branch, by)
        return branch

    def take_back(self, session_id: str, number: int) -> None:
        """A queued message. CommandError ``not_queued``, ``held_elsewhere``."""
        self._here(session_id).take_back(number)

    def retry(self, session_id: str, by: int = 0, *, headless: bool = False) -> None:
        """Go on after an error. CommandError ``busy``, ``nothing_to_retry``,
        ``held_elsewhere``."""
        session = self._sessions.session(session_id)
        session.retry(by)
        if headless:
            session.workplace.nobody_comes()
        self._tell_of_auto(session, by)

    def stop(self, session_id: str) -> None:
        """Nothing happens if no turn is running. CommandError ``held_elsewhere``."""
        self._here(session_id).cancel()

    # --- the person's word -----------------------------------------------------------

    def decide(
        self,
        session_id: str,
        draft_id: str,
        nonce: str,
        action: Literal["run", "reject"],
        source: str,
        run_all: bool = False,
        by: int = 0,
        reason: str = "",
    ) -> None:
        """``source`` is all that is to run; ``reason`` is why it is rejected. CommandError
        ``too_long``, ``held_elsewhere``, and as in ``Decisions.decide``."""
        _bounded(reason)
        session = self._here(session_id)
        said = self._sessions.rules.scrub(reason.strip())
        draft = session.decide(draft_id, nonce, action, source, run_all, by, said)
        what: Doing = "run_all" if run_all and action == "run" else action
        self._tell(session, by, what, draft.title)

    def answer(self, session_id: str, call_id: str, text: str) -> None:
        """To a question of the model's. CommandError ``held_elsewhere``, and as in
        ``Decisions.answer``."""
        self._here(session_id).decisions.answer(call_id, text)

    def set_mode(self, session_id: str, mode: Mode, by: int = 0) -> None:
        """From the next decision on. CommandError ``held_elsewhere``."""
        session = self._sessions.session(session_id)
        if session.set_mode(mode, by):
            self._tell(session, by, "mode", session.info.mode)

    def set_model(self, session_id: str, model: str, by: int = 0) -> None:
        """CommandError ``busy``, ``held_elsewhere``."""
        session = self._sessions.session(session_id)
        if session.set_model(model, by):
            self._tell(session, by, "model", model)

    # --- what was done ---------------------------------------------------------------

    async def undo(
        self, session_id: str, turn: int, cells: tuple[str, ...] = (), *, headless: bool = False
    ) -> None:
        """As ``Session.undo``."""
        session = self._sessions.session(session_id)
        if headless:
            session.workplace.nobody_comes()
        await session.undo(turn, cells)

    def keep(self, session_id: str, turn: int, cells: tuple[str, ...]) -> None:
        """As ``Session.keep``."""
        self._sessions.session(session_id).keep(turn, cells)

    async def remove(self, session_id: str, cell_id: str) -> None:
        """As ``Session.remove``."""
        await self._sessions.session(session_id).remove(cell_id)

    def review(self, session_id: str, turn: int) -> Review:
        """CommandError ``unknown_turn``."""
        return self._sessions.session(session_id).review(turn)

    def rename(self, session_id: str, title: str) -> None:
        """CommandError ``bad_title``, ``held_elsewhere``."""
        self._sessions.session(session_id).rename(title)

    def follow(self, session_id: str, after: int = 0) -> AsyncIterator[tuple[int, bytes]]:
        """The events after number ``after`` as JSON with their numbers, then those to come,
        for ever."""
        log = self._sessions.session(session_id).event_log
        return log.follow(min(max(after, 0), log.last_seq))

    # --- who did it ------------------------------------------------------------------

    def _here(self, session_id: str) -> Session:
        session = self._sessions.session(session_id)
        session.need_here()
        return session

    def _tell(self, session: Session, by: int, what: Doing, name: str = "") -> None:
        info = session.info
        done = DoneElsewhere(by, what, name, info.session_id, info.notebook, session.turn)
        self._sessions.tell_others(done)

    def _tell_of_auto(self, session: Session, by: int) -> None:
        """A turn that runs without asking is decided by whoever starts it."""
        if MODES[session.info.mode].unasked:
            self._tell(session, by, "turn")


def _bounded(text: str) -> None:
    if len(text) > MAX_MESSAGE:
        words = f"The message is too long: at most {MAX_MESSAGE:,} characters."
        raise CommandError("too_long", words)


def _not_put_back(cells: int) -> str:
    counted = "One cell was" if cells == 1 else f"{cells} cells were"
    return f"{counted} not put back: the conversation before says why, at the end of its turn."


def _few(references: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """Each once."""
    found = tuple(dict.fromkeys(references))
    if len(found) > MOST_REFERENCES:
        words = f"A message names at most {MOST_REFERENCES} things. Take some out."
        raise CommandError("too_many_references", words)
    if any(len(reference.name) > LONGEST_NAME for reference in found):
        raise CommandError("too_long", "The message names something with too long a name.")
    return found
