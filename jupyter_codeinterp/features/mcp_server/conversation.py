"""A client's work in one notebook, as turns of a conversation.

A client's call is a step of a turn, as if a model had made it. So it gets the agent's review,
journal, limits, hooks and undo, and the panel shows it. It has no other access to the notebook.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from ...base.errors import CommandError, ModelError
from ...run.approval.modes import ASKING
from ...session.messages import Sender
from ...session.server import service
from ...wire.commands import CHANGE, EXECUTE, LOOK, Cancel, Permissions, SendMessage
from ...wire.events import StepStarted, TurnEnded, read_event
from ...wire.messages import Text, ToolResult, ToolUse, Usage, assistant
from ...wire.ports import (
    Model,
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    ModelText,
    ModelToolInput,
)
from . import MODELS

if TYPE_CHECKING:
    from ...session.server.manager import SessionManager
    from ...session.session import Session

NEEDS: dict[str, Permissions] = {
    "list_notebooks": (LOOK,),
    "read_notebook": (LOOK,),
    "read_output": (LOOK,),
    "inspect_variables": (LOOK, EXECUTE),
    "run_cell": (EXECUTE, CHANGE),
    "edit_cell": (EXECUTE, CHANGE),
    "add_markdown": (EXECUTE, CHANGE),
    "delete_cell": (EXECUTE, CHANGE),
}
"""The permissions of a call, by the name of the tool. All but the first are the agent's tools."""

PATIENCE = 60.0
"""Seconds without a call after which a turn ends. The next call begins another."""
BY = "By another agent"
IDLE = "The agent has made no call for a while. Its next call begins a new turn."
NOT_THEIRS = (
    "This conversation belongs to another program. To continue it yourself, choose a model."
)
PROGRAM = Sender(headless=True)


class ClientConversation:
    """Also the model of the turns that it begins, whose replies are the client's calls."""

    always_ask = False

    def __init__(self, manager: SessionManager, notebook: str) -> None:
        self.model = f"{MODELS}{uuid.uuid4().hex[:8]}"
        self._manager = manager
        self._notebook = notebook
        self._session_id = ""
        self._turn_begins = False
        self._one = asyncio.Lock()
        self._waiting: asyncio.Queue[ToolUse] = asyncio.Queue()
        """The call, until a step of a turn takes it."""

    # --- the client's side -----------------------------------------------------------

    async def call(self, name: str, given: dict[str, Any]) -> ToolResult:
        """Carry out a call after the earlier ones. Cancelling it stops the turn.

        Raises CommandError and StoreError as ``service.send``.
        """
        async with self._one:
            try:
                return await self._carry_out(ToolUse(f"call_{uuid.uuid4().hex}", name, given))
            except asyncio.CancelledError:
                with suppress(CommandError):  # The session was deleted.
                    await service.stop(self._manager, Cancel(self._session_id), PROGRAM)
                raise
            finally:
                self._turn_begins = False
                if not self._waiting.empty():
                    self._waiting.get_nowait()

    async def _carry_out(self, call: ToolUse) -> ToolResult:
        self._waiting.put_nowait(call)
        while True:
            session = self._session()
            last = session.event_log.last_seq
            begins = not session.running
            if begins:
                self._turn_begins = True
                message = SendMessage(
                    BY, self._notebook, self._session_id, mode=ASKING, rule_files=False
                )
                await service.send(self._manager, message, PROGRAM)
            events: Any = session.event_log.follow(last)
            async with aclosing(events):
                async for _, data in events:
                    event = read_event(data)
                    if not isinstance(event, (StepStarted, TurnEnded)):
                        continue
                    if (result := self._result(call.id)) is not None:
                        return result
                    if isinstance(event, TurnEnded):
                        break
            if begins or self._waiting.empty():
                words = event.message or "The turn ended before this call had a result."
                return ToolResult(call.id, (Text(f"Not done: {words}"),), True)

    def _session(self) -> Session:
        """The client's session: a new one if the old one was deleted, or if a person continued it
        with a model."""
        with suppress(CommandError):
            session = self._manager.session(self._session_id)
            if session.info.model == self.model:
                return session
        session = self._manager.new_session(self._notebook, ASKING, self.model)
        self._session_id = session.info.session_id
        return session

    def _result(self, call_id: str) -> ToolResult | None:
        """The call's result, and what the person said since; None before it has one."""
        texts: list[Text] = []
        for message in reversed(self._manager.store.all_messages(self._session_id)):
            texts = [*(block for block in message.content if isinstance(block, Text)), *texts]
            for block in message.content:
                if isinstance(block, ToolResult) and block.tool_use_id == call_id:
                    return msgspec.structs.replace(block, content=(*block.content, *texts))
            if message.role == "assistant":
                return None
        return None

    # --- the model's side ------------------------------------------------------------

    def model_of_turn(self) -> Model:
        """The model of a turn that begins. Raises ModelError for a person's turn."""
        if not self._turn_begins:
            raise ModelError("unknown_model", NOT_THEIRS)
        self._turn_begins = False
        return self

    async def info(self, model: str) -> ModelInfo:
        """Costs nothing here. The client limits its own context."""
        free = (0.0, 0.0, 0.0, 0.0)
        return ModelInfo(model, "Another agent", 100_000_000, free, local=True, images=True)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        call = None
        if not request.answer_only:
            with suppress(asyncio.TimeoutError):
                call = await asyncio.wait_for(self._waiting.get(), PATIENCE)
        if call is not None:
            yield ModelToolInput(0, call.id, call.name, {})
            yield ModelToolInput(0, call.id, call.name, call.input)
            yield ModelDone(assistant(call), "tool_use", Usage())
        else:
            yield ModelText(0, IDLE)
            yield ModelDone(assistant(Text(IDLE)), "end_turn", Usage())
