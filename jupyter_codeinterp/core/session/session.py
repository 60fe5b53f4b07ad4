"""A live session: one conversation bound to one notebook.

It owns the turn (a task on the server; windows only watch), and carries out what people
say: send, stop, decide, answer, try again, undo. How it stands to the journal, and to
other servers, is in ``persistence.py``.
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
from ..commands import SessionInfo
from ..document.ops import Receipt
from ..errors import CommandError, StoreError
from ..events import (
    Cleared,
    Draft,
    MadeFile,
    Mode,
    ModeChanged,
    ModelChanged,
    Note,
    NotebookMoved,
    Reference,
    TitleChanged,
    TurnStarted,
)
from ..history.deferred_writes import TAKEN
from ..hooks.hooks import Hooks
from ..loop.agent import Agent
from ..messages import Text, user
from ..model_view.context import Context
from ..ports import Model
from ..stores import SessionStore
from ..tools.registry import ToolRegistry
from ..turn.ending import Ending, failure
from ..turn.files import Seen, made
from ..turn.limits import Limits, Rules
from ..turn.notebook import TurnNotebook
from ..turn.results import Results
from ..turn.turn import StoppedRun, Turn
from . import undo
from .enter import GOES_ON, Does, enter
from .persistence import NOT_SAVED, STOPPED_NOTE, Workplace
from .queue import QueueingSession
from .reviewed import ReviewedSession

OBEY_TIME = 5.0
"""Seconds that a kernel has to obey an interrupt before the person is told."""
MOST_WORKED = 20
"""Of the agent's cells a window is told of: so many of them can be deleted in a row."""
TITLE_LENGTH = 60
"""Characters of the title that a session gets from its first message."""
LONGEST_TITLE = 200
"""Characters of a title that a person has given."""
SETTLE_TIME = 0.15
"""Seconds that the end of a turn waits for receipts: Stop has one second in all."""
LOOK_TIME = 0.3
"""Seconds that the end of a turn waits for a look at the files; the same second of Stop's."""
_NOT_IN_A_LINE = ("Cc", "Cs", "Zl", "Zp")
"""Kinds of characters: controls (a line's end is one), surrogates, separators of lines."""
NO_LONGER = "What this was about no longer waits. Look at the conversation, and send it again."
STUCK = (
    "The kernel has not obeyed the interrupt. "
    "Restart it from the Kernel menu to stop the code; variables will be lost."
)

log = logging.getLogger(__name__)


