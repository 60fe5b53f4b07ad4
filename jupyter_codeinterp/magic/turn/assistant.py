"""The one conversation of this process: a session of the core on an event loop of its own.

The thread that a magic blocks sits in ``_pump``, shows what comes and runs the code; the agent
works beside it. A turn that waits for a click is left where it is (``front.parked``): the magic
returns, and the click goes on with ``resume``.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from ...adapters.documents.memory import MemoryDocument
from ...adapters.kernels.in_process import InProcessKernel, MainThread
from ...adapters.plain_markdown import markdown_risks
from ...adapters.storage.memory import MemoryStore
from ...core.commands import DoneElsewhere, SessionInfo
from ...core.document.ops import CellView
from ...core.errors import CommandError
from ...core.events import Draft, Event, Mode, TurnEnded, UsageChanged
from ...core.ports import ModelInfo
from ...core.redaction.secrets import Secrets
from ...core.session.service import SessionService
from ...core.session.session import Session
from ...core.stores import Beginning
from ...core.turn.limits import Limits, Rules
from ...server import extensions
from .models import ProcessModels
from .place import ProcessPlace

T = TypeVar("T")
NAME = "this process"
"""Stands for the notebook's path: a kernel does not know it."""
ONE = "There is one conversation a process."
GIVES_UP = 3.0
"""Seconds that a turn which was stopped has to end before a new one."""
BUSY = (
    "The prompt of {where} still waits for your decision. Decide there, or stop it with %ai stop."
)


class Front(Protocol):
    """Shows a turn and asks for decisions. All of it on the main thread."""

    parked: bool
    """Whether it waits for a click, so that the magic returns."""
    done: bool
    where: str
    """The cell that has asked, for people."""

    def show(self, event: Event) -> None: ...

    def decide(self, draft: Draft, choice: Any) -> None:
        """Carry out what a person has chosen."""

    def inserted(self) -> None:
        """The code is in a cell of the person's: the turn is over."""

    def around(self) -> contextlib.AbstractContextManager[None]:
        """Where outputs of a run are to be shown."""


class Asked(msgspec.Struct, frozen=True):
    """What is asked for. ``cells`` None: the model is told of nothing."""

    text: str
    model: str
    mode: Mode
    max_steps: int = 0
    cells: tuple[CellView, ...] | None = None


