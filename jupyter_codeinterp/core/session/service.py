"""The one interface of fronts (the windows' socket, REST, a program) to conversations.

``by`` is the number of the window or client that acts, 0 for a program. The resulting event carries
it. Other windows are notified of decisions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Literal, NamedTuple, Protocol

import msgspec

from ..approval.decisions import Alone
from ..approval.modes import ASKING
from ..errors import CodeInterpError, CommandError
from ..history.branching import title_of
from ..history.changes import Review
from ..redaction.found_secrets import without_keys
from ..stores import Beginning
from ..turn.limits import Rules
from ..wire.commands import Doing, DoneElsewhere, SessionInfo
from ..wire.events import Kept, Mode, Reference
from .messages import TITLE_LENGTH, Does, checked, need_short
from .session import NO_LONGER, Session
from .waiting_files import WaitingList, WaitingText


class Sent(NamedTuple):
    session: Session
    did: Does


class Sessions(Protocol):
    """The sessions in memory."""

    rules: Rules

    def session(self, session_id: str) -> Session:
        """The session, loaded from the journal if needed. Raises CommandError
        ``unknown_session``."""

    def new_session(self, notebook: str, mode: Mode, model: str) -> Session: ...

    def new_branch(self, of: SessionInfo, turn: int, beginning: Beginning) -> Session: ...

    async def delete(self, session_id: str) -> None: ...

    def tell_others(self, done: DoneElsewhere) -> None:
        """Notify all other windows."""

    def person(self, notebook: str, window: int) -> str:
        """The name of the person in this window; "" unless several people share the notebook."""


class SessionService:
    """Every method raises CommandError ``unknown_session``, and StoreError if the journal
    fails. Docstrings list further codes of CommandError."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    # --- a turn ----------------------------------------------------------------------

    def create(self, notebook: str, mode: Mode = ASKING, model: str = "") -> Session:
        """Open a conversation on a notebook (its server path) without starting a turn."""
        return self._sessions.new_session(notebook, mode, model)

    def would_send(
        self,
        session_id: str,
        text: str,
        about: str = "",
        references: tuple[Reference, ...] = (),
        with_key: bool = False,
    ) -> Does:
        """Where ``send`` would put the message now. Raises as ``send``."""
        checked(text, references, with_key, self._sessions.rules.scrub)
        return self._here(session_id).would(text, about)

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
        second_look: str | None = None,
        with_key: bool = False,
        by: int = 0,
        headless: bool = False,
        alone: Alone = "",
    ) -> Sent:
        """Send a message, with arguments as in the command ``SendMessage``. ``headless``: the
        sender shows no notebook. Unless a window has it open, the work goes on in its file.
        ``alone``: what may run if nobody can be asked.

        CommandError ``too_long``, ``looks_like_key``, ``too_many_references``,
        ``empty_message``, ``no_notebook``, ``busy``, ``no_longer_waits``, ``too_many_queued``,
        ``held_elsewhere``.
        """
        words, references = checked(text, references, with_key, self._sessions.rules.scrub)
        if session_id:
            session = self._sessions.session(session_id)
        elif not text.strip():
            raise CommandError("empty_message", "The message is empty.")
        elif about:
            raise CommandError("no_longer_waits", NO_LONGER)
        elif notebook:
            session = self.create(notebook, mode, model)
        else:
            raise CommandError("no_notebook", "Open a notebook first.")
        given = (by, about, source, after, references, rule_files, second_look, alone)
        did = session.send(words, mode, model, *given)
        if did == "begin" and headless:
            session.workplace.expect_no_window()
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
        second_look: str | None = None,
        with_key: bool = False,
        by: int = 0,
        headless: bool = False,
        ready: Callable[[], Awaitable[None]] | None = None,
    ) -> Session:
        """Send ``text`` in place of the message that began ``turn``, in a new conversation
        (command ``Branch``). The new one notes what ``undo`` could not restore. ``ready`` is
        awaited once the request is valid. Other arguments as in ``send``.

        CommandError ``too_long``, ``looks_like_key``, ``too_many_references``,
        ``empty_message``, ``busy``, ``unknown_turn``, ``held_elsewhere``; DocumentError
        ``not_open``. An error leaves no new conversation.
        """
        words, references = checked(text, references, with_key, self._sessions.rules.scrub)
        if not text.strip():
            raise CommandError("empty_message", "The message is empty.")
        session = self._here(session_id)
        beginning = session.reviews.beginning(turn)
        if ready is not None:
            await ready()
        kept: tuple[Kept, ...] = ()
        if undo:
            if headless:
                session.workplace.expect_no_window()
            kept = await session.reviews.undo_since(turn, by)
        title = title_of(session.info, turn, without_keys(words), beginning.replaced)
        of = msgspec.structs.replace(session.info, title=title[:TITLE_LENGTH])
        branch = self._sessions.new_branch(of, turn, beginning)
        given = (by, "", None, "", references, rule_files, second_look)
        try:
            if kept:
                branch.note(_not_put_back(len(kept)))
            branch.send(words, mode, model or session.info.model, *given)
        except CodeInterpError:
            await self._sessions.delete(branch.info.session_id)
            raise
        if headless:
            branch.workplace.expect_no_window()
        return branch

    async def go_on(self, session_id: str, notebook: str, task: str, by: int = 0) -> Session:
        """Continue with ``task`` in another notebook: a new conversation with the same model and
        mode, and a summary of this one. CommandError as in ``send``. An error leaves no new
        conversation."""
        words, _ = checked(task, (), False, self._sessions.rules.scrub)
        of = self._sessions.session(session_id)
        session = self.create(notebook, of.info.mode, of.info.model)
        try:
            session.continue_from(of)
            session.send(
                words,
                of.info.mode,
                "",
                by,
                rule_files=of.turns.options.rule_files,
                second_look=of.turns.options.second_look,
            )
        except CodeInterpError:
            await self._sessions.delete(session.info.session_id)
            raise
        return session

    def take_back(self, session_id: str, number: int, by: int = 0) -> None:
        """Withdraw a queued message. CommandError ``not_queued``, ``held_elsewhere``."""
        session = self._here(session_id)
        session.queue.take_back(number, by)

    def retry(self, session_id: str, by: int = 0, *, headless: bool = False) -> None:
        """Repeat a failed turn. CommandError ``busy``, ``nothing_to_retry``,
        ``held_elsewhere``."""
        session = self._sessions.session(session_id)
        session.retry(by)
        if headless:
            session.workplace.expect_no_window()

    def need_retry(self, session_id: str) -> None:
        """Raises CommandError as ``retry``."""
        self._here(session_id).need_retry()

    def stop(self, session_id: str, by: int = 0) -> None:
        """Stop the running turn, if any, or look for mistakes. CommandError ``held_elsewhere``."""
        self._here(session_id).cancel(by)

    # --- decisions and settings ------------------------------------------------------

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
        nobody: bool = False,
    ) -> None:
        """Run exactly ``source``, or reject it with ``reason``. ``nobody``: a program rejects it,
        because it has nobody to ask. CommandError ``too_long``, ``held_elsewhere``, and as in
        ``Decisions.decide``."""
        need_short(reason)
        session = self._here(session_id)
        said = self._sessions.rules.scrub(reason.strip())
        person = self._sessions.person(session.info.notebook, by)
        draft = session.decide(draft_id, nonce, action, source, run_all, by, said, person, nobody)
        what: Doing = "run_all" if run_all and action == "run" else action
        done = DoneElsewhere(by, what, draft.title, session.info.notebook)
        self._sessions.tell_others(done)

    def answer(self, session_id: str, call_id: str, text: str, by: int = 0) -> None:
        """Answer a question of the model. CommandError ``too_long``, ``held_elsewhere``, and as
        in ``Decisions.answer``."""
        need_short(text)
        session = self._here(session_id)
        session.decisions.answer(call_id, self._sessions.rules.scrub(text), by)

    def set_mode(self, session_id: str, mode: Mode, by: int = 0) -> None:
        """Set the mode from the next decision on. CommandError ``held_elsewhere``."""
        session = self._sessions.session(session_id)
        session.set_mode(mode, by)

    def set_model(self, session_id: str, model: str, by: int = 0) -> None:
        """CommandError ``busy``, ``held_elsewhere``."""
        session = self._sessions.session(session_id)
        session.set_model(model, by)

    # --- what was done ---------------------------------------------------------------

    async def undo(
        self,
        session_id: str,
        turn: int,
        cells: tuple[str, ...] = (),
        by: int = 0,
        *,
        headless: bool = False,
        files: bool = False,
    ) -> None:
        """As ``Reviews.undo``."""
        session = self._sessions.session(session_id)
        if headless:
            session.workplace.expect_no_window()
        await session.reviews.undo(turn, cells, by, files=files)

    async def redo(
        self,
        session_id: str,
        turn: int,
        cells: tuple[str, ...] = (),
        by: int = 0,
        *,
        headless: bool = False,
        files: bool = False,
    ) -> None:
        """As ``Reviews.redo``."""
        session = self._sessions.session(session_id)
        if headless:
            session.workplace.expect_no_window()
        await session.reviews.redo(turn, cells, by, files=files)

    def keep(self, session_id: str, turn: int, cells: tuple[str, ...], by: int = 0) -> None:
        """As ``Reviews.keep``."""
        session = self._sessions.session(session_id)
        session.reviews.keep(turn, cells, by)

    async def waiting_files(self, session_id: str) -> WaitingList:
        """Files that wait in the kernel's overlay. KernelError ``no_overlay``."""
        return await self._sessions.session(session_id).waiting_files.list()

    async def waiting_text(self, session_id: str, path: str) -> WaitingText:
        """As ``WaitingFiles.text``."""
        return await self._sessions.session(session_id).waiting_files.text(path)

    async def keep_files(
        self, session_id: str, stamps: Mapping[str, str], discard: bool = False, by: int = 0
    ) -> None:
        """As ``WaitingFiles.keep``."""
        session = self._sessions.session(session_id)
        await session.waiting_files.keep(stamps, by, discard=discard)

    async def remove(self, session_id: str, cell_id: str, by: int = 0) -> None:
        """As ``Reviews.remove``."""
        session = self._sessions.session(session_id)
        await session.reviews.remove(cell_id, by)

    async def look(self, session_id: str, model: str = "", by: int = 0) -> None:
        """As ``SecondLooks.look``."""
        await self._here(session_id).turns.second_looks.look(model, by)

    def silence(self, session_id: str, key: str, silenced: bool = True, by: int = 0) -> None:
        """Hide findings with this key from the person and the model, in this notebook.
        CommandError ``unknown_finding``, ``held_elsewhere``."""
        session = self._sessions.session(session_id)
        session.silence(key, silenced, by)

    async def delete(self, session_id: str, by: int = 0) -> None:
        """CommandError ``held_elsewhere``."""
        await self._sessions.delete(session_id)

    def review(self, session_id: str, turn: int) -> Review:
        """CommandError ``unknown_turn``."""
        return self._sessions.session(session_id).reviews.review(turn)

    async def undo_offer(self, session_id: str, turn: int) -> Review:
        """``review``, and the files that undo and redo can bring back."""
        session = self._sessions.session(session_id)
        found = session.reviews.review(turn)
        return msgspec.structs.replace(found, files=await session.waiting_files.offers(turn))

    def rename(self, session_id: str, title: str, by: int = 0) -> None:
        """CommandError ``bad_title``, ``held_elsewhere``."""
        session = self._sessions.session(session_id)
        session.rename(title, by)

    def follow(self, session_id: str, after: int = 0) -> AsyncIterator[tuple[int, bytes]]:
        """Numbered events after ``after`` as JSON, then those to come, without end."""
        log = self._sessions.session(session_id).event_log
        return log.follow(min(max(after, 0), log.last_seq))

    def _here(self, session_id: str) -> Session:
        session = self._sessions.session(session_id)
        session.log.need_here()
        return session


def _not_put_back(cells: int) -> str:
    counted = "One cell was" if cells == 1 else f"{cells} cells were"
    return (
        f"{counted} not restored. The end of the turn in the earlier conversation gives the reason."
    )