class Session(QueueingSession, ReviewedSession):
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
    ) -> None:
        """``model`` gives the model for a name. ``changed`` is called when the session starts
        or stops running, when its title, model, mode or notebook changes, and when another
        server begins or ends to work on it. ``tools`` are those that the model is told of,
        ``hooks`` those that are asked before its code runs and told after it."""
        self.decisions = Decisions()
        self._model = model
        self._tools = tools
        self._hooks = hooks
        self._put_after = ""
        """After which cell the person wants new ones in this turn; "": where they belong."""
        self._named_aside: tuple[Reference, ...] = ()
        """What an answer or a rejection has named, and the model was not told of yet."""
        self._reads_rules = True
        """Whether the person wants their files of wishes read."""
        super().__init__(info, store, workplace, rules, lambda: changed(self))

    @property
    def waiting(self) -> bool:
        return self.decisions.waiting

    @property
    def turn(self) -> int:
        """The number of the latest turn; 0 before the first."""
        return self._replay.turns

    @property
    def worked(self) -> tuple[str, ...]:
        """Cells that the agent has inserted or run last, the latest last."""
        return tuple(self._ledger.touched[-MOST_WORKED:])

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
    ) -> tuple[Does, str]:
        """What the person says in a window: it begins a turn, or whatever ``enter.py`` says.
        What it did, and the title of the draft that it rejected. New cells of a turn that begins go
        after the cell ``after``; ``rule_files``: whether the person's files of wishes are read in
        it. Raises CommandError ``busy``,
        ``empty_message``, ``no_longer_waits``, ``too_many_queued`` or ``held_elsewhere``, and
        StoreError."""
        does = enter(self.running, self.decisions.asked, about)
        if does is None:
            raise CommandError("no_longer_waits", NO_LONGER)
        if not text.strip() and not (does == "begin" and self.queued):
            raise CommandError("empty_message", "The message is empty.")
        if does == "begin":
            self._begin(text, mode, model, window, references)
            self._put_after = after
            self._reads_rules = rule_files
        elif does == "queue":
            self._queue(text, window, references)
        elif does == "answer":
            self.decisions.answer(about, text)
            self._named_aside += references
        else:
            title = self.decisions.reject(about, text, source, window).title
            self._named_aside += references
            return does, title
        return does, ""

    def _begin(
        self, text: str, mode: Mode, model: str, window: int, references: tuple[Reference, ...]
    ) -> None:
        self._need_idle()
        with self._here():
            self._set(mode=modes.cap(mode, self._rules.highest_mode))
            if model and model != self.info.model:
                self._change_model(model, window)
            if not self.info.title:
                title = " ".join(text.split())
                title = title if len(title) <= TITLE_LENGTH else title[:59] + "…"
                self._publish(TitleChanged(title))
                self._set(title=title)
            self._start(self._with_queued(text), window, self._named_too(references))

    def retry(self, window: int = 0) -> None:
        """Go on after an error with the history as it is. Raises CommandError ``busy``,
        ``nothing_to_retry`` or ``held_elsewhere``, and StoreError."""
        self._need_idle()
        with self._here():
            if self._replay.ended is None or not self._replay.ended.retry:
                raise CommandError("nothing_to_retry", "There is nothing to try again.")
            self._start("", window, self._replay.unheard_references)

    def _start(self, text: str, window: int, references: tuple[Reference, ...] = ()) -> None:
        number, info = self._replay.turns + 1, self.info
        queued = tuple(message.number for message in self.queued) if text else ()
        given = (text, info.mode, info.model, window, queued, references)
        told = self._store.count_messages(info.session_id)
        self._publish(TurnStarted(number, *given, told))
        self._may_cancel = True
        self._goes_on = False
        self._begun = False
        self._halted = None
        self._put_after = ""
        self._named_aside = ()
        self._task = asyncio.get_running_loop().create_task(self._run(text, references))
        self._task.add_done_callback(lambda _: self._ended())
        self._set()

    def _ended(self) -> None:
        """The turn's task is done."""
        if self._deferred.given_up == TAKEN:
            self.look_again()
        self._set()
        if self._unsaved:
            if not self._told:
                self._show(Note(NOT_SAVED, "warning"))
            self._save_later()
        self._begin_queued()
        self._let_go()

    async def _run(self, text: str, references: tuple[Reference, ...]) -> None:
        """One turn from its first event to its last. Whatever happens, it has a last one."""
        agent: Agent | None = None
        cleared: list[Cleared] = []
        self._begun = True
        self.workplace.begin_turn(self._replay.turns)
        try:
            if not self._may_cancel:
                raise asyncio.CancelledError  # Stopped already.
            agent = await self._agent()
            async for event in agent.run(text, self._note, references):
                self._show(event)
            ending = agent.ending
            if ending.reason == "end_turn":
                await undo.clear_failed(agent.turn, cleared)
        except asyncio.CancelledError:
            ending = Ending("cancelled", "cancelled", "Stopped.")
        except Exception as error:
            ending = failure(error)
        self._may_cancel = False
        if self._halted is not None:
            ending = self._halted
        self._goes_on = self._goes_on or GOES_ON[ending.reason]
        if self._halted is not None:
            # The turn may have come to an end before it was cancelled.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        if agent is not None:
            await self._settle(agent)
        self._keep_unheard()
        self._note = STOPPED_NOTE if ending.reason == "cancelled" else ""
        self._told = self._halted is not None
        files = await self._made(agent.turn) if agent is not None else ((), 0)
        self._show_end(self._halted or ending, cleared, files)
        self.workplace.end_turn()
        self._in_background(self._put_away())

    async def _agent(self) -> Agent:
        """Look at the notebook and make what this turn works with."""
        model = self._model(self.info.model)
        place = self.workplace
        before = asyncio.ensure_future(self._look_around())
        number, session_id, foreign = self._replay.turns, self.info.session_id, self._talk.foreign
        fails = self._journal_failed
        turn = self._turn = Turn(
            number=number,
            since=self._replay.since,
            session_id=session_id,
            model=self.info.model,
            mode=self.info.mode,
            always_ask=model.always_ask,
            notebook=TurnNotebook(
                number, place.document, self._ledger, self._private, fails, self._put_after
            ),
            kernel=place.kernel,
            store=self._store,
            decisions=self.decisions,
            ledger=self._ledger,
            context=self._context,
            foreign=foreign,
            results=Results(
                session_id, self._store, foreign, fails, self._talk.images, self._talk.shown
            ),
            private=self._private,
            hooks=self._hooks,
            limits=self._rules.limits,
            markdown_risks=self._rules.markdown_risks,
            may_run_all=modes.may_run_all(self._rules.highest_mode),
            before=before,
        )
        await undo.remove_left_drafts(turn, await turn.notebook.look())
        turn.files = await place.files()
        turn.look_for_files, turn.read_file = place.files, place.read_file
        turn.rule_files = await place.rule_files() if self._reads_rules else []
        turn.model_info = await model.info(self.info.model)
        self._meter.begin_turn(turn.model_info)
        asked = self._replay.asked
        talk, step, queued = self._talk, self._next_step, self._hear_queued
        return Agent(
            model, self._meter, turn, talk, asked, step, self._tools, queued, self._hear_aside
        )

    def _hear_aside(self) -> tuple[Reference, ...]:
        named, self._named_aside = self._named_aside, ()
        return named

    def _next_step(self) -> int:
        return self._replay.steps + 1

    async def _settle(self, agent: Agent) -> None:
        """After the last step, however it came: no draft waits, every call has a result."""
        agent.turn.notebook.over = True
        for event in agent.stopped():
            self._show(event)
        self._context = agent.turn.context
        if agent.turn.disobeying is not None:
            self._in_background(self._watch(agent.turn.disobeying))
        await agent.turn.notebook.settled(SETTLE_TIME)

    async def _look_around(self) -> Seen | None:
        try:
            return await self.workplace.look_around()
        except Exception:
            log.warning("The files of a turn are not looked at", exc_info=True)
            return None

    async def _made(self, turn: Turn) -> tuple[tuple[MadeFile, ...], int]:
        """The files that the turn has made or changed, if it has run anything."""
        if turn.before is None or not turn.notebook.worked:
            return (), 0
        try:
            return await asyncio.wait_for(self._compared(turn.before, turn.scrub), LOOK_TIME)
        except asyncio.TimeoutError:
            return (), 0

    async def _compared(
        self, looked: asyncio.Future[Seen | None], scrub: Callable[[str], str]
    ) -> tuple[tuple[MadeFile, ...], int]:
        before, after = await asyncio.gather(looked, self._look_around())
        # Ten thousand paths take milliseconds.
        return await asyncio.to_thread(made, before, after, scrub)

    async def _put_away(self) -> None:
        """The turn's end is on the disk. The next turn need not wait for that."""
        try:
            await self._store.settle()
            await self._store.tidy()
        except StoreError as error:
            # It is in the journal; what was to be done is done after the next turn.
            log.warning("The journal could not be put in order: %s", error.message)

    async def _watch(self, run: StoppedRun) -> None:
        """Tell the person if the kernel does not obey the interrupt."""
        await asyncio.sleep(OBEY_TIME)
        if not await run.has_obeyed():
            self._say(Note(STUCK, "warning"))

    # --- while it runs ---------------------------------------------------------------

    async def close(self) -> None:
        """Stop for good: the server is shutting down."""
        self._closing = True
        self.cancel()
        for task in self._tasks:
            task.cancel()
        tasks = [task for task in (self._task, *self._tasks) if task is not None]
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
        try:
            self._deferred.catch_up()
        except StoreError as error:
            words = "The end of the conversation %s is lost: %s"
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
    ) -> Draft:
        """``window`` is who decides. The draft; CommandError as in ``Decisions.decide``."""
        allowed = run_all and modes.may_run_all(self._rules.highest_mode)
        return self.decisions.decide(draft_id, nonce, action, source, allowed, window, said)

    def set_mode(self, mode: Mode, window: int = 0) -> bool:
        """From the next decision on, also in a running turn. Whether it was another."""
        mode = modes.cap(mode, self._rules.highest_mode)
        other = mode != self.info.mode
        if self._turn is not None and self.running:
            other = other or mode != self._turn.mode
            self._turn.set_mode(mode)
        if mode != self.info.mode:
            with self._here():
                self._set(mode=mode)
                self._show(ModeChanged(mode, window))
        return other

    def set_model(self, model: str, window: int = 0) -> bool:
        """The session goes on with another model, in a new conversation with a summary.
        Whether it was another."""
        self._need_idle()
        other = model != self.info.model
        if other:
            with self._here():
                self._change_model(model, window)
        return other

    def _change_model(self, model: str, window: int) -> None:
        self._publish(ModelChanged(model, window))
        self._set(model=model)
        if not self._talk.empty:
            self._talk.restart(user(Text(self._rules.scrub(self._talk.summary()))))
            self._context = Context()
            self._meter.new_conversation()
            self._show(Note(f"Goes on with {model} and a summary of the conversation."))

    def set_limits(self, limits: Limits) -> None:
        """Of the turns from now on."""
        self._rules = msgspec.structs.replace(self._rules, limits=limits)

    # --- afterwards ------------------------------------------------------------------

    def rename(self, title: str) -> None:
        """Also while a turn runs. Raises CommandError ``bad_title``."""
        title = self._rules.scrub(title.strip())
        if not title:
            raise CommandError("bad_title", "The title is empty.")
        if len(title) > LONGEST_TITLE:
            words = f"The title is longer than {LONGEST_TITLE} characters."
            raise CommandError("bad_title", words)
        if any(unicodedata.category(character) in _NOT_IN_A_LINE for character in title):
            raise CommandError("bad_title", "The title must be one line of text.")
        if title != self.info.title:
            # In lists it stays where it is: nothing was said.
            with self._here():
                self._set(title=title, changed=self.info.changed)
                self._show(TitleChanged(title))

    def confirmed_late(self, seq: int, receipt: Receipt) -> None:
        """An op that had been given up as pending has been done, or refused, after all."""
        for stored in self._store.ops(self.info.session_id, seq - 1)[:1]:
            self._ledger.record(stored.turn, stored.op, receipt, stored.seq)

    def note(self, words: str, level: Literal["info", "warning"] = "info") -> None:
        """A line in the conversation."""
        self._say(Note(words, level))

    def moved(self, notebook: str) -> None:
        self.info = msgspec.structs.replace(self.info, notebook=notebook)
        self._say(NotebookMoved(notebook))
        self._changed()
