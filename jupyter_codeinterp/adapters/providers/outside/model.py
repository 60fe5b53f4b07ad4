"""A model whose replies are the tool calls of an outside client.

So the client's calls take the agent's own way: review, journal, limits, hooks, undo. No other way
into the notebook exists for it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from itertools import takewhile

from ....core.messages import AnyBlock, Message, Text, ToolResult, Usage, assistant
from ....core.ports import (
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    ModelText,
    ModelToolInput,
)
from .desk import Answer, Desk

PATIENCE = 60.0
"""Seconds without a call after which a turn ends. The next call begins another."""
IDLE = "{client} has made no call for a while."
ENDS = "The next call of {client} begins a new turn."
NOT_THEIRS = (
    "Only the program {client} can continue here. To continue yourself, choose a model and send "
    "the message again."
)


class OutsideModel:
    """Make one for each turn. The first after ``Desk.begin`` has the client's calls. Any other
    belongs to a turn that a person has begun, and says that only the client can continue."""

    always_ask = False

    def __init__(self, desk: Desk, patience: float = PATIENCE) -> None:
        self._desk = desk
        self._theirs = desk.taken()
        self._patience = patience

    async def info(self, model: str) -> ModelInfo:
        """It costs nothing here, and its context is its own."""
        free = (0.0, 0.0, 0.0, 0.0)
        return ModelInfo(model, self._desk.client, 100_000_000, free, local=True, images=True)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        desk = self._desk
        if not self._theirs:
            words = NOT_THEIRS.format(client=desk.client)
            yield ModelText(0, words)
            yield ModelDone(assistant(Text(words)), "end_turn", Usage())
            return
        self._deliver(request.messages)
        call = None if request.answer_only else await desk.take(self._patience)
        if call is not None:
            yield ModelToolInput(0, call.id, call.name, {})
            yield ModelToolInput(0, call.id, call.name, call.input)
            yield ModelDone(assistant(call), "tool_use", Usage())
            return
        words = (ENDS if request.answer_only else IDLE).format(client=desk.client)
        desk.open = False
        yield ModelText(0, words)
        yield ModelDone(assistant(Text(words)), "end_turn", Usage())

    def _deliver(self, messages: Sequence[Message]) -> None:
        """Give the client the results of its calls, and what the person said or did since."""
        desk = self._desk
        content = _since_the_last_reply(messages)
        results = [block for block in content if isinstance(block, ToolResult)]
        if not desk.begins:
            desk.tell(*(block for block in content if isinstance(block, Text)))
        desk.begins = False
        for result in results:
            if result.tool_use_id in desk.waiting:
                desk.answer(result.tool_use_id, Answer(result.content, result.is_error))


def _since_the_last_reply(messages: Sequence[Message]) -> list[AnyBlock]:
    latest = takewhile(lambda message: message.role == "user", reversed(messages))
    return [block for message in reversed(list(latest)) for block in message.content]
