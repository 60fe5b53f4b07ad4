"""A live session: one conversation bound to one notebook.

It owns the turn (a task on the server; windows only watch), and carries out what people
say: send, stop, decide, answer, try again, undo.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import unicodedata
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Literal, Protocol

import msgspec

from . import policy, putting_back
from .agent import Agent
from .commands import SessionInfo
from .context import Context
from .conversation import Conversation
from .decisions import Decisions
from .ending import Ending, failure
from .errors import CommandError
from .events import (
    Event,
    Mode,
    ModeChanged,
    ModelChanged,
    Note,
    NotebookMoved,
    TitleChanged,
    TurnEnded,
    TurnStarted,
)
from .execution import Execution
from .feed import Feed
from .ledger import Ledger
from .messages import Text, user
from .meter import Meter
from .past import Past
from .ports import Document, Kernel, Model, SessionStore
from .turn import Limits, Turn

OBEY_TIME = 5.0
"""Seconds that a kernel has to obey an interrupt before the person is told."""
TITLE_LENGTH = 60
"""Characters of the title that a session gets from its first message."""
LONGEST_TITLE = 200
"""Characters of a title that a person has given."""
SETTLE_TIME = 0.15
"""Seconds that the end of a turn waits for receipts: Stop has one second in all."""
STOPPED_NOTE = "[The person stopped the previous turn.]"
_NOT_IN_A_LINE = ("Cc", "Cs", "Zl", "Zp")
"""Kinds of characters: controls (a line's end is one), surrogates, separators of lines."""
STUCK = (
    "The kernel has not obeyed the interrupt. "
    "Restart it from the Kernel menu to stop the code; variables will be lost."
)


class Workplace(Protocol):
    """The notebook that a session works on, and what belongs to it."""

    @property
    def document(self) -> Document: ...

    @property
    def kernel(self) -> Kernel: ...

    def begin_turn(self, turn: int) -> None:
        """Ops from now on belong to this turn: a window that reloads gets them again."""

    def end_turn(self) -> None: ...

    async def files(self) -> list[tuple[str, int]]:
        """Names and sizes (bytes) of the files beside the notebook."""


class Rules(msgspec.Struct, frozen=True):
    """What an admin has set, and what every session shares."""

    limits: Limits = Limits()
    highest_mode: Mode = "auto"
    scrub: Callable[[str], str] = str
    scale: Callable[[bytes, str], bytes | None] | None = None


class Session:
    def __init__(
        self,
        info: SessionInfo,
        store: SessionStore,
        model: Callable[[str], Model],
        workplace: Workplace,
        rules: Rules,
        changed: Callable[[Session], None],
    ) -> None:
        """``model`` gives the model for a name. ``changed`` is called when the session starts
        or stops running, or its title, model, mode or notebook changes."""
        self.info = msgspec.structs.replace(info, running=False)
        self.decisions = Decisions()
        self.workplace = workplace
        self._store = store
        self._model = model
        self._rules = rules
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._turn: Turn | None = None
        self._may_cancel = False
        self._putting_back = False
        self._later: set[asyncio.Task[None]] = set()
        # What the model was told of the notebook is not kept: it is told anew.
        self._context = Context()
        self._talk = Conversation(store, info.session_id)
        self._ledger = Ledger(store.ops(info.session_id))
        self._past = Past()
        self._take_up(store.events(info.session_id))

    def _take_up(self, events: list[tuple[int, Event]]) -> None:
        """Go on from what the journal says; a turn that has no end gets one."""
        past = self._past
        for _, event in events:
            past.add(event)
        self.feed = Feed(self._store, self.info.session_id, events[-1][0] if events else 0)
        self._meter = Meter(past.usage)
        self._note = past.lost
        """What the model must know of the turn before."""
        if past.unfinished:
            self._keep_unheard()
            for event in past.ends():
                self._publish(event)
            words = "The server stopped while this was going on. Variables may be gone."
            self._publish_end(Ending("error", "server_stopped", words))
        elif past.ended is not None and past.ended.stop_reason == "cancelled":
            self._note = STOPPED_NOTE

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def waiting(self) -> bool:
        return self.decisions.waiting

    def _publish(self, event: Event) -> None:
        self.feed.publish(event)
        self._past.add(event)

    # --- a turn ----------------------------------------------------------------------

    def send(self, text: str, mode: Mode, model: str) -> None:
        """Start a turn. Raises CommandError ``busy`` or ``empty_message``."""
        if not text.strip():
            raise CommandError("empty_message", "The message is empty.")
        self._need_idle()
        self._set(mode=policy.cap(mode, self._rules.highest_mode))
        if model and model != self.info.model:
            self.set_model(model)
        if not self.info.title:
            title = " ".join(text.split())
            self._set(title=title if len(title) <= TITLE_LENGTH else title[:59] + "…")
            self._publish(TitleChanged(self.info.title))
        self._start(text)

    def retry(self) -> None:
        """Go on after an error with the history as it is. Raises CommandError ``busy`` or
        ``nothing_to_retry``."""
        self._need_idle()
        if self._past.ended is None or not self._past.ended.retry:
            raise CommandError("nothing_to_retry", "There is nothing to try again.")
        self._start("")

    def _need_idle(self) -> None:
        if self.running:
            raise CommandError("busy", "A turn is running. Stop it first, or wait.")
        if self._putting_back:
            raise CommandError("busy", "Cells are being put back. Wait a moment.")

    def _start(self, text: str) -> None:
        number = self._past.turns + 1
        self._publish(TurnStarted(number, text, self.info.mode, self.info.model))
        self._may_cancel = True
        self._task = asyncio.get_running_loop().create_task(self._run(text))
        self._task.add_done_callback(lambda _: self._set())
        self._set()

    async def _run(self, text: str) -> None:
        """One turn from its first event to its last. Whatever happens, it has a last one."""
        agent: Agent | None = None
        self.workplace.begin_turn(self._past.turns)
        try:
            agent = await self._agent()
            async for event in agent.run(text, self._note):
                self._publish(event)
            ending = agent.ending
            if ending.reason == "end_turn":
                await putting_back.clear_failed(agent.turn)
        except asyncio.CancelledError:
            ending = Ending("cancelled", "cancelled", "Stopped.")
        except Exception as error:
            ending = failure(error)
        self._may_cancel = False
        if agent is not None:
            await self._settle(agent)
        self._keep_unheard()
        self._note = STOPPED_NOTE if ending.reason == "cancelled" else ""
        self._publish_end(ending)
        self.workplace.end_turn()
        self._in_background(self._put_away())

    async def _agent(self) -> Agent:
        """Look at the notebook and make what this turn works with."""
        model = self._model(self.info.model)
        place = self.workplace
        turn = self._turn = Turn(
            number=self._past.turns,
            since=self._past.since,
            session_id=self.info.session_id,
            model=self.info.model,
            mode=self.info.mode,
            always_ask=model.always_ask,
            document=place.document,
            kernel=place.kernel,
            store=self._store,
            decisions=self.decisions,
            ledger=self._ledger,
            context=self._context,
            limits=self._rules.limits,
            scrub=self._rules.scrub,
            scale=self._rules.scale,
            images=self._talk.images,
            may_run_all=self._rules.highest_mode == "auto",
        )
        await putting_back.remove_left_drafts(turn, await turn.look())
        turn.files = await place.files()
        self._meter.begin_turn(await model.info(self.info.model))
        return Agent(model, self._meter, turn, self._talk, self._past.asked, self._next_step)

    def _next_step(self) -> int:
        return self._past.steps + 1

    async def _settle(self, agent: Agent) -> None:
        """After the last step, however it came: no draft waits, every call has a result."""
        for event in agent.stopped():
            self._publish(event)
        self._context = agent.turn.context
        if agent.turn.disobeying is not None:
            self._in_background(self._watch(agent.turn.disobeying))
        await agent.turn.settled(SETTLE_TIME)

    def _keep_unheard(self) -> None:
        """A message that did not get as far as the model is part of the conversation too."""
        words = self._rules.scrub(self._past.asked)
        if self._past.unheard and not self._talk.ends_with(words):
            self._talk.add(user(Text(words)))
        self._past.unheard = False

    def _publish_end(self, ending: Ending) -> None:
        turn = self._past.turns
        changes = self._ledger.changes(turn)
        self._publish(
            TurnEnded(
                turn=turn,
                stop_reason=ending.reason,
                code=ending.code,
                message=ending.message,
                added=changes.added,
                edited=changes.edited,
                removed=changes.removed,
                failed=tuple(self._ledger.failed_since(turn)),
                retry=ending.retry,
            )
        )

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def _put_away(self) -> None:
        """The turn's end is on the disk. The next turn need not wait for that."""
        await self._store.settle()
        await self._store.tidy()

    async def _watch(self, execution: Execution) -> None:
        """Tell the person if the kernel does not obey the interrupt."""
        await asyncio.sleep(OBEY_TIME)
        if not await execution.has_obeyed():
            self._publish(Note(STUCK, "warning"))

    # --- while it runs ---------------------------------------------------------------

    def cancel(self) -> None:
        """Stop the turn; nothing happens if none is running, or if it is stopping already."""
        if self._task is not None and self._may_cancel:
            self._may_cancel = False
            self._task.cancel()

    async def close(self) -> None:
        """Stop for good: the server is shutting down."""
        self.cancel()
        for task in self._later:
            task.cancel()
        tasks = [task for task in (self._task, *self._later) if task is not None]
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)

    def decide(
        self,
        draft_id: str,
        nonce: str,
        action: Literal["run", "reject"],
        source: str,
        run_all: bool,
    ) -> None:
        allowed = run_all and self._rules.highest_mode == "auto"
        self.decisions.decide(draft_id, nonce, action, source, allowed)

    def set_mode(self, mode: Mode) -> None:
        """From the next decision on, also in a running turn."""
        mode = policy.cap(mode, self._rules.highest_mode)
        if self._turn is not None and self.running:
            self._turn.mode = mode
        if mode != self.info.mode:
            self._set(mode=mode)
            self._publish(ModeChanged(mode))

    def set_model(self, model: str) -> None:
        """The session goes on with another model, in a new conversation with a summary."""
        self._need_idle()
        if model == self.info.model:
            return
        self._set(model=model)
        self._publish(ModelChanged(model))
        if not self._talk.empty:
            self._talk.restart(user(Text(self._rules.scrub(self._talk.summary()))))
            self._context = Context()
            self._meter.new_conversation()
            self._publish(Note(f"Goes on with {model} and a summary of the conversation."))

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
            self._set(title=title, changed=self.info.changed)
            self._publish(TitleChanged(title))

    async def undo(self, turn: int) -> None:
        """Put back what a turn changed, where the person has not touched it since.

        Raises CommandError ``busy``, ``unknown_turn`` or ``already_undone``, and
        DocumentError ``not_open``.
        """
        if not 1 <= turn <= self._past.turns:
            raise CommandError("unknown_turn", "There is no such turn.")
        if turn in self._past.undone:
            raise CommandError("already_undone", "This has been put back already.")
        with self._alone():
            self._publish(await putting_back.undo(turn, self.workplace.document, self._ledger))

    async def remove(self, cell_id: str) -> None:
        """Remove a failed cell that was left standing. Raises CommandError ``busy``,
        ``not_ours`` or ``cell_changed``, and DocumentError ``not_open``."""
        with self._alone():
            self._publish(await putting_back.remove(cell_id, self.workplace.document, self._ledger))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No turn meanwhile; ops belong to none (0)."""
        self._need_idle()
        self._putting_back = True
        self.workplace.begin_turn(0)
        try:
            yield
        finally:
            self._putting_back = False
            self.workplace.end_turn()

    def moved(self, notebook: str) -> None:
        self._set(notebook=notebook)
        self._publish(NotebookMoved(notebook))

    def _set(self, **changes: Any) -> None:
        now = {"running": self.running, "changed": time.time(), "last_seq": self.feed.last_seq}
        self.info = msgspec.structs.replace(self.info, **{**now, **changes})
        self._store.update(self.info)
        self._changed(self)
