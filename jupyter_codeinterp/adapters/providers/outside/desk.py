"""Where the tool calls of an outside client wait for a turn, and for their results."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple, Union

from ....core.messages import Image, Text, ToolUse


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
        """Whether the turn begins. Its opening describes the notebook for a model, and is not for
        the client, which reads what it wants."""
        self._free = False
        self._queue: deque[ToolUse] = deque()
        self._answers: dict[str, asyncio.Future[Answer]] = {}
        self._news = asyncio.Event()
        self._untold: list[Text] = []

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
        """Give a call its result, and with it what was told since the result before."""
        told, self._untold = self._untold, []
        future = self._answers.pop(call_id)
        if not future.done():
            future.set_result(Answer((*answer.content, *told), answer.is_error))

    def tell(self, *texts: Text) -> None:
        """Keep texts for the next result."""
        self._untold += texts
