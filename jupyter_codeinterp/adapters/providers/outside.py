"""An outside client (MCP) in the model's place: the agent's loop carries out its calls."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from itertools import takewhile
from typing import NamedTuple, Union

from ...core.messages import AnyBlock, Image, Message, Text, ToolResult, ToolUse, Usage, assistant
from ...core.ports import ModelDone, ModelEvent, ModelInfo, ModelRequest, ModelText, ModelToolInput

# -------------------------------------------------------------------------------------------------
# Where the tool calls of an outside client wait for a turn, and for their results.


class Answer(NamedTuple):
    """The result of a call, as a model would read it."""

    content: tuple[Union[Text, Image], ...]
    is_error: bool


class Desk:
    """The calls of one client in one conversation."""

    def __init__(self, client: str) -> None:
        self.client = client
        """The client's name, for people."""
        self.open = False
        """Whether the running turn is the client's, and takes more calls."""
        self.begins = True
        """Whether the turn begins. Its opening describes the notebook for a model; the client does
        not get it."""
        self._free = False
        self._queue: deque[ToolUse] = deque()
        self._answers: dict[str, asyncio.Future[Answer]] = {}
        self._news = asyncio.Event()
        self._texts: list[Text] = []
        """Texts for the next result."""

    def begin(self) -> None:
        """A turn of the client's begins."""
        self.open = self.begins = self._free = True

    def taken(self) -> bool:
        """Take the place of the model in the client's turn. False if it is taken."""
        free, self._free = self._free, False
        return free

    def put(self, call: ToolUse) -> asyncio.Future[Answer]:
        """Queue a call. The future gets its result."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[call.id] = answer
        self._queue.append(call)
        self._news.set()
        return answer

    def withdraw(self, call_id: str) -> bool:
        """Forget a call. Returns whether no turn had taken it."""
        self._answers.pop(call_id, None)
        left = [call for call in self._queue if call.id != call_id]
        waited = len(left) < len(self._queue)
        self._queue = deque(left)
        return waited

    async def take(self, patience: float) -> ToolUse | None:
        """The next call; None if none came for ``patience`` seconds."""
        while not self._queue:
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), patience)
            except asyncio.TimeoutError:
                return None
        return self._queue.popleft()

    @property
    def waiting(self) -> frozenset[str]:
        """The ids of the calls without a result."""
        return frozenset(self._answers)

    def answer(self, call_id: str, answer: Answer) -> None:
        """Give a call its result, with the texts added since the last result."""
        texts, self._texts = self._texts, []
        future = self._answers.pop(call_id)
        if not future.done():
            future.set_result(Answer((*answer.content, *texts), answer.is_error))

    def add(self, *texts: Text) -> None:
        """Keep texts for the next result."""
        self._texts += texts


# -------------------------------------------------------------------------------------------------
# A model whose replies are the tool calls of an outside client.
#
# So the client's calls get the agent's review, journal, limits, hooks and undo. It has no other
# access to the notebook.

PATIENCE = 60.0
"""Seconds without a call after which a turn ends. The next call begins another."""
IDLE = "{client} has made no call for a while."
ENDS = "The next call of {client} begins a new turn."
NOT_THEIRS = (
    "Only the program {client} can continue here. To continue yourself, choose a model and send "
    "the message again."
)


class OutsideModel:
    """Make one for each turn. The first after ``Desk.begin`` makes the client's calls. Any other
    belongs to a person's turn, and answers that only the client can continue."""

    always_ask = False

    def __init__(self, desk: Desk, patience: float = PATIENCE) -> None:
        self._desk = desk
        self._is_clients = desk.taken()
        self._patience = patience

    async def info(self, model: str) -> ModelInfo:
        """Costs nothing here. The client limits its own context."""
        free = (0.0, 0.0, 0.0, 0.0)
        return ModelInfo(model, self._desk.client, 100_000_000, free, local=True, images=True)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        desk = self._desk
        if not self._is_clients:
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
            desk.add(*(block for block in content if isinstance(block, Text)))
        desk.begins = False
        for result in results:
            if result.tool_use_id in desk.waiting:
                desk.answer(result.tool_use_id, Answer(result.content, result.is_error))


def _since_the_last_reply(messages: Sequence[Message]) -> list[AnyBlock]:
    latest = takewhile(lambda message: message.role == "user", reversed(messages))
    return [block for message in reversed(list(latest)) for block in message.content]
