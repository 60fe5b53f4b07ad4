"""The conversations of outside clients, one for each token and notebook.

A client's call is a step of a turn of its conversation, as if a model had made it. So it is
reviewed, journaled, bounded and undone like the agent's own, and the panel shows it.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, Union

import msgspec

from ...adapters.providers.outside import Answer, Desk
from ...core.approval.modes import ASKING, BY_RANK, RUN_ALL
from ...core.errors import CommandError
from ...core.messages import Text, ToolResult, ToolUse
from ...core.session.service import Sender
from ...core.wire import commands as c
from ...core.wire.events import DraftWaiting, Event, RunStarted, TurnEnded

if TYPE_CHECKING:
    from ...core.session.session import Session
    from ..session_manager import SessionManager
    from .clients import Clients

WAITING = "Waiting for a person to decide in JupyterLab."
RUNNING = "The kernel runs the cell."
Tell = Callable[[str], None]
"""Takes a progress message for the waiting client."""


class Conversation:
    """One client's work in one notebook."""

    def __init__(
        self, manager: SessionManager, clients: Clients, client: str, notebook: str, at_once: bool
    ) -> None:
        """``at_once``: the admin lets code of tokens with the scope ``run`` run without review."""
        self._manager = manager
        self._desk = Desk(client)
        self.model = clients.add(self._desk)
        self._notebook = notebook
        self._session_id = ""
        self._at_once = at_once
        self._one = asyncio.Lock()
        self.at_work = False
        """Whether a call of the client is in a turn."""

    async def call(
        self, name: str, given: dict[str, Any], scope: str, by: int, tell: Tell
    ) -> Answer:
        """Carry out a call after the earlier ones. Cancelling it stops the turn.

        Raises CommandError and StoreError as ``SessionService.send``.
        """
        async with self._one:
            call = ToolUse(f"call_{uuid.uuid4().hex}", name, given)
            self.at_work = True
            answer = self._desk.put(call)
            try:
                return await self._carried_out(call, answer, self._mode(scope), by, tell)
            except asyncio.CancelledError:
                await self.stop(by)
                raise
            finally:
                self.at_work = False
                self._desk.withdraw(call.id)

    async def stop(self, by: int) -> None:
        """Stop the turn, as the person's Stop does."""
        with suppress(CommandError):  # The session was deleted.
            await self._manager.service.stop(c.Cancel(self._session_id), Sender(by))

    def _mode(self, scope: str) -> Any:
        if scope != "run":
            return BY_RANK[0]
        return RUN_ALL if self._at_once else ASKING

    async def _carried_out(
        self, call: ToolUse, answer: asyncio.Future[Answer], mode: Any, by: int, tell: Tell
    ) -> Answer:
        while True:
            session, began = await self._in_turn(mode, by)
            ending = asyncio.ensure_future(self._end(session, session.event_log.last_seq, tell))
            try:
                both: set[asyncio.Future[Any]] = {answer, ending}
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                ending.cancel()
            if answer.done():
                return answer.result()
            ended = ending.result()
            found = self._stored(session, call.id)
            if found is not None:
                return found
            if began or not self._desk.withdraw(call.id):
                words = ended.message or "The turn ended before this call had a result."
                return Answer((Text(f"Not done: {words}"),), True)
            answer = self._desk.put(call)

    async def _in_turn(self, mode: Any, by: int) -> tuple[Session, bool]:
        """The session with a turn of the client's, and whether the turn began now."""
        session = await self._idle_or_ours()
        if session.running:
            return session, False
        self._desk.begin()
        words = f"By {self._desk.client}"
        message = c.SendMessage(
            words, "", session_id=session.info.session_id, mode=mode, rule_files=False
        )
        await self._manager.service.send(message, Sender(by, headless=True))
        return session, True

    async def _idle_or_ours(self) -> Session:
        """The client's session, idle or in a turn that takes calls. Makes one if the old one was
        deleted, or if a person continued it with a model."""
        while True:
            session = self._session()
            if not session.running or self._desk.open:
                return session
            await session.idle()

    def _session(self) -> Session:
        if self._session_id:
            with suppress(CommandError):
                session = self._manager.session(self._session_id)
                if session.info.model == self.model:
                    return session
        session = self._manager.service.create(self._notebook, BY_RANK[0], self.model)
        self._session_id = session.info.session_id
        return session

    async def _end(self, session: Session, after: int, tell: Tell) -> TurnEnded:
        ended = await end_of_turn(session, after, tell)
        self._desk.open = False
        return ended

    def _stored(self, session: Session, call_id: str) -> Union[Answer, None]:
        """The result of a call whose turn ended before the client's next step."""
        for message in reversed(self._manager.store.all_messages(session.info.session_id)):
            for block in message.content:
                if isinstance(block, ToolResult) and block.tool_use_id == call_id:
                    return Answer(block.content, block.is_error)
        return None


async def end_of_turn(session: Session, after: int, tell: Tell) -> TurnEnded:
    """Wait for the end of a turn, and tell the client what it waits for."""
    events: Any = session.event_log.follow(after)
    async with aclosing(events):
        async for _, data in events:
            event: Any = msgspec.json.decode(data, type=Event)
            if isinstance(event, TurnEnded):
                return event
            if isinstance(event, DraftWaiting):
                tell(WAITING)
            elif isinstance(event, RunStarted):
                tell(RUNNING)
    raise RuntimeError("the events of a conversation have ended")
