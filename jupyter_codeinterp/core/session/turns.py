"""The turns of a session. Each is a task on the server that windows watch."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from ..approval import modes
from ..approval.decisions import Alone, Decisions
from ..document.ops import FinishRun, Output
from ..document.passive import is_passive
from ..errors import (
    CodeInterpError,
    CommandError,
    DocumentError,
    KernelError,
    ModelError,
    StoreError,
)
from ..history.event_log import TAKEN
from ..hooks import Hooks
from ..loop.agent import Agent
from ..loop.figure_origins import not_found
from ..loop.second_look import Answered, SecondLook, latest
from ..model_view.context import Late, late_text
from ..model_view.outputs import size
from ..model_view.rule_files import NOT_READ
from ..model_view.untrusted import Untrusted
from ..off_loop import off_loop
from ..own_command import skills_of
from ..ports import Model
from ..stores import SessionStore
from ..tools.registry import ToolRegistry
from ..turn.ending import Ending, failure
from ..turn.files import NOTHING_WAITS, Seen, made
from ..turn.limits import Rules
from ..turn.notebook import TurnNotebook
from ..turn.results import UNREADABLE, Results
from ..turn.turn import StoppedRun, Turn
from ..turn.workplace import Workplace
from ..visible import visible_line
from ..wire.commands import SessionInfo
from ..wire.events import (
    Cleared,
    Looked,
    MadeFile,
    MessageQueued,
    MessagesHeard,
    MessageTakenBack,
    Note,
    Reference,
    TurnStarted,
)
from . import undo
from .messages import GOES_ON
from .persistence import NOT_SAVED, STOPPED_NOTE, PersistentSession
from .reviews import Reviews
from .waiting_files import WaitingFiles

# -------------------------------------------------------------------------------------------------
# The tools of a conversation's turns: the agent's own, and those that features add.


class TurnTools:
    def __init__(self, own: ToolRegistry, workplace: Workplace) -> None:
        self._own = self.registry = own
        self._workplace = workplace
        self._complete = False
        """Whether ``registry`` stays as it is; False until the first turn."""
        self._said: set[str] = set()

    async def find(self, untrusted: Untrusted) -> list[str]:
        """Add the tools of features. Returns warnings that the person has not read yet.

        Once complete, the tools stay the same within a conversation, because models cache them.
        """
        if self._complete:
            return []
        more = await self._workplace.more_tools(untrusted)
        self._complete = more.complete
        self.registry = self._own.with_more(more.tools)
        new = [words for words in dict.fromkeys(more.notes) if words not in self._said]
        self._said.update(new)
        return new


# -------------------------------------------------------------------------------------------------
# Messages sent while a turn runs. The journal keeps them; they reach the model with the next
# results or begin the next turn (``messages.py``).

MOST_QUEUED = 20
MOST_CHARACTERS = 100_000
"""Characters of all queued messages together."""


class Queue:
    def __init__(self, session: PersistentSession) -> None:
        self._session = session
        self.goes_on = False
        """Whether queued messages begin a turn after this one."""

    @property
    def messages(self) -> tuple[MessageQueued, ...]:
        return tuple(self._session.replay.queued.values())

    def take_back(self, number: int, window: int = 0) -> None:
        """Raises CommandError ``not_queued`` or ``held_elsewhere``, and StoreError."""
        with self._session.here():
            if number not in self._session.replay.queued:
                words = "This message is no longer queued. The model already has it."
                raise CommandError("not_queued", words)
            self._session.publish(MessageTakenBack(number, window))

    def add(self, text: str, window: int, references: tuple[Reference, ...] = ()) -> None:
        if len(self.messages) >= MOST_QUEUED:
            words = "{limit} messages are already queued. Remove one first."
            raise CommandError("too_many_queued", words, limit=MOST_QUEUED)
        if sum(len(message.text) for message in self.messages) + len(text) > MOST_CHARACTERS:
            words = "Queued messages may have {limit:,} characters in total."
            raise CommandError("too_many_queued", words, limit=MOST_CHARACTERS)
        with self._session.here():
            self._session.publish(
                MessageQueued(self._session.replay.said + 1, text, window, references)
            )
        if not self._session.may_cancel:
            # The turn is already stopping or ending.
            self.goes_on = True

    def with_text(self, text: str) -> str:
        parts = [*(message.text for message in self.messages), text]
        return "\n\n".join(part for part in parts if part)

    def with_references(self, references: tuple[Reference, ...]) -> tuple[Reference, ...]:
        """The references of queued messages, then ``references``, each once."""
        queued = (named for message in self.messages for named in message.references)
        return tuple(dict.fromkeys((*queued, *references)))

    def delivery(self) -> MessagesHeard | None:
        if not self.messages:
            return None
        numbers = tuple(message.number for message in self.messages)
        return MessagesHeard(numbers, self.with_text(""), self.with_references(()))


INTERRUPT_TIME = 5.0
"""Seconds after an interrupt until a note says that the kernel is still busy."""
SETTLE_TIME = 0.15
"""Seconds that the end of a turn waits for receipts; Stop has one second in all."""
STUCK = (
    "The kernel did not react to the interrupt. To stop the code, restart the kernel from the "
    "Kernel menu; variables will be lost."
)

LONGEST_LOOK = 60.0
"""Seconds that a model has to name mistakes."""
MOST_LATE = 50
"""Cells whose late outputs are kept for the model."""
LOOK_TIME = 0.3
"""Seconds that the end of a turn waits for the file scan, within the same second."""

Made = tuple[tuple[MadeFile, ...], int]
"""Listed files, and the number of others."""
NONE_MADE: Made = ((), 0)

log = logging.getLogger(__name__)


@dataclass
class Services:
    """What the sessions of a program share."""

    store: SessionStore
    rules: Rules
    model: Callable[[str], Model]
    """The model of a name. Raises ModelError."""
    tools: ToolRegistry
    hooks: Hooks


class TurnRunner(PersistentSession):
    def __init__(
        self,
        info: SessionInfo,
        services: Services,
        workplace: Workplace,
        changed: Callable[[Any], None] = lambda session: None,
        waits: Callable[[Any], None] = lambda session: None,
    ) -> None:
        """Calls ``changed`` with itself when it starts or stops running, when its title, model,
        mode or notebook changes, and when another server begins or stops working on it. Calls
        ``waits`` when it begins or stops waiting for a person."""
        self.decisions = Decisions(lambda: waits(self))
        self.services = services
        self._tools = TurnTools(services.tools, workplace)
        self._put_after = ""
        """New cells of this turn go after this one; "" for the default place."""
        self._answer_references: tuple[Reference, ...] = ()
        """References in answers to questions, not yet sent to the model."""
        self._unread: set[str] = set()
        """Unread instruction files that the person was told about."""
        self.reads_rules = True
        """Whether turns read the person's instruction files."""
        self.second_look: str | None = None
        """The model that checks answers with numbers; "" for the default, None for no check."""
        self.unattended: Alone = ""
        self._looking: asyncio.Task[None] | None = None
        self._closing = False
        super().__init__(info, services.store, workplace, services.rules, lambda: changed(self))
        self._late: dict[str, Late] = {}
        """Outputs that came after their runs, by cell."""
        self.queue = Queue(self)
        self.waiting_files = WaitingFiles(self, services.rules.scrub)
        self.reviews = Reviews(self, self.waiting_files)

    def _start(self, text: str, window: int, references: tuple[Reference, ...] = ()) -> None:
        number, info = self.replay.turns + 1, self.info
        queued = tuple(message.number for message in self.queue.messages) if text else ()
        given = (text, info.mode, info.model, window, queued, references)
        told = self.store.count_messages(info.session_id)
        self.publish(TurnStarted(number, *given, told))
        self._stop_looking()
        self.may_cancel = True
        self._stopped_by = 0
        self.queue.goes_on = False
        self._begun = False
        self._halted = None
        self.unattended = ""
        self._put_after = ""
        self._answer_references = ()
        self._task = asyncio.get_running_loop().create_task(self._run(text, references))
        self._task.add_done_callback(lambda _: self._ended())
        self._set()

    def _ended(self) -> None:
        if self._deferred.given_up == TAKEN:
            self.refresh()
        self._set()
        if self._unsaved:
            if not self._end_explains:
                self.show(Note(NOT_SAVED, "warning"))
            self._save_later()
        self._begin_queued()
        self._release_lease()

    def _begin_queued(self) -> None:
        """Start the next turn after one that lets queued messages go on."""
        queue = self.queue
        if not (queue.goes_on and queue.messages) or self.running or self._closing:
            return
        try:
            with self.here():
                window, references = queue.messages[-1].window, queue.with_references(())
                self._start(queue.with_text(""), window, references)
        except (CommandError, StoreError) as error:
            log.warning("Messages remain queued in %s: %s", self.info.session_id, error.message)

    async def _run(self, text: str, references: tuple[Reference, ...]) -> None:
        """Run one turn. Always publishes a ``TurnEnded``."""
        agent: Agent | None = None
        cleared: list[Cleared] = []
        self._begun = True
        self.workplace.begin_turn(self.replay.turns)
        try:
            if not self.may_cancel:
                raise asyncio.CancelledError  # Stopped already.
            agent = await self._agent()
            async for event in agent.run(text, self._note, references):
                self.show(event)
            ending = agent.ending
            if ending.reason == "end_turn":
                await undo.clear_failed(agent.turn, cleared)
        except asyncio.CancelledError:
            ending = Ending("cancelled", "cancelled", "Stopped.")
        except Exception as error:
            ending = failure(error)
        self.may_cancel = False
        if self._halted is not None:
            ending = self._halted
        self.queue.goes_on = self.queue.goes_on or GOES_ON[ending.reason]
        if self._halted is not None:
            # The turn may have ended before the cancellation arrived.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        if agent is not None:
            await self._settle(agent)
        self._keep_undelivered()
        was_stopped = ending.reason == "cancelled"
        self._note = STOPPED_NOTE if was_stopped else not_found(self.replay.figures)
        self._end_explains = self._halted is not None
        files, waiting, changed = NONE_MADE, NOTHING_WAITS, False
        if agent is not None:
            files, _ = await asyncio.gather(
                _made_by(agent.turn, self.workplace), _know_variables(agent.turn, was_stopped)
            )
            waiting = await self.waiting_files.end_turn(self.replay.turns)
            changed = agent.turn.changed_variables
        ending = self._halted or ending
        self._show_end(ending, cleared, files, waiting, changed)
        self.workplace.end_turn()
        self._in_background(self._settle_journal())
        if ending.reason == "end_turn" and self.second_look is not None:
            self._in_background(self._look_by_itself(self.second_look))

    # --- a second look ---------------------------------------------------------------

    async def look(self, name: str = "", window: int = 0) -> None:
        """Let a model look for mistakes in the latest answer. Stop or a new turn cancels this.
        Raises CommandError ``busy``, ``nothing_to_look_at``, ``look_stopped`` or ``no_look``, and
        DocumentError."""
        self.need_idle()
        if self._looking is not None:
            raise CommandError("busy", "A model is looking for mistakes. Wait a moment.")
        await self._look(self._answered(), name, window)

    def _answered(self) -> Answered:
        replay = self.replay
        found = latest(self.store.events(self.info.session_id), replay.asked, replay.said_last)
        if replay.ended is None or replay.ended.stop_reason != "end_turn" or not found.runs:
            words = "There is no answer with a cell to look at."
            raise CommandError("nothing_to_look_at", words)
        return found

    async def _look(self, answered: Answered, name: str, window: int) -> None:
        name = name or self._rules.second_look or self.info.model
        task = self._looking = self._in_background(self._ask_for_mistakes(answered, name, window))
        model = visible_line(name)
        try:
            await asyncio.wait({task}, timeout=LONGEST_LOOK)
            if not task.done():
                words = (
                    "{model} could not look for mistakes: it took longer than {limit:.0f} seconds."
                )
                raise CommandError("no_look", words, model=model, limit=LONGEST_LOOK)
            if task.cancelled():
                words = "{model} could not look for mistakes: it was stopped."
                raise CommandError("look_stopped", words, model=model)
            task.result()
        except ModelError as error:
            words = "{model} could not look for mistakes: {why}"
            raise CommandError("no_look", words, model=model, why=error.message) from None
        finally:
            task.cancel()
            if self._looking is task:
                self._looking = None

    async def _ask_for_mistakes(self, answered: Answered, name: str, window: int) -> None:
        turn = self.replay.turns
        snapshot = await self.workplace.document.snapshot()
        look = SecondLook(self.services.model(name), name, self._talk.untrusted, self._meter)
        async for counted in look.events(answered, snapshot, self._rules.limits.cost):
            with self.here():
                self.show(counted)
        with self.here():
            self.show(Looked(turn, name, look.mistakes, window))

    def _stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    async def _look_by_itself(self, name: str) -> None:
        """Look for mistakes after a turn. A failure becomes a note."""
        try:
            answered = self._answered()
            if answered.has_figures:
                await self._look(answered, name, 0)
        except CodeInterpError as error:
            if getattr(error, "code", "") not in ("nothing_to_look_at", "look_stopped"):
                self._show_unasked(Note(error.message, "warning"))

    async def _agent(self) -> Agent:
        """Read the notebook and build the turn's agent."""
        model = self.services.model(self.info.model)
        place = self.workplace
        before = asyncio.ensure_future(_look_around(place))
        # Beside the first request to the model.
        files_kept = asyncio.ensure_future(self.waiting_files.begin_turn(self.replay.turns))
        number, untrusted = self.replay.turns, self._talk.untrusted
        notebook = TurnNotebook(
            number,
            place.document,
            self.ledger,
            self._private,
            self._journal_failed,
            self._put_after,
        )
        turn = self._turn = Turn(
            number=number,
            since=self.replay.since,
            session_id=self.info.session_id,
            model=self.info.model,
            mode=self.info.mode,
            always_ask=model.always_ask,
            alone=self.unattended,
            workplace=place,
            notebook=notebook,
            store=self.store,
            decisions=self.decisions,
            ledger=self.ledger,
            context=self._context,
            untrusted=untrusted,
            results=Results(
                *(untrusted, self._talk.attached, self._talk.shown),
                *(notebook.stands, self._talk.pictures),
            ),
            private=self._private,
            hooks=self.services.hooks,
            came_late=partial(self._came_late, number, untrusted.scrub),
            late=self._late,
            asked=self.replay.asked,
            titles=self.replay.titles,
            limits=self._rules.limits,
            markdown_risks=self._rules.markdown_risks,
            may_run_all=modes.may_run_all(self._rules.highest_mode),
            auto_needs_sandbox=self._rules.auto_needs_sandbox,
            cautions=self._talk.cautions,
            before=before,
            files_kept=files_kept,
        )
        await undo.remove_left_drafts(turn, await turn.notebook.look())
        turn.files = await place.files()
        if self.reads_rules:
            turn.rule_files = await place.rule_files()
            for path, why in turn.rule_files:
                if why in NOT_READ and path not in self._unread:
                    self._unread.add(path)
                    self.show(Note(f"{visible_line(path)} was {why[1:-1]}.", "warning"))
            turn.skills = skills_of(await place.own_commands())
        for words in await self._tools.find(untrusted):
            self.show(Note(self._rules.scrub(words), "warning"))
        turn.model_info = await model.info(self.info.model)
        self._meter.begin_turn(turn.model_info)
        return Agent(
            model,
            self._meter,
            turn,
            self._talk,
            self.replay.asked,
            self._next_step,
            self._tools.registry,
            self.queue.delivery,
            self.show,
            self._take_answer_references,
        )

    def _take_answer_references(self) -> tuple[Reference, ...]:
        named, self._answer_references = self._answer_references, ()
        return named

    def _next_step(self) -> int:
        return self.replay.steps + 1

    async def _settle(self, agent: Agent) -> None:
        """Clean up after the last step: no draft waits, every call has a result."""
        await agent.cancel_calls()
        agent.turn.notebook.over = True
        for event in agent.stopped():
            self.show(event)
        self._context = agent.turn.context
        if agent.turn.unresponsive is not None:
            self._in_background(self._watch(agent.turn.unresponsive))
        await agent.turn.notebook.settled(SETTLE_TIME)

    async def _came_late(
        self, turn: int, scrub: Callable[[str], str], end: FinishRun, outputs: tuple[Output, ...]
    ) -> None:
        """Add outputs that came after the end of a run to its cell, and keep them for the model."""
        if self._closing or self.ledger.last_run(end.cell_id) != end.run_id:
            return
        # Code that nobody has reviewed can publish them in the name of a reviewed cell.
        new = [now for at, now in enumerate(outputs) if (now,) != end.outputs[at : at + 1]]
        trusted = end.trusted and await off_loop(lambda: is_passive(new), size(new), lambda: False)
        known, now = await off_loop(
            lambda: (late_text(end.outputs, scrub), late_text(outputs, scrub)),
            size(end.outputs) + size(outputs),
            lambda: ("", UNREADABLE),
        )
        kept = await self.store.keep_outputs(self.info.session_id, outputs)
        changed = {"outputs": outputs, "trusted": trusted, "kept": kept}
        try:
            with self.here():
                op = msgspec.structs.replace(end, **changed)
                self.workplace.document.apply_later(turn, op)
                await self.workplace.document.save()
        except (CommandError, StoreError, DocumentError) as error:
            log.info("Outputs after a run are not in %s: %s", end.cell_id, error)
            return
        if self.ledger.last_run(end.cell_id) != end.run_id:
            return  # The cell has run again meanwhile.
        before = self._late.pop(end.cell_id, None)
        known = before.known if before and before.run_id == end.run_id else known
        self._late[end.cell_id] = Late(end.run_id, known, now)
        if len(self._late) > MOST_LATE:
            del self._late[next(iter(self._late))]
        if self.running and self._turn is not None:
            self._turn.notebook.has_run(end.cell_id, outputs)

    async def _settle_journal(self) -> None:
        """Flush the turn's end to the disk, without making the next turn wait."""
        try:
            await self.store.settle(self.info.session_id)
            await self.store.tidy()
        except StoreError as error:
            log.warning("Could not tidy the journal: %s", error.message)
            # It may lack appends that a network drive has refused.
            self._deferred.do(partial(self.store.append_events, self.info.session_id, []))
            if self._unsaved and not self.running:
                self.show(Note(NOT_SAVED, "warning"))

    async def _watch(self, run: StoppedRun) -> None:
        """Notify the person if the kernel ignores the interrupt."""
        await asyncio.sleep(INTERRUPT_TIME)
        if not await run.has_stopped():
            self._show_unasked(Note(STUCK, "warning"))

    def cancel(self, window: int = 0) -> None:
        super().cancel(window)
        self._stop_looking()

    async def close(self) -> None:
        """Stop for good: the server is shutting down, or the session is deleted. An undo ends
        first, because it needs the lease and the journal."""
        self._closing = True
        await self.reviews.finish()
        self.cancel()
        for task in self._tasks:
            task.cancel()
        tasks = [task for task in (self._task, *self._tasks) if task is not None]
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
        try:
            self._deferred.catch_up()
        except StoreError as error:
            words = "Lost the end of the conversation %s: %s"
            log.error(words, self.info.session_id, error.message)
        self._lease.release()


async def _look_around(workplace: Workplace) -> Seen | None:
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
        found = await asyncio.wait_for(turn.variables(), LOOK_TIME)
        if found is not None:
            turn.context.knows(found, turn.untrusted.scrub)


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
    looked: asyncio.Future[Seen | None], workplace: Workplace, scrub: Callable[[str], str]
) -> Made:
    before, after = await asyncio.gather(looked, _look_around(workplace))
    # Ten thousand paths take milliseconds.
    return await asyncio.to_thread(made, before, after, scrub)
