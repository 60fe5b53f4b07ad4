"""A live session: one conversation bound to one notebook.

It owns the turn (a task on the server; windows only watch) and carries out commands.
``persistence.py`` handles the journal and other servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import unicodedata
from collections.abc import Callable
from typing import Literal

import msgspec

from ..approval import modes
from ..approval.decisions import Decisions
from ..checks.checks import Checks
from ..commands import SessionInfo
from ..errors import CommandError, StoreError
from ..events import (
    Cleared,
    Draft,
    FindingSilenced,
    MadeFile,
    Mode,
    ModeChanged,
    ModelChanged,
    Note,
    NotebookMoved,
    Reference,
    TitleChanged,
    TriesDrafts,
    TurnStarted,
)
from ..history.deferred_writes import TAKEN
from ..hooks.hooks import Hooks
from ..labels import Rule
from ..loop.agent import Agent
from ..loop.second_look import SecondLook
from ..messages import Text, user
from ..model_view.context import Context
from ..own_commands.own_command import skills_of
from ..ports import Model
from ..redaction.pasted_keys import without_keys
from ..redaction.secrets import REMOVED
from ..rehearsal.rehearsals import Rehearsals
from ..stores import SessionStore
from ..tools.outside.tool import tools_of
from ..tools.registry import ToolRegistry
from ..turn.ending import Ending, failure
from ..turn.files import NOTHING_WAITS, Seen, made
from ..turn.limits import Limits, Rules
from ..turn.notebook import TurnNotebook
from ..turn.results import Results
from ..turn.turn import StoppedRun, Turn
from ..visible import visible_line
from . import undo
from .input_routing import GOES_ON, Does, route
from .persistence import NOT_SAVED, STOPPED_NOTE, PersistentSession, Workplace
from .queue import Queue
from .reviews import Reviews
from .standing_rules import StandingRules
from .title import from_answer, from_question
from .waiting_files import WaitingFiles

INTERRUPT_TIME = 5.0
"""Seconds after an interrupt until the person learns that the kernel goes on."""
MOST_WORKED = 20
"""Cells of the agent that a window learns of. The person may delete as many in a row."""
GOES_ON_FROM = (
    "[The conversation above was in the notebook {notebook}. Now you are in a new notebook in the "
    "same folder, with a kernel of its own: its variables and cells are not here.]"
)
LONGEST_TITLE = 200
"""Characters of a person's title."""
SETTLE_TIME = 0.15
"""Seconds that the end of a turn waits for receipts; Stop has one second in all."""
LOOK_TIME = 0.3
"""Seconds that the end of a turn waits for the file scan, within the same second."""
_NOT_IN_A_LINE = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories: controls (line ends included), surrogates, line separators."""
NO_LONGER = (
    "The cell or question that you answered is no longer open. Check the conversation and send "
    "again."
)
STUCK = (
    "The kernel did not react to the interrupt. To stop the code, restart the kernel from the "
    "Kernel menu; variables will be lost."
)

log = logging.getLogger(__name__)


class Session(PersistentSession):
    def __init__(
        self,
        info: SessionInfo,
        store: SessionStore,
        model: Callable[[str], Model],
        workplace: Workplace,
        rules: Rules,
        changed: Callable[[Session], None],
        tools: ToolRegistry,
        hooks: Hooks,
        checks: Checks,
        waits: Callable[[Session], None] = lambda session: None,
    ) -> None:
        """The session calls ``changed`` when it starts or stops running, when its title, model,
        mode or notebook changes, and when another server begins or stops working on it. It calls
        ``waits`` when it begins or stops waiting for a person."""
        self.decisions = Decisions(lambda: waits(self))
        self._model = model
        self._own_tools = self._tools = tools
        self._has_all_tools = False
        """Whether ``_tools`` has those of MCP servers, too: from the first turn on, unless a fault
        hides some."""
        self._said_of_tools: set[str] = set()
        self._hooks = hooks
        self._checks = checks
        self._put_after = ""
        """New cells of this turn go after this one; "" for the default place."""
        self._answer_references: tuple[Reference, ...] = ()
        """What answers have named, not yet sent to the model."""
        self.reads_rules = True
        """Whether turns read the person's instruction files."""
        self.second_look = ""
        """The model that the person wants to look at answers with figures."""
        self._closing = False
        super().__init__(info, store, workplace, rules, lambda: changed(self))
        self.queue = Queue(self)
        self.waiting_files = WaitingFiles(self, rules.scrub)
        self.reviews = Reviews(self, self.waiting_files)
        allowed = rules.allow_rules and modes.may_run_all(rules.highest_mode)
        self.standing_rules = StandingRules(self, self.decisions, allowed=allowed)
        self.rehearsals = Rehearsals(
            self.decisions,
            lambda: self.workplace.kernel,
            self.show,
            self._in_background,
            rules.scrub,
            allowed=rules.rehearsals,
        )

    @property
    def waiting(self) -> bool:
        return self.decisions.waiting

    @property
    def stop_reason(self) -> str:
        """Why the latest turn ended; "" while one runs, and before the first."""
        ended = self.replay.ended
        return ended.stop_reason if ended is not None and not self.running else ""

    @property
    def turn(self) -> int:
        """The number of the latest turn; 0 before the first."""
        return self.replay.turns

    @property
    def worked(self) -> tuple[str, ...]:
        """Cells that the agent inserted, the latest last."""
        return tuple(self.ledger.added[-MOST_WORKED:])

    # --- a turn ----------------------------------------------------------------------

    def send(
        self,
        text: str,
        mode: Mode,
        model: str,
        window: int = 0,
        about: str = "",
        source: str | None = None,
        after: str = "",
        references: tuple[Reference, ...] = (),
        rule_files: bool = True,
        second_look: str = "",
        try_drafts: tuple[TriesDrafts, ...] = (),
    ) -> Does:
        """Route a message by ``input_routing.py``. Returns where it went. ``source`` is that of
        the cell of the draft that it is about. ``after``, ``rule_files``, ``second_look`` and
        ``try_drafts`` apply to a turn that begins.

        Raises CommandError ``busy``, ``empty_message``, ``no_longer_waits``,
        ``too_many_queued`` or ``held_elsewhere``, and StoreError."""
        does = self.would(text, about)
        if does == "begin":
            self._begin(text, mode, model, window, references)
            self._put_after = after
            self.reads_rules = rule_files
            self.second_look = second_look
            self.rehearsals.wanted = try_drafts
        elif does == "queue":
            self.queue.add(text, window, references)
        elif does == "answer":
            self.decisions.answer(about, text, window)
            self._answer_references += references
        else:
            self.queue.add(text, window, references)
            self.decisions.discuss(source)
        return does

    def would(self, text: str, about: str) -> Does:
        """Where ``send`` would put it. Raises CommandError ``empty_message`` or
        ``no_longer_waits``."""
        does = route(self.running, self.decisions.asked, about)
        if does is None:
            raise CommandError("no_longer_waits", NO_LONGER)
        if not text.strip() and not (does == "begin" and self.queue.messages):
            raise CommandError("empty_message", "The message is empty.")
        return does

    def _begin(
        self, text: str, mode: Mode, model: str, window: int, references: tuple[Reference, ...]
    ) -> None:
        self.need_idle()
        with self.here():
            self._set(mode=modes.cap(mode, self._rules.highest_mode))
            if model and model != self.info.model:
                self._change_model(model, window)
            if not self.info.title:
                title = from_question(without_keys(text))
                self.publish(TitleChanged(title, window, "question"))
                self._set(title=title)
            self._start(self.queue.with_text(text), window, self.queue.with_references(references))

    def retry(self, window: int = 0) -> None:
        """Continue after an error with the same history. Raises CommandError ``busy``,
        ``nothing_to_retry`` or ``held_elsewhere``, and StoreError."""
        self.need_idle()
        with self.here():
            self.need_retry()
            self._start("", window, self.replay.undelivered_references)

    def need_retry(self) -> None:
        """Raises CommandError ``busy`` or ``nothing_to_retry``."""
        self.need_idle()
        if self.replay.ended is None or not self.replay.ended.retry:
            raise CommandError("nothing_to_retry", "Nothing to retry.")

    def _start(self, text: str, window: int, references: tuple[Reference, ...] = ()) -> None:
        number, info = self.replay.turns + 1, self.info
        queued = tuple(message.number for message in self.queue.messages) if text else ()
        given = (text, info.mode, info.model, window, queued, references)
        told = self.store.count_messages(info.session_id)
        self.publish(TurnStarted(number, *given, told))
        self.may_cancel = True
        self._stopped_by = 0
        self.queue.goes_on = False
        self._begun = False
        self._halted = None
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
        """Run one turn. Whatever happens, it publishes a ``TurnEnded``."""
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
        self._note = STOPPED_NOTE if ending.reason == "cancelled" else ""
        self._end_explains = self._halted is not None
        files = await self._made(agent.turn) if agent is not None else ((), 0)
        waiting = NOTHING_WAITS
        if agent is not None:
            waiting = await self.waiting_files.end_turn(self.replay.turns)
        ending = self._halted or ending
        if ending.reason == "end_turn":
            self._name_by_answer()
        copied = agent is not None and agent.turn.copied
        self._show_end(ending, cleared, files, waiting, copied)
        self.workplace.end_turn()
        self._in_background(self._settle_journal())

    def _name_by_answer(self) -> None:
        """After the first answer, unless a person gave the name. The name of a branch shows how
        its question differs."""
        replay = self.replay
        if replay.answered or replay.titled_by != "question" or self.info.branches:
            return
        found = from_answer("\n".join(replay.said_last), replay.cells)
        title = visible_line(without_keys(self._rules.scrub(found)))
        if title and REMOVED not in title and title != self.info.title:
            self.show(TitleChanged(title, by="answer"))
            self._set(title=title)

    async def _agent(self) -> Agent:
        """Read the notebook and build the turn's agent."""
        model = self._model(self.info.model)
        place = self.workplace
        before = asyncio.ensure_future(self._look_around())
        # Beside the first request to the model.
        files_kept = asyncio.ensure_future(self.waiting_files.begin_turn(self.replay.turns))
        number, untrusted = self.replay.turns, self._talk.untrusted
        turn = self._turn = Turn(
            number=number,
            since=self.replay.since,
            session_id=self.info.session_id,
            model=self.info.model,
            mode=self.info.mode,
            always_ask=model.always_ask,
            notebook=TurnNotebook(
                number,
                place.document,
                self.ledger,
                self._private,
                self._journal_failed,
                self._put_after,
            ),
            kernel=place.kernel,
            store=self.store,
            decisions=self.decisions,
            ledger=self.ledger,
            context=self._context,
            untrusted=untrusted,
            results=Results(untrusted, self._talk.images, self._talk.shown),
            private=self._private,
            held=self._held,
            hooks=self._hooks,
            checks=self._checks,
            asked=self.replay.asked,
            limits=self._rules.limits,
            markdown_risks=self._rules.markdown_risks,
            may_run_all=modes.may_run_all(self._rules.highest_mode),
            auto_needs_sandbox=self._rules.auto_needs_sandbox,
            cautions=self._talk.cautions,
            rules=self._person_rules if self.standing_rules.allowed else None,
            rehearsals=self.rehearsals,
            before=before,
            files_kept=files_kept,
            new_notebooks=place.new_notebooks,
            fresh_runs=place.fresh_runs,
            watch=place.watch,
        )
        await undo.remove_left_drafts(turn, await turn.notebook.look())
        turn.files = await place.files()
        turn.look_for_files, turn.read_file = place.files, place.read_file
        turn.look_for_commands = place.own_commands
        if self.reads_rules:
            turn.rule_files = await place.rule_files()
            turn.skills = skills_of(await place.own_commands())
        await self._add_outside_tools()
        turn.model_info = await model.info(self.info.model)
        self._meter.begin_turn(turn.model_info)
        return Agent(
            model,
            self._meter,
            turn,
            self._talk,
            self.replay.asked,
            self._next_step,
            self._tools,
            self.queue.delivery,
            self.show,
            self._take_answer_references,
            lambda: self._second_look(turn),
        )

    async def _add_outside_tools(self) -> None:
        """Once they are complete, tools stay the same within a conversation, because models cache
        them."""
        if self._has_all_tools:
            return
        found = await self.workplace.outside_tools()
        if found is not None:
            tools, faults = tools_of(found[0], self._talk.untrusted)
            self._tools = self._own_tools.with_outside(tools)
            for words in (*found[1], *faults):
                if words not in self._said_of_tools:
                    self.show(Note(self._rules.scrub(words), "warning"))
                    self._said_of_tools.add(words)
        self._has_all_tools = found is None or found[0].complete

    def _person_rules(self) -> tuple[Rule, ...]:
        return self.standing_rules.all

    def _second_look(self, turn: Turn) -> SecondLook | None:
        """Raises ModelError if the model for it is not available."""
        name = self.second_look or self._rules.second_look
        return SecondLook(self._model(name), name, turn, self._meter) if name else None

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

    async def _look_around(self) -> Seen | None:
        try:
            return await self.workplace.look_around()
        except Exception:
            log.warning("Could not scan the files of a turn", exc_info=True)
            return None

    async def _made(self, turn: Turn) -> tuple[tuple[MadeFile, ...], int]:
        """The files that the turn made or changed, if it ran anything."""
        if turn.before is None or not turn.notebook.worked:
            return (), 0
        try:
            compared = self._compared(turn.before, turn.scrub)
            files, left_out = await asyncio.wait_for(compared, LOOK_TIME)
        except asyncio.TimeoutError:
            return (), 0
        return tuple(file for file in files if file.path != turn.went_on), left_out

    async def _compared(
        self, looked: asyncio.Future[Seen | None], scrub: Callable[[str], str]
    ) -> tuple[tuple[MadeFile, ...], int]:
        before, after = await asyncio.gather(looked, self._look_around())
        # Ten thousand paths take milliseconds.
        return await asyncio.to_thread(made, before, after, scrub)

    async def _settle_journal(self) -> None:
        """Flush the turn's end to the disk; the next turn need not wait."""
        try:
            await self.store.settle()
            await self.store.tidy()
        except StoreError as error:
            # The journal has the turn. The next turn's end tries this again.
            log.warning("Could not tidy the journal: %s", error.message)

    async def _watch(self, run: StoppedRun) -> None:
        """Notify the person if the kernel ignores the interrupt."""
        await asyncio.sleep(INTERRUPT_TIME)
        if not await run.has_stopped():
            self._show_unasked(Note(STUCK, "warning"))

    # --- while it runs ---------------------------------------------------------------

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

    def decide(
        self,
        draft_id: str,
        nonce: str,
        action: Literal["run", "reject"],
        source: str,
        run_all: bool,
        window: int = 0,
        said: str = "",
        person: str = "",
    ) -> Draft:
        """The decided draft. Raises as ``Decisions.decide``."""
        allowed = run_all and modes.may_run_all(self._rules.highest_mode)
        return self.decisions.decide(draft_id, nonce, action, source, allowed, window, said, person)

    def set_mode(self, mode: Mode, window: int = 0) -> bool:
        """Set the mode from the next decision on, also in a running turn. Returns whether it
        changed."""
        mode = modes.cap(mode, self._rules.highest_mode)
        other = mode != self.info.mode
        if self._turn is not None and self.running:
            other = other or mode != self._turn.mode
            self._turn.set_mode(mode)
        if mode != self.info.mode:
            with self.here():
                self._set(mode=mode)
                self.show(ModeChanged(mode, window))
        return other

    def set_model(self, model: str, window: int = 0) -> bool:
        """Continue with this model, in a new conversation with a summary. Returns whether it
        changed."""
        self.need_idle()
        other = model != self.info.model
        if other:
            with self.here():
                self._change_model(model, window)
        return other

    def _change_model(self, model: str, window: int) -> None:
        self.publish(ModelChanged(model, window))
        self._set(model=model)
        if not self._talk.empty:
            self._talk.restart(user(Text(self._rules.scrub(self._talk.summary()))))
            self._context = Context()
            self._meter.new_conversation()
            self.show(Note(f"Continuing with {model} and a summary of the conversation."))

    def continue_from(self, other: Session) -> None:
        """Begin with a summary of a conversation about another notebook."""
        name = visible_line(other.info.notebook)
        told = GOES_ON_FROM.format(notebook=other._talk.untrusted.inert(name))
        self._talk.continue_from(other._talk, told)
        self._set(goes_on_from=other.info.session_id)
        self.note(f"Goes on from {name.rpartition('/')[2]}.")

    def set_limits(self, limits: Limits) -> None:
        """Applies from the next turn on."""
        self._rules = msgspec.structs.replace(self._rules, limits=limits)

    # --- afterwards ------------------------------------------------------------------

    def rename(self, title: str, window: int = 0) -> None:
        """Works while a turn runs. Raises CommandError ``bad_title``."""
        title = self._rules.scrub(title.strip())
        if not title:
            raise CommandError("bad_title", "The title is empty.")
        if len(title) > LONGEST_TITLE:
            words = f"The title is longer than {LONGEST_TITLE} characters."
            raise CommandError("bad_title", words)
        if any(unicodedata.category(character) in _NOT_IN_A_LINE for character in title):
            raise CommandError("bad_title", "The title must be one line of text.")
        if title != self.info.title:
            # Keep ``changed``, so that the session keeps its place in lists.
            with self.here():
                self._set(title=title, changed=self.info.changed)
                self.show(TitleChanged(title, window))

    def silence(self, key: str, silenced: bool, window: int = 0) -> str:
        """Keep findings with this key from now on, or no more. Works while a turn runs. Returns
        the check's name. Raises CommandError ``unknown_finding``."""
        check = self.replay.findings.get(key)
        if check is None:
            raise CommandError("unknown_finding", "This conversation has no such finding.")
        with self.here():
            self.store.set_silenced(self.workplace.document.path, key, silenced)
            self.show(FindingSilenced(key, silenced, window))
        return check

    def confirmed_late(self, seq: int) -> None:
        """Record an op whose receipt came after the turn had stopped waiting."""
        for stored in self.store.ops(self.info.session_id, seq - 1)[:1]:
            self.ledger.take(stored)

    def note(self, words: str, level: Literal["info", "warning"] = "info") -> None:
        self._show_unasked(Note(words, level))

    def moved(self, notebook: str) -> None:
        self.info = msgspec.structs.replace(self.info, notebook=notebook)
        self._show_unasked(NotebookMoved(notebook))
        self._changed()
