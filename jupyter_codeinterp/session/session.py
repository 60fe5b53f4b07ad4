"""A session in memory: one conversation bound to one notebook, its commands, and its turns.

It has a log (``log.py``: the journal, and other servers) and a queue of messages (``messages.py``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from functools import partial
from typing import Literal

import msgspec

from ..agent.agent import AgentTurn, run_turn, settle
from ..agent.final_answer import not_found
from ..agent.tools.shared.base import ToolRegistry
from ..base.errors import CommandError, DocumentError, StoreError
from ..base.off_loop import off_loop
from ..base.sentences import Sentence
from ..base.visible import visible_line
from ..journal.event_log import TAKEN
from ..notebook.passive import is_passive
from ..run.approval import modes
from ..run.approval.decisions import Alone, Decisions
from ..run.turn.ending import Ending, failure
from ..run.turn.notebook import TurnNotebook
from ..run.turn.results import Results
from ..run.turn.turn import StoppedRun, Turn, know_variables, look_around, made_by
from ..run.turn.workplace import Workplace
from ..view.context import Context
from ..view.redaction.found_secrets import without_keys
from ..view.redaction.private_names import PrivateNames
from ..view.rule_files import NOT_READ
from ..wire.commands import SessionInfo
from ..wire.events import (
    Cleared,
    Mode,
    ModeChanged,
    ModelChanged,
    Note,
    Reference,
    TitleChanged,
    TurnStarted,
)
from ..wire.messages import Text, user
from ..wire.ops import FinishRun, Output, weight
from ..wire.ports import Model
from . import undo
from .log import STOPPED_NOTE, Services, SessionLog
from .messages import Does, Queue, checked_title, from_question, route
from .reviews import Reviews
from .turn_task import TurnOptions, TurnTask
from .waiting_files import WaitingFiles

MOST_WORKED = 20
"""Cells of the agent that a window learns; several, because some may be deleted."""
NO_LONGER = (
    "The cell or question that you answered is no longer open. Check the conversation and send "
    "again."
)


__all__ = ["Services", "Session"]


class Session:
    def __init__(
        self,
        info: SessionInfo,
        services: Services,
        workplace: Workplace,
        changed: Callable[[Session], None] = lambda session: None,
        waits: Callable[[Session], None] = lambda session: None,
    ) -> None:
        """Calls ``changed`` with itself when it starts or stops running, when its title, model,
        mode or notebook changes, and when another server begins or stops working on it. Calls
        ``waits`` when it begins or stops waiting for a person."""
        self.services = services
        self.workplace = workplace
        self.kept = False
        """Whether a caller keeps the session in memory between turns without following it."""
        self.private_names = PrivateNames()
        """Names that private cells assign, as far as the conversation has seen them."""
        self.decisions = Decisions(lambda: waits(self))
        self.task = TurnTask()
        self.log = SessionLog(info, services, workplace, self.task, lambda: changed(self))
        self.event_log = self.log.events
        self.queue = Queue(self.log)
        self.waiting_files = WaitingFiles(self.log, services.rules.scrub)
        self.reviews = Reviews(self.log)
        self.tools: ToolRegistry | None = None
        """The agent's own tools, and those of features; None before the first turn."""
        self.options = TurnOptions()
        """Of the latest turn."""
        self.answer_references: tuple[Reference, ...] = ()
        """References in answers to questions, not yet sent to the model."""
        self.unread_rule_files: set[str] = set()
        """Unread instruction files that the person was told about."""
        self.end_explains = False
        """Whether the latest turn's end says that the journal failed."""
        self.task.ended = lambda: _ended(self)
        self.log.open()

    @property
    def info(self) -> SessionInfo:
        return self.log.info

    @property
    def running(self) -> bool:
        return self.task.running

    @property
    def waiting(self) -> bool:
        return self.decisions.waiting

    @property
    def at_rest(self) -> bool:
        """Whether the session is idle, saved, and nobody needs it in memory."""
        return self.log.at_rest and not self.kept

    @property
    def stop_reason(self) -> str:
        """Why the latest turn ended; "" while one runs, and before the first."""
        ended = self.log.replay.ended
        return ended.stop_reason if ended is not None and not self.running else ""

    @property
    def turn(self) -> int:
        """The number of the latest turn; 0 before the first."""
        return self.log.replay.turns

    @property
    def worked(self) -> tuple[str, ...]:
        """Cells that the agent inserted, the latest last."""
        return tuple(self.log.ledger.added[-MOST_WORKED:])

    # --- a turn ----------------------------------------------------------------------

    def send(
        self,
        text: str,
        mode: Mode,
        model: str,
        window: int = 0,
        about: str = "",
        after: str = "",
        references: tuple[Reference, ...] = (),
        rule_files: bool = True,
        alone: Alone = "",
    ) -> Does:
        """Route a message by ``messages.py``. Returns where it went. ``after``, ``rule_files`` and
        ``alone`` apply to a turn that begins.

        Raises CommandError ``busy``, ``empty_message``, ``no_longer_waits``,
        ``too_many_queued`` or ``held_elsewhere``, and StoreError."""
        does = self.would(text, about)
        if does == "begin":
            options = TurnOptions(after, rule_files, alone)
            self._begin(text, mode, model, window, references, options)
        elif does == "queue":
            self.queue.add(text, window, references)
        else:
            self.decisions.answer(about, text, window)
            self.answer_references += references
        return does

    def would(self, text: str, about: str) -> Does:
        """What ``send`` would do with the message. Raises CommandError ``empty_message`` or
        ``no_longer_waits``."""
        does = route(self.running, self.decisions.questions, about)
        if does is None:
            raise CommandError("no_longer_waits", NO_LONGER)
        if not text.strip() and not (does == "begin" and self.queue.messages):
            raise CommandError("empty_message", "The message is empty.")
        return does

    def _begin(
        self,
        text: str,
        mode: Mode,
        model: str,
        window: int,
        references: tuple[Reference, ...],
        options: TurnOptions,
    ) -> None:
        self.log.need_idle()
        with self.log.here():
            self.log.update(mode=modes.cap(mode, self.services.rules.highest_mode))
            if model and model != self.info.model:
                self._change_model(model, window)
            if not self.info.title:
                title = from_question(without_keys(text))
                self.log.publish(TitleChanged(title, window, "question"))
                self.log.update(title=title)
            text, references = self.queue.with_text(text), self.queue.with_references(references)
            _start(self, text, window, references, options)

    def retry(self, window: int = 0) -> None:
        """Continue after an error with the same history. Raises CommandError ``busy``,
        ``nothing_to_retry`` or ``held_elsewhere``, and StoreError."""
        self.log.need_idle()
        with self.log.here():
            self.need_retry()
            _start(self, "", window, self.log.replay.undelivered_references)

    def need_retry(self) -> None:
        """Raises CommandError ``busy`` or ``nothing_to_retry``."""
        self.log.need_idle()
        if self.log.replay.ended is None or not self.log.replay.ended.retry:
            raise CommandError("nothing_to_retry", "Nothing to retry.")

    # --- while it runs ---------------------------------------------------------------

    def set_mode(self, mode: Mode, window: int = 0) -> None:
        """Set the mode from the next decision on, also in a running turn."""
        mode = modes.cap(mode, self.services.rules.highest_mode)
        turn = self.task.turn
        if turn is not None and self.running:
            turn.set_mode(mode)
        if mode != self.info.mode:
            with self.log.here():
                self.log.update(mode=mode)
                self.log.show(ModeChanged(mode, window))

    def set_model(self, model: str, window: int = 0) -> None:
        """Continue with this model, in a new conversation with a summary."""
        self.log.need_idle()
        if model != self.info.model:
            with self.log.here():
                self._change_model(model, window)

    def _change_model(self, model: str, window: int) -> None:
        self.log.publish(ModelChanged(model, window))
        self.log.update(model=model)
        if not self.log.talk.empty:
            self.log.talk.restart(user(Text(self.services.rules.scrub(self.log.talk.summary()))))
            self.log.context = Context()
            self.log.meter.new_conversation()
            self.log.show(
                Note(
                    Sentence(
                        "Continuing with {model} and a summary of the conversation.", model=model
                    )
                )
            )

    # --- afterwards ------------------------------------------------------------------

    def rename(self, title: str, window: int = 0) -> None:
        """Set the title, also while a turn runs. Raises CommandError ``bad_title``."""
        title = checked_title(self.services.rules.scrub(title.strip()))
        if title != self.info.title:
            # Keep ``changed``, so that the session keeps its place in lists.
            with self.log.here():
                self.log.update(title=title, changed=self.info.changed)
                self.log.show(TitleChanged(title, window))

    def note(self, words: Sentence, level: Literal["info", "warning"] = "info") -> None:
        self.log.show_unasked(Note(words, level))

    # --- ending ----------------------------------------------------------------------

    async def close(self) -> None:
        """Stop for good: the server is shutting down, or the session is deleted. An undo ends
        first, because it needs the lease and the journal."""
        self.log.closing = True
        await self.reviews.finish()
        await self.log.close()