class Assistant:
    """All methods on the main thread, unless they begin with ``_on_loop``."""

    def __init__(self, shell: Any) -> None:
        self.main = MainThread()
        self.secrets = Secrets()
        self.models = ProcessModels(self.secrets)
        self.model = self.models.default
        self.front: Front | None = None
        """Of the turn that goes on, or waits for a click."""
        self.usage: UsageChanged | None = None
        """Of the conversation so far."""
        self._rules = Rules(Limits(), scrub=self.secrets.scrub, markdown_risks=markdown_risks)
        self._shell = shell
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="codeinterp", daemon=True).start()
        self._conversation: Conversation | None = None
        self._following: concurrent.futures.Future[Any] | None = None

    # --- what a magic does -----------------------------------------------------------

    def ask(self, asked: Asked, front: Front) -> None:
        """One turn; returns at its end, or when it waits for a click. Raises CommandError
        ``busy``, ``empty_message``, ``too_long``."""
        self._need_idle()
        self.front = front
        self.main.clear()
        with self._interruptible():
            try:
                self._following = self._result(self._call(self._on_loop_begin(asked, front)))
            except BaseException:
                self.front = None
                raise
            self._pump(front)

    def resume(self, front: Front) -> None:
        """After a click: until the turn's end, or the next decision."""
        front.parked = False
        with self._interruptible():
            self._pump(front)

    def decide(self, draft: Draft, action: Literal["run", "reject"], source: str) -> None:
        """Raises CommandError as ``Decisions.decide``."""
        conversation = self._here
        self._wait(
            lambda: conversation.service.decide(
                conversation.session_id, draft.draft_id, draft.nonce, action, source
            )
        )

    def answer(self, call_id: str, text: str) -> None:
        """Raises CommandError ``unknown_question``."""
        conversation = self._here
        self._wait(lambda: conversation.service.answer(conversation.session_id, call_id, text))

    def stop(self) -> None:
        """From anywhere, also a signal handler: returns at once."""
        if self._conversation is not None:
            self._loop.call_soon_threadsafe(self._conversation.live.cancel)

    def give_up(self) -> bool:
        """Stop a turn that waits for a click. Whether there was one."""
        front, self.front = self.front, None
        if front is None or front.done:
            return False
        front.done = True
        self.stop()
        self._ended()
        return True

    def reset(self) -> bool:
        """Forget the conversation. Whether there was one."""
        self.give_up()
        had, self._conversation = self._conversation is not None, None
        self.usage = None
        return had

    def list_models(self) -> list[ModelInfo]:
        """Raises ModelError."""
        with self._interruptible():
            return list(self._result(self._call(self.models.available())))

    @property
    def session(self) -> Session | None:
        return self._conversation.live if self._conversation is not None else None

    def source(self, cell_id: str) -> str:
        return self._here.document.source(cell_id)

    # --- inside ----------------------------------------------------------------------

    @property
    def _here(self) -> Conversation:
        if self._conversation is None:
            raise CommandError("unknown_session", "This conversation was forgotten (%ai reset).")
        return self._conversation

    def _need_idle(self) -> None:
        if self.front is not None and not self.front.done:
            raise CommandError("busy", BUSY.format(where=self.front.where))
        self._ended()

    def _ended(self) -> None:
        """Wait a moment for the end of a turn that was stopped."""
        session = self.session
        deadline = time.monotonic() + GIVES_UP
        while session is not None and session.running:
            if time.monotonic() > deadline:
                raise CommandError("busy", "The prompt before is still being stopped.")
            time.sleep(0.02)

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        with self.main.interruptible(self.stop):
            yield

    def _pump(self, front: Front) -> None:
        try:
            self.main.pump(lambda: front.done or front.parked)
        except BaseException:
            front.done = True
            self.stop()
            raise
        finally:
            if front.done and self.front is front:
                self.front = None

    def _call(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _wait(self, work: Callable[[], T]) -> T:
        async def done() -> T:
            return work()

        return self._result(self._call(done()))

    def _result(self, work: concurrent.futures.Future[T]) -> T:
        """Waits so that an interrupt is seen on every system."""
        while True:
            with contextlib.suppress(concurrent.futures.TimeoutError), self.main.breakable():
                return work.result(0.2)

    # --- on the loop -----------------------------------------------------------------

    async def _on_loop_begin(self, asked: Asked, front: Front) -> concurrent.futures.Future[Any]:
        if self._conversation is None:
            self._conversation = self._new_conversation(asked)
        conversation = self._conversation
        conversation.kernel.around = front.around
        conversation.tell(asked.cells)
        session = conversation.live
        steps = asked.max_steps or Limits().steps
        session.set_limits(Limits(steps=steps))
        after = session.event_log.last_seq
        conversation.service.send(
            asked.text,
            session_id=conversation.session_id,
            mode=asked.mode,
            model=asked.model,
        )
        return asyncio.run_coroutine_threadsafe(self._follow(session, after, front), self._loop)

    async def _follow(self, session: Session, after: int, front: Front) -> None:
        read = msgspec.json.Decoder(Event)
        async for _, data in session.event_log.follow(after):
            event = read.decode(data)
            self.main.post(lambda event=event: front.show(event))  # type: ignore[misc]
            if isinstance(event, TurnEnded):
                return

    def _new_conversation(self, asked: Asked) -> Conversation:
        return Conversation(self._shell, self.main, self.models, self._rules, asked)


class Conversation:
    """A session and what belongs to it. Made and used on the loop. Fulfils the ``Sessions`` of
    the core's service: there is one, and nobody else to be told of anything."""

    def __init__(
        self, shell: Any, main: MainThread, models: ProcessModels, rules: Rules, asked: Asked
    ) -> None:
        self.rules = rules
        self.session_id = uuid.uuid4().hex
        self.service = SessionService(self)
        store = MemoryStore(rules.scrub)
        self.document = MemoryDocument(store, self.session_id, NAME)
        self.kernel = InProcessKernel(shell, main)
        self.place = ProcessPlace(self.document, self.kernel)
        now = time.time()
        info = SessionInfo(
            self.session_id, NAME, "", asked.model, asked.mode, False, created=now, changed=now
        )
        store.create(info)
        self.live = Session(
            info,
            store,
            models.get,
            self.place,
            rules,
            lambda session: None,
            extensions.tools(),
            extensions.hooks(),
        )

    def tell(self, cells: tuple[CellView, ...] | None) -> None:
        """The person's cells; None: the model is told of nothing new in this process."""
        self.place.context = self.kernel.sees_variables = cells is not None
        if cells is not None:
            self.document.tell(cells)

    def new_session(self, notebook: str, mode: Mode, model: str) -> Session:
        raise CommandError("unknown_session", ONE)

    def new_branch(self, of: SessionInfo, turn: int, beginning: Beginning) -> Session:
        raise CommandError("unknown_session", ONE)

    async def delete(self, session_id: str) -> None:
        raise CommandError("unknown_session", ONE)

    def tell_others(self, done: DoneElsewhere) -> None:
        return None

    def session(self, session_id: str) -> Session:
        return self.live
