"""The conversation of this process: a core session on its own event loop and thread.

The magic blocks the main thread in ``ask``, which shows events and runs code.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import os
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from ..base.errors import CommandError, ModelError
from ..base.sentences import as_it_is
from ..extensions import Extensions
from ..journal.sqlite import SqliteStore
from ..kernel.in_process import InProcessKernel, MainThread
from ..kernel.inside.mark import MODEL, TOKEN, URL
from ..models.anthropic.services import ANTHROPIC
from ..models.jupyter_server import JupyterServerModel
from ..notebook.memory import MemoryDocument
from ..run.approval.decisions import Alone
from ..run.approval.plain_markdown import markdown_risks
from ..run.turn.limits import Limits, Rules
from ..session import service
from ..session.messages import Sender
from ..session.session import Services, Session
from ..view.redaction.secrets import Secrets
from ..wire.commands import Answer, Decide, DoneElsewhere, SendMessage, SessionInfo
from ..wire.events import Draft, Event, Mode, TurnEnded, read_event
from ..wire.ops import CellView
from ..wire.ports import Model, ModelInfo
from ..wire.providers import Connection
from ..wire.stores import Beginning
from .workplace import ProcessWorkplace

if TYPE_CHECKING:
    from ..models.offered import Models


# -------------------------------------------------------------------------------------------------
# The models and keys of this process.
#
# In a kernel of a server with the extension, requests go through the server, with a token that is
# valid only for that. Elsewhere it uses settings and keys like the command line.


class ProcessModels:
    def __init__(self, secrets: Secrets) -> None:
        """``secrets`` learns all keys."""
        token, url = os.environ.get(TOKEN, ""), os.environ.get(URL, "")
        self._server: Connection | None = None
        self._own: Models | None = None
        self._bad = ""
        """A problem with the settings; disables all models, because they may set a limit."""
        self.extensions = Extensions()
        secrets.add(token)
        if token and url:
            self._server = JupyterServerModel(url, token)
        else:
            self._read_settings(secrets)

    def _read_settings(self, secrets: Secrets) -> None:
        # Imported here, because a server's kernel does not need it.
        from ..app import config

        try:
            settings = config.settings(config.load())
            self._own = settings.make_models(secrets)
            self.extensions = Extensions(settings.allowed_packages)
        except config.BadConfig as bad:
            self._bad = bad.message
        else:
            self._own.learn_secrets()

    @property
    def default(self) -> str:
        own = self._own.default if self._own else ANTHROPIC.default_model
        return os.environ.get(MODEL) or own

    async def get(self, model_id: str) -> Model:
        """Raises ModelError."""
        return self._server or await self._models().get(model_id)

    def _models(self) -> Models:
        """Raises ModelError ``bad_request``."""
        if self._own is None:
            raise ModelError("bad_request", as_it_is(self._bad))
        return self._own

    async def available(self) -> Sequence[ModelInfo]:
        """Raises ModelError if none can be listed."""
        if self._server is not None:
            return await self._server.list_models()
        models = self._models()
        listed, failed = await models.available()
        found = [info for info in listed if info.id != models.demo]
        if not found:
            words = (
                "No API key. Enter one with “jupyter codeinterp key set” or set "
                "ANTHROPIC_API_KEY, then restart this process."
            )
            raise failed or ModelError("no_key", words)
        return found


T = TypeVar("T")
NAME = "this process"
"""Stands for the notebook's path, which a kernel does not know."""
ONE = "A process has only one conversation."
STOP_TIMEOUT = 3.0
"""Seconds that a stopped turn has to end before a new one."""


class Request(msgspec.Struct, frozen=True):
    """A prompt. ``cells``: the person's earlier cells."""

    text: str
    model: str
    mode: Mode
    cells: tuple[CellView, ...] = ()
    alone: Alone = ""


