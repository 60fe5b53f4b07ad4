"""The turns of a session. Each is a task on the server that windows watch."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from functools import partial

import msgspec

from ..agent.agent import Agent
from ..agent.final_answer import not_found
from ..agent.tools.registry import ToolRegistry
from ..base.errors import CommandError, KernelError, StoreError
from ..base.visible import visible_line
from ..journal.event_log import TAKEN
from ..run.approval import modes
from ..run.approval.decisions import Alone, Decisions
from ..run.turn.ending import Ending, failure
from ..run.turn.files import FolderScan, made
from ..run.turn.notebook import TurnNotebook
from ..run.turn.results import Results
from ..run.turn.turn import StoppedRun, Turn
from ..run.turn.workplace import Workplace
from ..view.own_command import skills_of
from ..view.redaction.private_names import PrivateNames
from ..view.rule_files import NOT_READ
from ..view.untrusted import Untrusted
from ..wire.events import Cleared, MadeFile, Note, Reference, TurnStarted
from ..wire.ports import Model
from . import undo
from .late_outputs import LateOutputs
from .log import STOPPED_NOTE, Services, SessionLog
from .looking import SecondLooks
from .messages import GOES_ON, Queue
from .waiting_files import WaitingFiles

# -------------------------------------------------------------------------------------------------
# The tools of a conversation's turns: the agent's own, and those of features.


class TurnTools:
    def __init__(self, own: ToolRegistry, workplace: Workplace) -> None:
        self._own = self.registry = own
        self._workplace = workplace
        self._complete = False
        """Whether ``registry`` stays as it is; False until the first turn."""
        self._warned: set[str] = set()

    async def find(self, untrusted: Untrusted) -> list[str]:
        """Add the tools of features. Returns warnings that the person has not read yet.

        Once complete, the tools stay the same within a conversation, because models cache them.
        """
        if self._complete:
            return []
        more = await self._workplace.more_tools(untrusted)
        self._complete = more.complete
        self.registry = self._own.with_more(more.tools)
        new = [words for words in dict.fromkeys(more.notes) if words not in self._warned]
        self._warned.update(new)
        return new


# -------------------------------------------------------------------------------------------------

INTERRUPT_TIME = 5.0
"""Seconds after an interrupt until a note says that the kernel is still busy."""
SETTLE_TIME = 0.15
"""Seconds that the end of a turn waits for receipts; Stop has one second in all."""
STUCK = (
    "The kernel did not react to the interrupt. To stop the code, restart the kernel from the "
    "Kernel menu; variables will be lost."
)
NOT_SAVED = "Could not save the end of this turn. Retrying."
LOOK_TIME = 0.3
"""Seconds that the end of a turn waits for the file scan, within the same second."""

Made = tuple[tuple[MadeFile, ...], int]
"""Listed files, and the number of others."""
NONE_MADE: Made = ((), 0)

log = logging.getLogger(__name__)


class TurnOptions(msgspec.Struct, frozen=True):
    """How a turn works, as its sender wants it."""

    after: str = ""
    """New cells go after this one; "" for the default place."""
    rule_files: bool = True
    """Whether the turn reads the person's instruction files."""
    second_look: str | None = None
    """The model that checks an answer with numbers; "" for the default, None for no check."""
    alone: Alone = ""