# -------------------------------------------------------------------------------------------------
# The turns of a session. Each is a task on the server that windows watch: ``_start`` begins one,
# ``_run`` is its whole course.

INTERRUPT_TIME = 5.0
"""Seconds after an interrupt until a note says that the kernel is still busy."""
SETTLE_TIME = 0.15
"""Seconds that the end of a turn waits for receipts; Stop has one second in all."""
STUCK = Sentence(
    "The kernel did not react to the interrupt. To stop the code, restart the kernel from the "
    "Kernel menu; variables will be lost."
)
NOT_SAVED = Sentence("Could not save the end of this turn. Retrying.")

log = logging.getLogger(__name__)


def _start(
    session: Session,
    text: str,
    window: int,
    references: tuple[Reference, ...] = (),
    options: TurnOptions | None = None,
) -> None:
    """Begin a turn. Without ``options``, those of the turn before that do not concern one
    message alone."""
    session_log, info = session.log, session.log.info
    queued = tuple(message.number for message in session.queue.messages) if text else ()
    session_log.publish(
        TurnStarted(
            session_log.replay.turns + 1,
            text,
            info.mode,
            info.model,
            window,
            queued,
            references,
            session_log.store.count_messages(info.session_id),
        )
    )
    session.queue.goes_on = False
    session.options = options or msgspec.structs.replace(session.options, after="", alone="")
    session.answer_references = ()
    session.task.start(_run(session, text, references))
    session_log.update()


