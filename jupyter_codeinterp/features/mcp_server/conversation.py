"""A client's tools, and its work in one notebook, as turns of a conversation.

A client's call is a step of a turn, as if a model had made it. So it gets the agent's review,
journal, limits, hooks and undo, and the panel shows it. It has no other access to the notebook.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ...agent.tools.registry import BUILT_IN
from ...base.errors import CommandError, ModelError
from ...run.approval.modes import ASKING
from ...session import service
from ...session.messages import Sender
from ...wire.commands import CHANGE, EXECUTE, LOOK, Cancel, SendMessage
from ...wire.events import StepStarted, TurnEnded, read_event
from ...wire.messages import Image, Text, ToolResult, ToolUse, Usage, assistant
from ...wire.ports import ModelDone, ModelEvent, ModelInfo, ModelRequest, ModelText, ModelToolInput
from . import MODELS

if TYPE_CHECKING:
    from ...session.server.manager import SessionManager
    from ...session.session import Session

_NOTEBOOK = {
    "type": "string",
    "description": "Path of the notebook, relative to the root of the Jupyter server.",
}
REVIEWED = " A person reviews it in JupyterLab first. The call waits for the decision."


class OfferedTool(NamedTuple):
    """A tool as a client sees it. ``schema`` is the JSON Schema of its input; ``needs``: the
    permissions of a call, as (action, resource) of jupyter_server's authorizer."""

    name: str
    description: str
    schema: dict[str, Any]
    needs: tuple[tuple[str, str], ...]


def _own(name: str, *needs: tuple[str, str]) -> OfferedTool:
    """The agent's tool of this name."""
    spec = next(tool.spec for tool in BUILT_IN if tool.name == name)
    properties = {"notebook": _NOTEBOOK, **spec.input_schema["properties"]}
    required = ["notebook", *spec.input_schema.get("required", ())]
    schema = {"type": "object", "properties": properties, "required": required}
    description = spec.description + (REVIEWED if CHANGE in needs else "")
    return OfferedTool(name, description, schema, needs)


_LISTS = "Paths of the notebooks that are open in JupyterLab."
OFFERED = (
    OfferedTool("list_notebooks", _LISTS, {"type": "object", "properties": {}}, (LOOK,)),
    _own("read_notebook", LOOK),
    _own("read_output", LOOK),
    _own("inspect_variables", LOOK, EXECUTE),
    _own("run_cell", EXECUTE, CHANGE),
    _own("edit_cell", EXECUTE, CHANGE),
    _own("add_markdown", EXECUTE, CHANGE),
    _own("delete_cell", EXECUTE, CHANGE),
)
BY_NAME = {tool.name: tool for tool in OFFERED}

PATIENCE = 60.0
"""Seconds without a call after which a turn ends. The next call begins another."""
BY = "By another agent"
IDLE = "The agent has made no call for a while. Its next call begins a new turn."
NOT_THEIRS = (
    "This conversation belongs to another program. To continue it yourself, choose a model."
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
        """The model of a turn that begins. Raises ModelError for a person's turn."""
        if not self._turn_begins:
            raise ModelError("unknown_model", NOT_THEIRS)
        self._turn_begins = False
        return ClientModel(self)

    async def next_call(self) -> ToolUse | None:
        """The client's next call; None if none comes for a while."""
        if self._call is None:
            self._came.clear()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._came.wait(), PATIENCE)
        call, self._call = self._call, None
        return call


class ClientModel:
    """A model for one turn, whose replies are the client's calls."""

    always_ask = False

    def __init__(self, conversation: ClientConversation) -> None:
        self._conversation = conversation

    async def info(self, model: str) -> ModelInfo:
        """Costs nothing here. The client limits its own context."""
        free = (0.0, 0.0, 0.0, 0.0)
        return ModelInfo(model, "Another agent", 100_000_000, free, local=True, images=True)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        call = None if request.answer_only else await self._conversation.next_call()
        if call is not None:
            yield ModelToolInput(0, call.id, call.name, {})
            yield ModelToolInput(0, call.id, call.name, call.input)
            yield ModelDone(assistant(call), "tool_use", Usage())
        else:
            yield ModelText(0, IDLE)
            yield ModelDone(assistant(Text(IDLE)), "end_turn", Usage())