class TurnRunner:
    def __init__(
        self,
        session_log: SessionLog,
        services: Services,
        decisions: Decisions,
        queue: Queue,
        waiting_files: WaitingFiles,
        private: PrivateNames,
    ) -> None:
        """``private``: names that private cells assign; grows with what the turns see."""
        self._log = session_log
        self._services = services
        self._decisions = decisions
        self._queue = queue
        self._waiting_files = waiting_files
        self._private = private
        self._task = session_log.task
        self._task.ended = self._ended
        self._workplace = session_log.workplace
        self._tools = TurnTools(services.tools, session_log.workplace)
        self.options = TurnOptions()
        self.answer_references: tuple[Reference, ...] = ()
        """References in answers to questions, not yet sent to the model."""
        self._unread: set[str] = set()
        """Unread instruction files that the person was told about."""
        self.late_outputs = LateOutputs(session_log)
        self.second_looks = SecondLooks(session_log, services)
        self._end_explains = False
        """Whether the turn's end says that the journal failed."""

    def start(
        self,
        text: str,
        window: int,
        references: tuple[Reference, ...] = (),
        options: TurnOptions | None = None,
    ) -> None:
        """Begin a turn. Without ``options``, those of the turn before that do not concern one
        message alone."""
        session, info = self._log, self._log.info
        queued = tuple(message.number for message in self._queue.messages) if text else ()
        session.publish(
            TurnStarted(
                session.replay.turns + 1,
                text,
                info.mode,
                info.model,
                window,
                queued,
                references,
                session.store.count_messages(info.session_id),
            )
        )
        self._queue.goes_on = False
        self.options = options or msgspec.structs.replace(self.options, after="", alone="")
        self.answer_references = ()
        self._task.start(self._run(text, references))
        session.update()

    def _ended(self) -> None:
        session = self._log
        if session.deferred.given_up == TAKEN:
            session.refresh()
        session.update()
        if session.unsaved:
            if not self._end_explains:
                session.show(Note(NOT_SAVED, "warning"))
            session.save_later()
        self._begin_queued()
        session.release_lease()

    def _begin_queued(self) -> None:
        """Start the next turn after one that lets queued messages go on."""
        queue = self._queue
        if not (queue.goes_on and queue.messages) or self._task.running or self._log.closing:
            return
        try:
            with self._log.here():
                window, references = queue.messages[-1].window, queue.with_references(())
                self.start(queue.with_text(""), window, references)
        except (CommandError, StoreError) as error:
            log.warning("Messages remain queued in %s: %s", self._log.session_id, error.message)

    async def _run(self, text: str, references: tuple[Reference, ...]) -> None:
        """Run one turn. Always publishes a ``TurnEnded``."""
        agent: Agent | None = None
        cleared: list[Cleared] = []
        self._workplace.begin_turn(self._log.replay.turns)
        try:
            self._task.begin()
            agent = await self._agent()
            ending = await agent.run(text, self._log.note, references)
            if ending.reason == "end_turn":
                await undo.clear_failed(agent.turn, cleared)
        except asyncio.CancelledError:
            ending = Ending("cancelled", "cancelled", "Stopped.")
        except Exception as error:
            ending = failure(error)
        self._task.may_cancel = False
        ending = self._task.forced_ending or ending
        self._queue.goes_on = self._queue.goes_on or GOES_ON[ending.reason]
        if self._task.forced_ending is not None:
            # The turn may have ended before the cancellation arrived.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        if agent is not None:
            await self._settle(agent)
        ending = await self._show_end(ending, agent.turn if agent is not None else None, cleared)
        self._workplace.end_turn()
        self._log.in_background(self._settle_journal())
        if ending.reason == "end_turn" and self.options.second_look is not None:
            self._log.in_background(self.second_looks.look_after_turn(self.options.second_look))

    async def _show_end(self, ending: Ending, turn: Turn | None, cleared: list[Cleared]) -> Ending:
        """Publish ``TurnEnded``, with the files and variables that the turn changed. Returns the
        final ending: the journal may fail meanwhile."""
        session = self._log
        session.keep_undelivered()
        was_stopped = ending.reason == "cancelled"
        session.note = STOPPED_NOTE if was_stopped else not_found(session.replay.figures)
        self._end_explains = self._task.forced_ending is not None
        more: dict[str, object] = {}
        if turn is not None:
            (files, files_left_out), _ = await asyncio.gather(
                _made_by(turn, self._workplace), _know_variables(turn, was_stopped)
            )
            waiting = await self._waiting_files.end_turn(session.replay.turns)
            more = {
                "files": files,
                "files_left_out": files_left_out,
                "waiting_files": waiting.count,
                "waiting": waiting.named,
                "overlay": waiting.overlay,
                "variables": turn.changed_variables,
            }
        ending = self._task.forced_ending or ending
        ended, window = session.turn_ended(ending), self._task.stopped_by
        session.show(msgspec.structs.replace(ended, cleared=tuple(cleared), window=window, **more))
        return ending

    # --- the agent -------------------------------------------------------------------

    async def _agent(self) -> Agent:
        """Read the notebook and build the turn's agent."""
        model = self._services.model(self._log.info.model)
        turn = self._task.turn = self._turn(model)
        await undo.remove_left_drafts(turn, await turn.notebook.look())
        await self._read_folder(turn)
        for words in await self._tools.find(turn.untrusted):
            self._log.show(Note(self._services.rules.scrub(words), "warning"))
        turn.model_info = await model.info(turn.model)
        meter = self._log.meter
        meter.begin_turn(turn.model_info)
        return Agent(
            model,
            meter,
            turn,
            self._log.talk,
            turn.asked,
            lambda: self._log.replay.steps + 1,
            self._tools.registry,
            self._queue.delivery,
            self._take_answer_references,
        )

    def _turn(self, model: Model) -> Turn:
        session, services, rules = self._log, self._services, self._services.rules
        replay, talk, place = session.replay, session.talk, self._workplace
        number, untrusted = replay.turns, talk.untrusted
        notebook = TurnNotebook(
            number,
            place.document,
            session.ledger,
            self._private,
            session.journal_failed,
            self.options.after,
        )
        return Turn(
            number=number,
            since=replay.since,
            session_id=session.session_id,
            model=session.info.model,
            mode=session.info.mode,
            always_ask=model.always_ask,
            alone=self.options.alone,
            workplace=place,
            notebook=notebook,
            store=session.store,
            decisions=self._decisions,
            ledger=session.ledger,
            context=session.context,
            untrusted=untrusted,
            results=Results(untrusted, talk.attached, talk.shown, notebook.stands, talk.pictures),
            private=self._private,
            hooks=services.hooks,
            came_late=partial(self.late_outputs.add, number, untrusted.scrub),
            late=self.late_outputs.by_cell,
            show=self._log.show,
            asked=replay.asked,
            titles=replay.titles,
            limits=rules.limits,
            markdown_risks=rules.markdown_risks,
            may_run_all=modes.may_run_all(rules.highest_mode),
            auto_needs_sandbox=rules.auto_needs_sandbox,
            cautions=talk.cautions,
            before=asyncio.ensure_future(_look_around(place)),
            # Beside the first request to the model.
            files_kept=asyncio.ensure_future(self._waiting_files.begin_turn(number)),
        )

    async def _read_folder(self, turn: Turn) -> None:
        """Read the names of files, and the person's instructions and skills."""
        place = self._workplace
        turn.files = await place.files()
        if not self.options.rule_files:
            return
        turn.rule_files = await place.rule_files()
        for path, why in turn.rule_files:
            if why in NOT_READ and path not in self._unread:
                self._unread.add(path)
                self._log.show(Note(f"{visible_line(path)} was {why[1:-1]}.", "warning"))
        turn.skills = skills_of(await place.own_commands())

    def _take_answer_references(self) -> tuple[Reference, ...]:
        references, self.answer_references = self.answer_references, ()
        return references

    # --- the end ---------------------------------------------------------------------

    async def _settle(self, agent: Agent) -> None:
        """Clean up after the last step: no draft waits, every call has a result."""
        await agent.cancel_calls()
        agent.turn.notebook.over = True
        agent.stop()
        self._log.context = agent.turn.context
        if agent.turn.unresponsive is not None:
            self._log.in_background(self._watch(agent.turn.unresponsive))
        await agent.turn.notebook.settled(SETTLE_TIME)

    async def _settle_journal(self) -> None:
        """Flush the turn's end to the disk, without making the next turn wait."""
        session = self._log
        try:
            await session.store.settle(session.session_id)
            await session.store.tidy()
        except StoreError as error:
            log.warning("Could not tidy the journal: %s", error.message)
            # It may lack appends that a network drive has refused.
            session.deferred.do(partial(session.store.append_events, session.session_id, []))
            if session.unsaved and not (self._task.running or self._end_explains):
                session.show(Note(NOT_SAVED, "warning"))

    async def _watch(self, run: StoppedRun) -> None:
        """Notify the person if the kernel ignores the interrupt."""
        await asyncio.sleep(INTERRUPT_TIME)
        if not await run.has_stopped():
            self._log.show_unasked(Note(STUCK, "warning"))


