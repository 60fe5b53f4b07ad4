"""The turns of a session. Each is a task on the server that windows watch.

``start`` begins one, ``_run`` is its whole course.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from functools import partial
from typing import Protocol

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
from .messages import GOES_ON, Queue
from .turn_task import TurnTask
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
    alone: Alone = ""


class TakesTurns(Protocol):
    """A session, as its turns use it."""

    services: Services
    workplace: Workplace
    private_names: PrivateNames
    decisions: Decisions
    task: TurnTask
    log: SessionLog
    queue: Queue
    waiting_files: WaitingFiles
    late_outputs: LateOutputs
    tools: TurnTools
    options: TurnOptions
    """Of the latest turn."""
    answer_references: tuple[Reference, ...]
    """References in answers to questions, not yet sent to the model."""
    unread_rule_files: set[str]
    """Unread instruction files that the person was told about."""
    end_explains: bool
    """Whether the latest turn's end says that the journal failed."""


def start(
    session: TakesTurns,
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


def ended(session: TakesTurns) -> None:
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


def _begin_queued(session: TakesTurns) -> None:
    """Start the next turn after one that lets queued messages go on."""
    queue = session.queue
    if not (queue.goes_on and queue.messages) or session.task.running or session.log.closing:
        return
    try:
        with session.log.here():
            window, references = queue.messages[-1].window, queue.with_references(())
            start(session, queue.with_text(""), window, references)
    except (CommandError, StoreError) as error:
        log.warning("Messages remain queued in %s: %s", session.log.session_id, error.message)


async def _run(session: TakesTurns, text: str, references: tuple[Reference, ...]) -> None:
    """Run one turn. Always publishes a ``TurnEnded``."""
    agent: Agent | None = None
    cleared: list[Cleared] = []
    session.workplace.begin_turn(session.log.replay.turns)
    try:
        session.task.begin()
        agent = await _agent(session)
        ending = await agent.run(text, session.log.note, references)
        if ending.reason == "end_turn":
            await undo.clear_failed(agent.turn, cleared)
    except asyncio.CancelledError:
        ending = Ending("cancelled", "cancelled", "Stopped.")
    except Exception as error:
        ending = failure(error)
    session.task.may_cancel = False
    ending = session.task.forced_ending or ending
    session.queue.goes_on = session.queue.goes_on or GOES_ON[ending.reason]
    if session.task.forced_ending is not None:
        # The turn may have ended before the cancellation arrived.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
    if agent is not None:
        await _settle(session, agent)
    ending = await _show_end(session, ending, agent.turn if agent is not None else None, cleared)
    session.workplace.end_turn()
    session.log.in_background(_settle_journal(session))


async def _show_end(
    session: TakesTurns, ending: Ending, turn: Turn | None, cleared: list[Cleared]
) -> Ending:
    """Publish ``TurnEnded``, with the files and variables that the turn changed. Returns the
    final ending: the journal may fail meanwhile."""
    session_log = session.log
    session_log.keep_undelivered()
    was_stopped = ending.reason == "cancelled"
    session_log.note = STOPPED_NOTE if was_stopped else not_found(session_log.replay.figures)
    session.end_explains = session.task.forced_ending is not None
    more: dict[str, object] = {}
    if turn is not None:
        (files, files_left_out), _ = await asyncio.gather(
            _made_by(turn, session.workplace), _know_variables(turn, was_stopped)
        )
        waiting = await session.waiting_files.end_turn(session_log.replay.turns)
        more = {
            "files": files,
            "files_left_out": files_left_out,
            "waiting_files": waiting.count,
            "waiting": waiting.named,
            "overlay": waiting.overlay,
            "variables": turn.changed_variables,
        }
    ending = session.task.forced_ending or ending
    ended, window = session_log.turn_ended(ending), session.task.stopped_by
    session_log.show(msgspec.structs.replace(ended, cleared=tuple(cleared), window=window, **more))
    return ending


async def _agent(session: TakesTurns) -> Agent:
    """Read the notebook and build the turn's agent."""
    model = session.services.model(session.log.info.model)
    turn = session.task.turn = _turn(session, model)
    await undo.remove_left_drafts(turn, await turn.notebook.look())
    await _read_folder(session, turn)
    for words in await session.tools.find(turn.untrusted):
        session.log.show(Note(session.services.rules.scrub(words), "warning"))
    turn.model_info = await model.info(turn.model)
    meter = session.log.meter
    meter.begin_turn(turn.model_info)
    return Agent(
        model,
        meter,
        turn,
        session.log.talk,
        turn.asked,
        lambda: session.log.replay.steps + 1,
        session.tools.registry,
        session.queue.delivery,
        partial(_take_answer_references, session),
    )


def _turn(session: TakesTurns, model: Model) -> Turn:
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
    return Turn(
        number=number,
        since=replay.since,
        session_id=session_log.session_id,
        model=session_log.info.model,
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
        results=Results(untrusted, talk.attached, talk.shown, notebook.stands, talk.pictures),
        private=session.private_names,
        hooks=services.hooks,
        came_late=partial(session.late_outputs.add, number, untrusted.scrub),
        late=session.late_outputs.by_cell,
        show=session.log.show,
        asked=replay.asked,
        titles=replay.titles,
        limits=rules.limits,
        markdown_risks=rules.markdown_risks,
        may_run_all=modes.may_run_all(rules.highest_mode),
        auto_needs_sandbox=rules.auto_needs_sandbox,
        cautions=talk.cautions,
        before=asyncio.ensure_future(_look_around(place)),
        # Beside the first request to the model.
        files_kept=asyncio.ensure_future(session.waiting_files.begin_turn(number)),
    )


async def _read_folder(session: TakesTurns, turn: Turn) -> None:
    """Read the names of files, and the person's instructions and skills."""
    place = session.workplace
    turn.files = await place.files()
    if not session.options.rule_files:
        return
    turn.rule_files = await place.rule_files()
    for path, why in turn.rule_files:
        if why in NOT_READ and path not in session.unread_rule_files:
            session.unread_rule_files.add(path)
            session.log.show(Note(f"{visible_line(path)} was {why[1:-1]}.", "warning"))
    turn.skills = skills_of(await place.own_commands())


def _take_answer_references(session: TakesTurns) -> tuple[Reference, ...]:
    references, session.answer_references = session.answer_references, ()
    return references


async def _settle(session: TakesTurns, agent: Agent) -> None:
    """Clean up after the last step: no draft waits, every call has a result."""
    await agent.cancel_calls()
    agent.turn.notebook.over = True
    agent.stop()
    session.log.context = agent.turn.context
    if agent.turn.unresponsive is not None:
        session.log.in_background(_watch(session, agent.turn.unresponsive))
    await agent.turn.notebook.settled(SETTLE_TIME)


async def _settle_journal(session: TakesTurns) -> None:
    """Flush the turn's end to the disk, without making the next turn wait."""
    session_log = session.log
    try:
        await session_log.store.settle(session_log.session_id)
        await session_log.store.tidy()
    except StoreError as error:
        log.warning("Could not tidy the journal: %s", error.message)
        # It may lack appends that a network drive has refused.
        session_log.deferred.do(
            partial(session_log.store.append_events, session_log.session_id, [])
        )
        if session_log.unsaved and not (session.task.running or session.end_explains):
            session_log.show(Note(NOT_SAVED, "warning"))


async def _watch(session: TakesTurns, run: StoppedRun) -> None:
    """Notify the person if the kernel ignores the interrupt."""
    await asyncio.sleep(INTERRUPT_TIME)
    if not await run.has_stopped():
        session.log.show_unasked(Note(STUCK, "warning"))


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