def _ended(session: Session) -> None:
    """Journal the end, and begin the turn of messages that wait."""
    session_log = session.log
    if session_log.deferred.given_up == TAKEN:
        session_log.refresh()
    session_log.update()
    if session_log.unsaved:
        if not session.end_explains:
            session_log.show(Note(NOT_SAVED, "warning"))
        session_log.save_later()
    _begin_queued(session)
    session_log.release_lease()


def _begin_queued(session: Session) -> None:
    """Start the next turn after one that lets queued messages go on."""
    queue = session.queue
    if not (queue.goes_on and queue.messages) or session.task.running or session.log.closing:
        return
    try:
        with session.log.here():
            window, references = queue.messages[-1].window, queue.with_references(())
            _start(session, queue.with_text(""), window, references)
    except (CommandError, StoreError) as error:
        log.warning("Messages remain queued in %s: %s", session.log.session_id, error.message)


async def _run(session: Session, text: str, references: tuple[Reference, ...]) -> None:
    """Run one turn. Always publishes a ``TurnEnded``."""
    turn: AgentTurn | None = None
    cleared: list[Cleared] = []
    try:
        session.task.begin()
        session.workplace.begin_turn(session.log.replay.turns)
        turn = await _prepared(session)
        tools = await _tools(session, turn)
        ending = await run_turn(turn, tools, text, session.log.note, references)
        if ending.reason == "end_turn":
            await undo.clear_failed(turn, cleared)
    except asyncio.CancelledError:
        ending = Ending("cancelled", "cancelled", Sentence("Stopped."))
    except Exception as error:
        ending = failure(error)
    session.task.may_cancel = False
    ending = session.task.forced_ending or ending
    session.queue.goes_on = session.queue.goes_on or ending.reason == "end_turn"
    if session.task.forced_ending is not None:
        # The turn may have ended before the cancellation arrived.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
    if turn is not None:
        settle(turn)
        session.log.context = turn.context
        if turn.unresponsive is not None:
            session.log.in_background(_watch(session, turn.unresponsive))
        await turn.notebook.settled(SETTLE_TIME)
    ending = await _show_end(session, ending, turn, cleared)
    session.workplace.end_turn()
    session.log.in_background(_settle_journal(session))