async def _look_around(workplace: Workplace) -> FolderScan | None:
    """Scan the notebook's folder; None if that fails."""
    try:
        return await workplace.look_around()
    except Exception:
        log.warning("Could not scan the files of a turn", exc_info=True)
        return None


async def _know_variables(turn: Turn, was_stopped: bool) -> None:
    """Record the variables after the agent's runs, so that only later changes are described."""
    if not turn.notebook.worked or was_stopped:
        return
    with contextlib.suppress(KernelError, asyncio.TimeoutError):
        variables = await asyncio.wait_for(turn.variables(), LOOK_TIME)
        if variables is not None:
            turn.context.knows(variables, turn.untrusted.scrub)


async def _made_by(turn: Turn, workplace: Workplace) -> Made:
    """The files that the turn made or changed, if it ran anything."""
    if turn.before is None or not turn.notebook.worked:
        return NONE_MADE
    try:
        compared = _compared(turn.before, workplace, turn.scrub)
        files, left_out = await asyncio.wait_for(compared, LOOK_TIME)
    except asyncio.TimeoutError:
        return NONE_MADE
    return tuple(file for file in files if file.path != turn.went_on), left_out


async def _compared(
    looked: asyncio.Future[FolderScan | None], workplace: Workplace, scrub: Callable[[str], str]
) -> Made:
    before, after = await asyncio.gather(looked, _look_around(workplace))
    # Ten thousand paths take milliseconds.
    return await asyncio.to_thread(made, before, after, scrub)