class Assistant:
    """Call all methods on the main thread, except those named ``_on_loop…``."""

    def __init__(self, shell: Any) -> None:
        self.main = MainThread()
        self.secrets = Secrets()
        self.models = ProcessModels(self.secrets)
        self.model = self.models.default
        self._rules = Rules(Limits(), scrub=self.secrets.scrub, markdown_risks=markdown_risks)
        self._shell = shell
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="codeinterp", daemon=True).start()
        self._conversation: ProcessConversation | None = None
        self._following: concurrent.futures.Future[Any] | None = None
        atexit.register(self._on_exit, os.getpid())

    # --- for the magic ---------------------------------------------------------------

    def ask(self, request: Request, show: Callable[[Event], None]) -> None:
        """Run a turn until its end. ``show`` is called on the main thread, for each event. Raises
        CommandError ``busy``, ``empty_message``, ``too_long``."""
        self._need_idle()
        self.main.clear()
        over = threading.Event()
        """Set when the turn's end was shown."""

        def show_event(event: Event) -> None:
            show(event)
            if isinstance(event, TurnEnded):
                over.set()

        with self.main.interruptible(self.stop):
            self._following = self._result(self._call(self._on_loop_begin(request, show_event)))
            try:
                self.main.pump(over.is_set)
            except BaseException:
                self.stop()
                raise

    def decide(
        self,
        draft: Draft,
        action: Literal["run", "reject"],
        source: str,
        reason: str = "",
        nobody: bool = False,
    ) -> None:
        """Raises CommandError as ``Decisions.decide``."""
        command = Decide(
            self._here.session_id, draft.draft_id, draft.nonce, action, source, reason=reason
        )
        self._result(self._call(service.decide(self._here, command, Sender(nobody=nobody))))

    def answer(self, call_id: str, text: str, nobody: bool = False) -> None:
        """``nobody``: nobody can be asked. Raises CommandError ``unknown_question``."""
        conversation = self._here
        command = Answer(conversation.session_id, call_id, text)
        self._result(self._call(service.answer(conversation, command, Sender(nobody=nobody))))

    def stop(self) -> None:
        """Stop the turn without waiting. Callable from any thread and from signal handlers."""
        if self._conversation is not None:
            self._loop.call_soon_threadsafe(self._conversation.live.task.cancel)

    def reset(self) -> bool:
        """Forget the conversation. Returns whether there was one."""
        forgotten, self._conversation = self._conversation, None
        if forgotten is not None:
            self._result(self._call(forgotten.close()))
        return forgotten is not None

    def list_models(self) -> list[ModelInfo]:
        """Raises ModelError."""
        with self.main.interruptible(self.stop):
            return list(self._result(self._call(self.models.available())))

    @property
    def session(self) -> Session | None:
        return self._conversation.live if self._conversation is not None else None

    def source(self, cell_id: str) -> str:
        return self._here.document.source(cell_id)

    # --- inside ----------------------------------------------------------------------

    @property
    def _here(self) -> ProcessConversation:
        if self._conversation is None:
            raise CommandError("unknown_session", "This conversation was forgotten (%ai reset).")
        return self._conversation

    def _on_exit(self, process: int) -> None:
        if self._conversation is not None and os.getpid() == process:  # A fork has no loop.
            with contextlib.suppress(Exception):
                self._call(self._conversation.close()).result(STOP_TIMEOUT)

    def _need_idle(self) -> None:
        """Wait for the end of a stopped turn. Raises CommandError ``busy``."""
        session = self.session
        deadline = time.monotonic() + STOP_TIMEOUT
        while session is not None and session.running:
            if time.monotonic() > deadline:
                raise CommandError("busy", "The previous prompt is still stopping.")
            time.sleep(0.02)

    def _call(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _result(self, work: concurrent.futures.Future[T]) -> T:
        """Wait in short steps, so that an interrupt works on every system."""
        while True:
            with contextlib.suppress(concurrent.futures.TimeoutError), self.main.breakable():
                return work.result(0.2)

    # --- on the loop -----------------------------------------------------------------

    async def _on_loop_begin(
        self, request: Request, show: Callable[[Event], None]
    ) -> concurrent.futures.Future[Any]:
        if self._conversation is None:
            self._conversation = ProcessConversation(
                self._shell, self.main, self.models, self._rules, request
            )
        conversation = self._conversation
        conversation.document.add_cells(request.cells)
        session = conversation.live
        after = session.event_log.last_seq
        message = SendMessage(
            request.text,
            NAME,
            session_id=conversation.session_id,
            mode=request.mode,
            model=request.model,
        )
        await service.send(conversation, message, Sender(alone=request.alone))
        return asyncio.run_coroutine_threadsafe(self._follow(session, after, show), self._loop)

    async def _follow(self, session: Session, after: int, show: Callable[[Event], None]) -> None:
        async for _, data in session.event_log.follow(after):
            event = read_event(data)
            self.main.post(partial(show, event))
            if isinstance(event, TurnEnded):
                return


class ProcessConversation:
    """A session and its parts, created and used on the loop. Implements ``Sessions`` of
    ``session/service.py``, with one session and no other windows."""

    def __init__(
        self, shell: Any, main: MainThread, models: ProcessModels, rules: Rules, request: Request
    ) -> None:
        self.rules = rules
        self.session_id = uuid.uuid4().hex
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        """Holds the journal, which goes with the conversation."""
        self._store = SqliteStore(Path(self._folder.name) / "sessions.db", rules.scrub)
        self.document = MemoryDocument(self._store, self.session_id, NAME)
        self.kernel = InProcessKernel(shell, main)
        self.place = ProcessWorkplace(self.document, self.kernel)
        now = time.time()
        info = SessionInfo(
            self.session_id, NAME, "", request.model, request.mode, False, created=now, changed=now
        )
        self._store.create(info)
        extensions = models.extensions
        extensions.load()
        services = Services(self._store, rules, models.get, extensions.tools, extensions.hooks)
        self.live = Session(info, services, self.place)

    async def close(self) -> None:
        """Stop the turn and remove the journal."""
        await self.live.close()
        self._store.close()
        self._folder.cleanup()

    def new_session(self, notebook: str, mode: Mode, model: str) -> Session:
        raise CommandError("unknown_session", ONE)

    def new_branch(self, of: SessionInfo, turn: int, beginning: Beginning) -> Session:
        raise CommandError("unknown_session", ONE)

    async def delete(self, session_id: str) -> None:
        raise CommandError("unknown_session", ONE)

    def person(self, notebook: str, window: int) -> str:
        return ""

    def tell_others(self, done: DoneElsewhere) -> None:
        """Do nothing: there are no other windows."""

    def session(self, session_id: str) -> Session:
        return self.live