async def _show_end(
    session: Session, ending: Ending, turn: Turn | None, cleared: list[Cleared]
) -> Ending:
    """Publish ``TurnEnded``, with the files and variables that the turn changed. Returns the
    final ending: the journal may fail meanwhile."""
    session_log = session.log
    session_log.keep_undelivered()
    was_stopped = ending.reason == "cancelled"
    session_log.note = STOPPED_NOTE if was_stopped else not_found(session_log.replay.figures)
    session.end_explains = session.task.forced_ending is not None
    more = await _changes(session, turn, was_stopped) if turn is not None else {}
    ending = session.task.forced_ending or ending
    ended, window = session_log.turn_ended(ending), session.task.stopped_by
    session_log.show(msgspec.structs.replace(ended, cleared=tuple(cleared), window=window, **more))
    return ending


async def _changes(session: Session, turn: Turn, was_stopped: bool) -> dict[str, object]:
    """The fields of ``TurnEnded`` on what the turn changed. Empty after a fault: every turn
    ends."""
    try:
        (files, files_left_out), _ = await asyncio.gather(
            made_by(turn), know_variables(turn, was_stopped)
        )
    except Exception:
        log.exception("Could not list what a turn changed")
        return {}
    waiting = await session.waiting_files.end_turn(session.log.replay.turns)
    return {
        "files": files,
        "files_left_out": files_left_out,
        "waiting_files": waiting.count,
        "waiting": waiting.named,
        "overlay": waiting.overlay,
        "variables": turn.notebook.worked,
    }


async def _prepared(session: Session) -> AgentTurn:
    """Read the notebook, and prepare the turn."""
    model = await session.services.model(session.log.info.model)
    turn = session.task.turn = _turn(session, model)
    await undo.remove_left_drafts(turn, await turn.notebook.look())
    await _read_folder(session, turn)
    turn.model_info = await model.info(turn.model)
    turn.meter.begin_turn(turn.model_info)
    return turn


async def _tools(session: Session, turn: Turn) -> ToolRegistry:
    """The tools of all turns of the conversation: they stay the same, because models cache them.
    Shows the warnings of features in the first turn."""
    if session.tools is None:
        more = await session.workplace.more_tools(turn.untrusted)
        session.tools = session.services.tools.with_more(more.tools)
        for words in more.notes:
            session.log.show(Note(words.changed(session.services.rules.scrub), "warning"))
    return session.tools


