"""A client's work in one notebook, as turns of a conversation.

A client's call is a step of a turn, as if a model had made it. So it gets the agent's review,
journal, limits, hooks and undo, and the panel shows it. It has no other access to the notebook.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ...base.errors import CommandError
from ...run.approval.modes import ASKING
from ...session.messages import Sender
from ...wire.commands import Cancel, SendMessage
from ...wire.events import StepStarted, TurnEnded, read_event
from ...wire.messages import Image, Text, ToolResult, ToolUse, Usage, assistant
from ...wire.ports import ModelDone, ModelEvent, ModelInfo, ModelRequest, ModelText, ModelToolInput
from . import MODELS

if TYPE_CHECKING:
    from ...session.server.manager import SessionManager
    from ...session.session import Session

PATIENCE = 60.0
"""Seconds without a call after which a turn ends. The next call begins another."""
BY = "By another agent"
IDLE = "The agent has made no call for a while. Its next call begins a new turn."
NOT_THEIRS = (
    "Only the other agent can continue here. To continue yourself, choose a model and send the "
    "message again."
)
PROGRAM = Sender(headless=True)


class CallResult(NamedTuple):
    """The result of a call, as a model would read it."""

    content: tuple[Text | Image, ...]
    is_error: bool = False


class ClientConversation:
    def __init__(self, manager: SessionManager, notebook: str) -> None:
        self.model = f"{MODELS}{uuid.uuid4().hex[:8]}"
        self._manager = manager
        self._notebook = notebook
        self._session_id = ""
        self._turn_begins = False
        self._one = asyncio.Lock()
        self._call: ToolUse | None = None
        """The call that waits for a step of a turn."""
        self._came = asyncio.Event()

    # --- the client's side -----------------------------------------------------------

    async def call(self, name: str, given: dict[str, Any]) -> CallResult:
        """Carry out a call after the earlier ones. Cancelling it stops the turn.

        Raises CommandError and StoreError as ``service.send``.
        """
        async with self._one:
            try:
                return await self._carry_out(ToolUse(f"call_{uuid.uuid4().hex}", name, given))
            except asyncio.CancelledError:
                from ...session import service  # see ``preload``

                with suppress(CommandError):  # The session was deleted.
                    await service.stop(self._manager, Cancel(self._session_id), PROGRAM)
                raise
            finally:
                self._call, self._turn_begins = None, False

    async def _carry_out(self, call: ToolUse) -> CallResult:
        while True:
            session, begins = self._session(), False
            last = session.event_log.last_seq
            if not session.running:
                begins = True
                await self._begin(session)
            self._call = call
            self._came.set()
            events: Any = session.event_log.follow(last)
            async with aclosing(events):
                async for _, data in events:
                    event = read_event(data)
                    if not isinstance(event, (StepStarted, TurnEnded)):
                        continue
                    if (result := self._result(session, call.id)) is not None:
                        return result
                    if isinstance(event, TurnEnded):
                        break
            if begins or self._call is None:
                words = event.message or "The turn ended before this call had a result."
                return CallResult((Text(f"Not done: {words}"),), True)

    async def _begin(self, session: Session) -> None:
        from ...session import service  # see ``preload``

        self._turn_begins = True
        message = SendMessage(
            BY, self._notebook, session_id=session.info.session_id, mode=ASKING, rule_files=False
        )
        await service.send(self._manager, message, PROGRAM)

    def _session(self) -> Session:
        """The client's session: a new one if the old one was deleted, or if a person continued it
        with a model."""
        if self._session_id:
            with suppress(CommandError):
                session = self._manager.session(self._session_id)
                if session.info.model == self.model:
                    return session
        session = self._manager.new_session(self._notebook, ASKING, self.model)
        self._session_id = session.info.session_id
        return session

    def _result(self, session: Session, call_id: str) -> CallResult | None:
        """The call's result, and what the person said since; None before it has one."""
        texts: list[Text] = []
        for message in reversed(self._manager.store.all_messages(session.info.session_id)):
            texts = [*(block for block in message.content if isinstance(block, Text)), *texts]
            for block in message.content:
                if isinstance(block, ToolResult) and block.tool_use_id == call_id:
                    return CallResult((*block.content, *texts), block.is_error)
            if message.role == "assistant":
                return None
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


class ClientModel:
    """A model for one turn, whose replies are the client's calls. In a person's turn it answers
    that only the client can continue."""

    always_ask = False

    def __init__(self, conversation: ClientConversation, is_clients: bool) -> None:
        self._conversation = conversation
        self._is_clients = is_clients

    async def info(self, model: str) -> ModelInfo:
        """Costs nothing here. The client limits its own context."""
        free = (0.0, 0.0, 0.0, 0.0)
        return ModelInfo(model, "Another agent", 100_000_000, free, local=True, images=True)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        call = None
        if self._is_clients and not request.answer_only:
            call = await self._conversation.next_call()
        if call is not None:
            yield ModelToolInput(0, call.id, call.name, {})
            yield ModelToolInput(0, call.id, call.name, call.input)
            yield ModelDone(assistant(call), "tool_use", Usage())
        else:
            words = IDLE if self._is_clients else NOT_THEIRS
            yield ModelText(0, words)
            yield ModelDone(assistant(Text(words)), "end_turn", Usage())
