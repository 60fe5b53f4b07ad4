"""A live session: one conversation bound to one notebook.

It owns the turn (a task on the server; windows only watch), and carries out what people
say: send, stop, decide, answer, try again, undo.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, Literal, Protocol

import msgspec

from . import policy
from .agent import Agent, Ending, Meter
from .commands import SessionInfo
from .context import Context
from .conversation import Conversation
from .decisions import Decisions
from .document import Delete
from .errors import CodeInterpError, CommandError
from .events import (
    CellRemoved,
    Event,
    Mode,
    ModeChanged,
    ModelChanged,
    Note,
    NotebookMoved,
    StepStarted,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    TurnUndone,
    UsageChanged,
)
from .feed import Feed
from .ledger import Ledger
from .messages import Text, Usage, user
from .ports import Document, Kernel, Model, SessionStore
from .turn import Limits, Turn

log = logging.getLogger(__name__)

OBEY_TIME = 5.0
"""Seconds that a kernel has to obey an interrupt before the person is told."""
TITLE_LENGTH = 60
STOPPED_NOTE = "[The person stopped the previous turn.]\n"
RETRY_CODES = frozenset(
    {
        "no_key",
        "wrong_key",
        "forbidden",
        "unknown_model",
        "offline",
        "rate_limit",
        "overloaded",
        "server_error",
        "spend_limit",
        "broken_stream",
        "not_open",
        "server_stopped",
    }
)
"""Endings after which "Try again" makes sense."""


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
        self.info = info
        self.decisions = Decisions()
        self.workplace = workplace
        self._store = store
        self._model = model
        self._rules = rules
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._turn: Turn | None = None
        self._later: set[asyncio.Task[None]] = set()
        self._context = Context()
        self._talk = Conversation(store, info.session_id)
        self._recall(store.events(info.session_id))

    def _recall(self, events: list[tuple[int, Event]]) -> None:
        """Take up what the journal says of this session."""
        self.feed = Feed(self._store, self.info.session_id, events[-1][0] if events else 0)
        self._ledger = Ledger(self._store.ops(self.info.session_id))
        self._turns = self._steps = unfinished = 0
        self._usage = UsageChanged(Usage(), 0.0)
        self._ended: TurnEnded | None = None
        self._undone: set[int] = set()
        for _, event in events:
            if isinstance(event, TurnStarted):
                self._turns = unfinished = event.turn
            elif isinstance(event, StepStarted):
                self._steps = event.step
            elif isinstance(event, UsageChanged):
                self._usage = event
            elif isinstance(event, TurnUndone):
                self._undone.add(event.turn)
            elif isinstance(event, TurnEnded):
                self._ended, unfinished = event, 0
        if unfinished:
            words = "The server stopped while this was going on. Variables may be gone."
            self._publish_end(Ending("error", "server_stopped", words))
        if not self._talk.empty:
            # What the model was told of the notebook is not known any more: tell it anew.
            self._context = Context()

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def waiting(self) -> bool:
        return self.decisions.waiting

    # --- a turn ----------------------------------------------------------------------

    def send(self, text: str, mode: Mode, model: str) -> None:
        """Start a turn. Raises CommandError ``busy``, ``empty_message`` or ``too_long``."""
        if not text.strip():
            raise CommandError("empty_message", "The message is empty.")
        self._need_idle()
        self._set(mode=policy.cap(mode, self._rules.highest_mode))
        if model and model != self.info.model:
            self.set_model(model)
        if not self.info.title:
            title = " ".join(text.split())
            self._set(title=title if len(title) <= TITLE_LENGTH else title[:59] + "…")
            self.feed.publish(TitleChanged(self.info.title))
        self._start(text)

    def retry(self) -> None:
        """Go on after an error with the history as it is. Raises CommandError ``busy`` or
        ``nothing_to_retry``."""
        self._need_idle()
        if self._ended is None or not self._ended.retry:
            raise CommandError("nothing_to_retry", "There is nothing to try again.")
        self._start("")

    def _need_idle(self) -> None:
        if self.running:
            raise CommandError("busy", "A turn is running. Stop it first, or wait.")

    def _start(self, text: str) -> None:
        self._turns += 1
        started = TurnStarted(self._turns, text, self.info.mode, self.info.model)
        self.feed.publish(started)
        self._task = asyncio.get_running_loop().create_task(self._run(text))
        self._task.add_done_callback(lambda _: self._set())
        self._set()

    async def _run(self, text: str) -> None:
        """One turn from its first event to its last. Whatever happens, it has a last one."""
        agent: Agent | None = None
        self.workplace.begin_turn(self._turns)
        try:
            agent = await self._agent()
            async for event in agent.run(self._with_notes(text)):
                self.feed.publish(event)
            ending = agent.ending
        except asyncio.CancelledError:
            ending = Ending("cancelled", "cancelled", "Stopped.")
            for event in agent.stopped() if agent is not None else ():
                self.feed.publish(event)
            self._watch_interrupt()
        except Exception as error:
            ending = _failure(error)
            for event in agent.stopped() if agent is not None else ():
                self.feed.publish(event)
        if agent is not None:
            self._context = agent.turn.context
            if ending.reason == "end_turn":
                self._clear_failed(agent.turn)
        self._publish_end(ending)
        self.workplace.end_turn()

    async def _agent(self) -> Agent:
        """Look at the notebook and make what this turn works with."""
        model = self._model(self.info.model)
        place = self.workplace
        turn = self._turn = Turn(
            number=self._turns,
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
        await turn.look()
        turn.files = await place.files()
        meter = Meter(await model.info(self.info.model), self._usage.usage)
        return Agent(model, meter, turn, self._talk, self._next_step)

    def _next_step(self) -> int:
        self._steps += 1
        return self._steps

    def _with_notes(self, text: str) -> str:
        stopped = self._ended is not None and self._ended.stop_reason == "cancelled"
        return STOPPED_NOTE + text if text and stopped else text

    def _clear_failed(self, turn: Turn) -> None:
        """At ``end_turn`` no failed leftover of the agent stands in the notebook."""
        for cell_id, number in list(self._ledger.failed.items()):
            source = self._ledger.written(cell_id)
            if number == turn.number and source is not None:
                turn.apply(Delete(cell_id, source))

    def _publish_end(self, ending: Ending) -> None:
        changes = self._ledger.changes(self._turns)
        failed = tuple(
            cell_id
            for cell_id, number in self._ledger.failed.items()
            if number == self._turns and self._ledger.written(cell_id) is not None
        )
        cleared = failed if ending.reason == "end_turn" else ()
        self._ended = TurnEnded(
            turn=self._turns,
            stop_reason=ending.reason,
            code=ending.code,
            message=ending.message,
            added=tuple(cell for cell in changes.added if cell not in cleared),
            edited=changes.edited,
            removed=changes.removed,
            failed=() if cleared else failed,
            retry=ending.code in RETRY_CODES,
        )
        self.feed.publish(self._ended)

    def _watch_interrupt(self) -> None:
        """Tell the person if the kernel does not obey the interrupt."""

        async def watch() -> None:
            await asyncio.sleep(OBEY_TIME)
            if self._stuck and self.workplace.kernel.busy() and not self.running:
                words = (
                    "The kernel has not obeyed the interrupt. "
                    "Restart it from the Kernel menu to stop the code; variables will be lost."
                )
                self.feed.publish(Note(words, "warning"))

        self._in_background(watch())

    @property
    def _stuck(self) -> bool:
        return self._ended is not None and self._ended.stop_reason == "cancelled"

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    # --- while it runs ---------------------------------------------------------------

    def cancel(self) -> None:
        """Stop the turn; nothing happens if none is running."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    async def close(self) -> None:
        """Stop for good: the server is shutting down."""
        self.cancel()
        tasks = [task for task in (self._task, *self._later) if task is not None]
        for task in self._later:
            task.cancel()
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
            self.feed.publish(ModeChanged(mode))

    def set_model(self, model: str) -> None:
        """The session goes on with another model, in a new conversation with a summary."""
        self._need_idle()
        if model == self.info.model:
            return
        self._set(model=model)
        self.feed.publish(ModelChanged(model))
        if not self._talk.empty:
            summary = f"Summary of this conversation so far:\n{self._talk.summary()}"
            self._talk.restart(user(Text(self._rules.scrub(summary))))
            self._context = Context()

    # --- afterwards ------------------------------------------------------------------

    async def undo(self, turn: int) -> None:
        """Put back what a turn changed, where the person has not touched it since.

        Raises CommandError ``busy``, ``already_undone`` or ``not_open``.
        """
        self._need_idle()
        if turn in self._undone:
            raise CommandError("already_undone", "This has been put back already.")
        self._undone.add(turn)
        restored: list[str] = []
        kept: list[str] = []
        self.workplace.begin_turn(0)
        for op in self._ledger.undo(turn):
            receipt = await self.workplace.document.apply(op)
            self._ledger.record(0, op, receipt)
            if receipt.status == "done":
                restored.append(op.cell_id)
            else:
                kept.append(op.cell_id)
        await self.workplace.document.save()
        self.workplace.end_turn()
        left = tuple(dict.fromkeys(kept))
        put_back = tuple(cell for cell in dict.fromkeys(restored) if cell not in left)
        self.feed.publish(TurnUndone(turn, put_back, left))

    async def remove(self, cell_id: str) -> None:
        """Remove a failed cell that was left standing. Raises CommandError ``not_ours``."""
        source = self._ledger.written(cell_id)
        if source is None:
            raise CommandError("not_ours", "This cell is not one of the agent's.")
        op = Delete(cell_id, source)
        receipt = await self.workplace.document.apply(op)
        self._ledger.record(0, op, receipt)
        if receipt.status != "done":
            raise CommandError("cell_changed", "You have changed this cell; it was kept.")
        self.feed.publish(CellRemoved(cell_id))

    def moved(self, notebook: str) -> None:
        self._set(notebook=notebook)
        self.feed.publish(NotebookMoved(notebook))

    def _set(self, **changes: Any) -> None:
        self.info = msgspec.structs.replace(
            self.info,
            running=self.running,
            changed=time.time(),
            last_seq=self.feed.last_seq,
            **changes,
        )
        self._store.update(self.info)
        self._changed(self)


def _failure(error: Exception) -> Ending:
    """How a turn ends that an exception has ended. What nobody foresaw goes to the log."""
    if isinstance(error, CodeInterpError):
        return Ending("error", error.code, error.message)
    log.error("A turn failed", exc_info=error)
    words = "Something went wrong in the code interpreter itself. The server's log says what."
    return Ending("error", "internal", words)