def _turn(session: Session, model: Model) -> AgentTurn:
    session_log, services, rules = session.log, session.services, session.services.rules
    replay, talk, place = session_log.replay, session_log.talk, session.workplace
    number, untrusted = replay.turns, talk.untrusted
    notebook = TurnNotebook(
        number,
        place.document,
        session_log.ledger,
        session.private_names,
        session_log.journal_failed,
        session.options.after,
    )
    return AgentTurn(
        number=number,
        since=replay.since,
        session_id=session_log.session_id,
        model=session_log.info.model,
        model_api=model,
        meter=session_log.meter,
        talk=talk,
        next_number=lambda: session_log.replay.steps + 1,
        queued=session.queue.delivery,
        answer_references=partial(_take_answer_references, session),
        mode=session_log.info.mode,
        always_ask=model.always_ask,
        alone=session.options.alone,
        workplace=place,
        notebook=notebook,
        store=session_log.store,
        decisions=session.decisions,
        ledger=session_log.ledger,
        context=session_log.context,
        untrusted=untrusted,
        results=Results(untrusted, talk.attached, talk.shown, notebook.stands),
        private=session.private_names,
        hooks=services.hooks,
        came_late=partial(add_late_outputs, session.log, number),
        show=session.log.show,
        asked=replay.asked,
        titles=replay.titles,
        limits=rules.limits,
        markdown_risks=rules.markdown_risks,
        may_run_all=modes.may_run_all(rules.highest_mode),
        auto_needs_sandbox=rules.auto_needs_sandbox,
        cautions=talk.cautions,
        before=asyncio.ensure_future(look_around(place)),
        # At the same time as the first request to the model.
        files_kept=asyncio.ensure_future(session.waiting_files.begin_turn(number)),
    )


async def _read_folder(session: Session, turn: Turn) -> None:
    """Read the names of files, and the person's instructions and skills."""
    place = session.workplace
    turn.files = await place.files()
    if not session.options.rule_files:
        return
    turn.rule_files = await place.rule_files()
    for path, why in turn.rule_files:
        if why in NOT_READ and path not in session.unread_rule_files:
            session.unread_rule_files.add(path)
            words = Sentence("{path} was {why}.", path=visible_line(path), why=NOT_READ[why])
            session.log.show(Note(words, "warning"))
    turn.skills = [skill for skill in await place.skills() if not skill.trouble]


def _take_answer_references(session: Session) -> tuple[Reference, ...]:
    references, session.answer_references = session.answer_references, ()
    return references


async def add_late_outputs(
    session: SessionLog, turn: int, end: FinishRun, outputs: tuple[Output, ...]
) -> None:
    """Add outputs of a thread, a task or another cell to the cell whose run ended with ``end``."""
    if session.closing or session.ledger.last_run(end.cell_id) != end.run_id:
        return
    # Code that nobody has reviewed can publish them in the name of a reviewed cell.
    new = [now for at, now in enumerate(outputs) if (now,) != end.outputs[at : at + 1]]
    trusted = end.trusted and await off_loop(lambda: is_passive(new), weight(new), lambda: False)
    kept = await session.store.keep_outputs(session.session_id, outputs)
    changed = {"outputs": outputs, "trusted": trusted, "kept": kept}
    try:
        with session.here():
            op = msgspec.structs.replace(end, **changed)
            session.workplace.document.apply_later(turn, op)
            await session.workplace.document.save()
    except (CommandError, StoreError, DocumentError) as error:
        log.info("Outputs after a run are not in %s: %s", end.cell_id, error)
        return
    if session.ledger.last_run(end.cell_id) != end.run_id:
        return  # The cell has run again meanwhile.
    if session.task.running and session.task.turn is not None:
        session.task.turn.notebook.has_run(end.cell_id, outputs)


async def _settle_journal(session: Session) -> None:
    """Flush the turn's end to the disk, without making the next turn wait."""
    session_log = session.log
    try:
        await session_log.store.settle(session_log.session_id)
        await session_log.store.tidy()
    except StoreError as error:
        log.warning("Could not tidy the journal: %s", error.message)
        # The journal may lack appends that a network drive has refused.
        session_log.deferred.do(
            partial(session_log.store.append_events, session_log.session_id, [])
        )
        if session_log.unsaved and not (session.task.running or session.end_explains):
            session_log.show(Note(NOT_SAVED, "warning"))


async def _watch(session: Session, run: StoppedRun) -> None:
    """Notify the person if the kernel ignores the interrupt."""
    await asyncio.sleep(INTERRUPT_TIME)
    if not await run.has_stopped():
        session.log.show_unasked(Note(STUCK, "warning"))
