"""One client's work in one notebook, as turns of a conversation.

A client's call is a step of a turn, as if a model had made it. So it gets the agent's review,
journal, limits, hooks and undo, and the panel shows it. It has no other access to the notebook.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from ...base.errors import CommandError
from ...run.approval.modes import ASKING, BY_RANK, RUN_ALL
from ...session.messages import Sender
from ...wire.commands import Cancel, SendMessage
from ...wire.events import TurnEnded, read_event
from ...wire.messages import Image, Message, Text, ToolResult, ToolUse, Usage, assistant
from ...wire.ports import ModelDone, ModelEvent, ModelInfo, ModelRequest, ModelText, ModelToolInput
from . import MODELS

if TYPE_CHECKING:
    from ...session.server.manager import SessionManager
    from ...session.session import Session

LONGEST = 30
"""Characters of a client's name in its model's."""
PATIENCE = 60.0
"""Seconds without a call after which a turn ends. The next call begins another."""
IDLE = "{client} has made no call for a while."
ENDS = "The next call of {client} begins a new turn."
NOT_THEIRS = (
    "Only the program {client} can continue here. To continue yourself, choose a model and send "
    "the message again."
)
Tell = Callable[[str], Awaitable[None]]
"""Sends a progress notification to the client."""


class CallResult(NamedTuple):
    """The result of a call, as a model would read it."""

    content: tuple[Text | Image, ...]
    is_error: bool = False


class ClientConversation:
    def __init__(self, manager: SessionManager, client: str, notebook: str, at_once: bool) -> None:
        """``client``: its name for people. ``at_once``: the admin lets code of tokens with the
        scope ``run`` run without review."""
        self.client = client
        words = re.sub(r"[^a-z0-9]+", "-", client.lower()).strip("-")[:LONGEST]
        self.model = f"{MODELS}{words}-{uuid.uuid4().hex[:8]}"
        self.takes_calls = False
        """Whether the running turn is the client's, and takes more calls."""
        self._manager = manager
        self._notebook = notebook
        self._at_once = at_once
        self._session_id = ""
        self._turn_begins = False
        self._one = asyncio.Lock()
        self._call: ToolUse | None = None
        """The call that waits for a step of a turn."""
        self._came = asyncio.Event()
        self._result: tuple[str, asyncio.Future[CallResult]] | None = None
        """The id of the call at work, and its result to come."""
        self._texts: list[Text] = []
        """What the person said since the last result."""

    # --- the client's side -----------------------------------------------------------

    @property
    def at_work(self) -> bool:
        return self._result is not None

    @property
    def waiting(self) -> bool:
        """Whether a call waits for a person."""
        session = self._manager.live(self._session_id)
        return self.at_work and session is not None and session.waiting

    async def call(self, name: str, given: dict[str, Any], scope: str, by: int) -> CallResult:
        """Carry out a call after the earlier ones. Cancelling it stops the turn.

        Raises CommandError and StoreError as ``service.send``.
        """
        async with self._one:
            call = ToolUse(f"call_{uuid.uuid4().hex}", name, given)
            result: asyncio.Future[CallResult] = asyncio.get_running_loop().create_future()
            self._result = (call.id, result)
            try:
                return await self._carry_out(call, result, self._mode(scope), by)
            except asyncio.CancelledError:
                from ...session import service  # see ``preload``

                with suppress(CommandError):  # The session was deleted.
                    await service.stop(self._manager, Cancel(self._session_id), Sender(by))
                raise
            finally:
                self._call = self._result = None

    def _mode(self, scope: str) -> Any:
        if scope != "run":
            return BY_RANK[0]
        return RUN_ALL if self._at_once else ASKING

    async def _carry_out(
        self, call: ToolUse, result: asyncio.Future[CallResult], mode: Any, by: int
    ) -> CallResult:
        while True:
            session, began = await self._in_turn(mode, by)
            self._call = call
            self._came.set()
            ending = asyncio.ensure_future(self._end(session, session.event_log.last_seq))
            try:
                both: set[asyncio.Future[Any]] = {result, ending}
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                ending.cancel()
            if result.done():
                return result.result()
            stored = self._stored(session, call.id)
            if stored is not None:
                return stored
            if began or self._call is None:
                words = ending.result().message or "The turn ended before this call had a result."
                return CallResult((Text(f"Not done: {words}"),), True)

    async def _in_turn(self, mode: Any, by: int) -> tuple[Session, bool]:
        """The session with a turn of the client's, and whether the turn began now."""
        session = self._session()
        while session.running and not self.takes_calls:
            await session.idle()
            session = self._session()
        if session.running:
            return session, False
        self.takes_calls = self._turn_begins = True
        message = SendMessage(
            f"By {self.client}",
            self._notebook,
            session_id=session.info.session_id,
            mode=mode,
            rule_files=False,
        )
        from ...session import service  # see ``preload``

        await service.send(self._manager, message, Sender(by, headless=True))
        return session, True

    def _session(self) -> Session:
        """The client's session: a new one if the old one was deleted, or if a person continued it
        with a model."""
        if self._session_id:
            with suppress(CommandError):
                session = self._manager.session(self._session_id)
                if session.info.model == self.model:
                    return session
        session = self._manager.new_session(self._notebook, BY_RANK[0], self.model)
        self._session_id = session.info.session_id
        return session

    async def _end(self, session: Session, after: int) -> TurnEnded:
        """Wait for the end of the turn."""
        events: Any = session.event_log.follow(after)
        async with aclosing(events):
            async for _, data in events:
                event = read_event(data)
                if isinstance(event, TurnEnded):
                    self.takes_calls = False
                    return event
        raise RuntimeError("the events of a conversation have ended")

    def _stored(self, session: Session, call_id: str) -> CallResult | None:
        """The result of a call whose turn ended before the client's next step."""
        for message in reversed(self._manager.store.all_messages(session.info.session_id)):
            for block in message.content:
                if isinstance(block, ToolResult) and block.tool_use_id == call_id:
                    return CallResult(block.content, block.is_error)
        return None

    # --- the model's side ------------------------------------------------------------

    def model_of_turn(self) -> ClientModel:
        """The model of a turn that begins: the client's own, or one that a person began."""
        self._turn_begins, is_clients = False, self._turn_begins
        return ClientModel(self, is_clients)

    async def next_call(self) -> ToolUse | None:
        """The client's next call; None if none comes for a while."""
        if self._call is None:
            self._came.clear()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._came.wait(), PATIENCE)
        call, self._call = self._call, None
        return call

    def deliver(self, messages: Sequence[Message], opens: bool) -> None:
        """Give the client the result of its call, and what the person said or did since. The text
        that ``opens`` a turn describes the notebook for a model; the client does not get it."""
        latest = list(takewhile(lambda message: message.role == "user", reversed(messages)))
        content = [block for message in reversed(latest) for block in message.content]
        if not opens:
            self._texts += (block for block in content if isinstance(block, Text))
        for block in content:
            if isinstance(block, ToolResult) and self._result is not None:
                call_id, result = self._result
                if block.tool_use_id == call_id and not result.done():
                    result.set_result(CallResult((*block.content, *self._texts), block.is_error))
                    self._texts = []


class ClientModel:
    """A model for one turn, whose replies are the client's calls. In a person's turn it answers
    that only the client can continue."""

    always_ask = False

    def __init__(self, conversation: ClientConversation, is_clients: bool) -> None:
        self._conversation = conversation
        self._is_clients = is_clients
        self._opens = True

    async def info(self, model: str) -> ModelInfo:
        """Costs nothing here. The client limits its own context."""
        free = (0.0, 0.0, 0.0, 0.0)
        name = self._conversation.client
        return ModelInfo(model, name, 100_000_000, free, local=True, images=True)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        conversation, call, words = self._conversation, None, NOT_THEIRS
        if self._is_clients:
            conversation.deliver(request.messages, self._opens)
            self._opens = False
            words = ENDS
            if not request.answer_only:
                call, words = await conversation.next_call(), IDLE
            if call is None:
                conversation.takes_calls = False
        if call is not None:
            yield ModelToolInput(0, call.id, call.name, {})
            yield ModelToolInput(0, call.id, call.name, call.input)
            yield ModelDone(assistant(call), "tool_use", Usage())
        else:
            words = words.format(client=conversation.client)
            yield ModelText(0, words)
            yield ModelDone(assistant(Text(words)), "end_turn", Usage())
