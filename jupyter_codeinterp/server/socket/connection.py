"""One window's commands: decoded, authorised, carried out, answered. Knows no sockets."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ...adapters.documents.live import WindowState
from ...core import commands as c
from ...core.errors import CodeInterpError, CommandError, StoreError
from ..session_manager import SessionManager
from .send_queue import SendQueue

if TYPE_CHECKING:
    from ...core.session.session import Session

MAX_COMMAND = 1_000_000
"""Bytes of a command. A snapshot may be larger: a notebook's sources and bounded outputs."""
MAX_SNAPSHOT = 32_000_000
MAX_ID = 2**53

log = logging.getLogger(__name__)
_decoder = msgspec.json.Decoder(c.Command)

LOOK = ("read", "contents")
CHANGE = ("write", "contents")
EXECUTE = ("execute", "kernels")

NEEDS: dict[type[Any], tuple[tuple[str, str], ...]] = {
    c.SendMessage: (EXECUTE, CHANGE),
    c.Branch: (EXECUTE, CHANGE),
    c.TakeBack: (EXECUTE,),
    c.Decide: (EXECUTE, CHANGE),
    c.Retry: (EXECUTE, CHANGE),
    c.Answer: (EXECUTE,),
    c.Cancel: (EXECUTE,),
    c.SetMode: (EXECUTE,),
    c.SetModel: (EXECUTE,),
    c.NotMe: (EXECUTE,),
    c.UndoTurn: (CHANGE,),
    c.KeepChanges: (CHANGE,),
    c.RemoveCell: (CHANGE,),
    c.Subscribe: (LOOK,),
    c.Unsubscribe: (LOOK,),
    # The window that the agent works in names the kernel, and what it says of a cell may
    # become what runs there.
    c.OpenNotebook: (EXECUTE, CHANGE),
    c.FileState: (EXECUTE, CHANGE),
    c.KernelOf: (EXECUTE, CHANGE),
    c.TakeLease: (EXECUTE, CHANGE),
    c.OpReceipt: (EXECUTE, CHANGE),
    c.SnapshotTaken: (EXECUTE, CHANGE),
    c.CloseNotebook: (LOOK,),
    c.RenameNotebook: (CHANGE,),
    c.DraftGone: (CHANGE,),
}
"""What a command needs leave for, as (action, resource) of jupyter_server's authorizer."""

Allowed = Callable[[str, str], Awaitable[bool]]


class WrittenEvent(msgspec.Struct, frozen=True, tag_field="type", tag="event"):
    """An ``EventFrame`` whose event is JSON already."""

    session_id: str
    seq: int
    event: msgspec.Raw


class ClientConnection:
    """Takes one window's commands in the order in which they come."""

    def __init__(
        self,
        manager: SessionManager,
        send_queue: SendQueue,
        allowed: Allowed,
        number: int = 0,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        """``number`` says which window it is; ``close`` closes its socket for good."""
        self.number = number
        self.shut = close
        self.goes = -math.inf
        self._manager = manager
        self._send_queue = send_queue
        self._allowed = allowed
        self._encoder = msgspec.json.Encoder()
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._long: set[asyncio.Task[None]] = set()
        self._gone = False

    def send(self, frame: c.ServerFrame) -> None:
        self._send_queue.post(frame)

    async def receive(self, message: str | bytes) -> None:
        """Carry out one command. Errors are answered; the window lives on."""
        try:
            command = _decode(message)
        except CommandError as error:
            self.send(c.Reply(_id_of(message), error=error.code, message=error.message))
            return
        work = self._carry_out_and_answer(command)
        if isinstance(command, (c.Branch, c.UndoTurn, c.RemoveCell)):
            # They wait for receipts, which come over this very socket.
            task = asyncio.ensure_future(work)
            self._long.add(task)
            task.add_done_callback(self._long.discard)
        else:
            await work

    async def _carry_out_and_answer(self, command: c.Command) -> None:
        try:
            for action, resource in NEEDS[type(command)]:
                if not await self._allowed(action, resource):
                    words = f"You have no leave to {action} {resource} on this server."
                    raise CommandError("forbidden", words)
            if self._gone:
                return  # The socket was closed while the authorizer was asked.
            result = await self._carry_out(command)
        except CodeInterpError as error:
            self.send(c.Reply(command.id, error=error.code, message=error.message))
        except Exception:
            log.exception("A command failed: %s", type(command).__name__)
            words = "This failed in the code interpreter itself. The server's log says more."
            self.send(c.Reply(command.id, error="internal", message=words))
        else:
            if command.id:
                self.send(c.Reply(command.id, result))

    async def _carry_out(self, command: c.Command) -> dict[str, Any]:
        manager = self._manager
        if isinstance(command, c.SendMessage):
            return self._send_message(command)
        if isinstance(command, c.Branch):
            return await self._branch(command)
        if isinstance(command, c.Subscribe):
            self._subscribe(manager.session(command.session_id), command.after)
        elif isinstance(command, c.Unsubscribe):
            self._unsubscribe(command.session_id)
        elif isinstance(command, c.OpenNotebook):
            notebook = manager.notebook(command.notebook)
            notebook.open(self, WindowState.of(command), reverted=command.reverted)
        elif isinstance(command, c.CloseNotebook):
            manager.close_notebook(self, command.notebook, for_good=True)
        elif isinstance(command, c.RenameNotebook):
            manager.rename(self, command.notebook, command.to)
        elif isinstance(command, c.DraftGone):
            manager.draft_gone(self, command.notebook, command.cell_id)
        elif isinstance(command, c.NotMe):
            manager.not_me(self, command.window)
        elif isinstance(
            command, (c.FileState, c.KernelOf, c.TakeLease, c.OpReceipt, c.SnapshotTaken)
        ):
            self._tell_notebook(command)
        else:
            await self._tell_session(command)
        return {}

    async def _tell_session(self, command: c.Command) -> None:
        """The commands that concern one session only."""
        service = self._manager.service
        if isinstance(command, c.Decide):
            service.decide(
                command.session_id,
                command.draft_id,
                command.nonce,
                command.action,
                command.source,
                command.run_all,
                self.number,
                command.reason,
            )
        elif isinstance(command, c.TakeBack):
            service.take_back(command.session_id, command.number)
        elif isinstance(command, c.Answer):
            service.answer(command.session_id, command.call_id, command.text)
        elif isinstance(command, c.Cancel):
            service.stop(command.session_id)
        elif isinstance(command, c.Retry):
            service.retry(command.session_id, self.number)
        elif isinstance(command, c.SetMode):
            service.set_mode(command.session_id, command.mode, self.number)
        elif isinstance(command, c.SetModel):
            service.set_model(command.session_id, command.model, self.number)
        elif isinstance(command, c.UndoTurn):
            await service.undo(command.session_id, command.turn, command.cells)
        elif isinstance(command, c.KeepChanges):
            service.keep(command.session_id, command.turn, command.cells)
        elif isinstance(command, c.RemoveCell):
            await service.remove(command.session_id, command.cell_id)

    def _tell_notebook(
        self, command: c.FileState | c.KernelOf | c.TakeLease | c.OpReceipt | c.SnapshotTaken
    ) -> None:
        """What a window says of a notebook that it has open; of another it is out of date."""
        notebook = self._manager.opened(command.notebook)
        if notebook is None:
            return
        if isinstance(command, c.FileState):
            notebook.file_state(self, command)
        elif isinstance(command, c.KernelOf):
            notebook.kernel_of(self, command.kernel_id)
        elif isinstance(command, c.TakeLease):
            notebook.take(self)
        elif isinstance(command, c.OpReceipt):
            notebook.receive(self, command)
        else:
            notebook.answer(self, command)

    def _send_message(self, command: c.SendMessage) -> dict[str, Any]:
        manager = self._manager
        session, did = manager.service.send(
            command.text,
            session_id=command.session_id,
            notebook=command.notebook,
            mode=command.mode,
            model=command.model,
            about=command.about,
            source=command.source,
            after=command.after,
            references=command.references,
            rule_files=command.rule_files,
            by=self.number,
        )
        if did == "begin":
            self._works_here(session)
        if not command.session_id:
            self._subscribe(session, 0)
        return {"session_id": session.info.session_id, "did": did}

    async def _branch(self, command: c.Branch) -> dict[str, Any]:
        branch = await self._manager.service.branch(
            command.session_id,
            command.turn,
            command.text,
            undo=command.undo,
            mode=command.mode,
            model=command.model,
            references=command.references,
            rule_files=command.rule_files,
            by=self.number,
        )
        self._works_here(branch)
        if not self._gone:
            self._subscribe(branch, 0)
        return {"session_id": branch.info.session_id}

    def _works_here(self, session: Session) -> None:
        """The turn looks at the notebook as this window has it."""
        notebook = self._manager.opened(session.info.notebook)
        if notebook is not None:
            notebook.take(self)

    def _subscribe(self, session: Session, after: int) -> None:
        session_id = session.info.session_id
        self._unsubscribe(session_id)
        self.send(c.SessionChanged(session.info, session.waiting, session.worked))
        events = self._manager.service.follow(session_id, after)
        self._followed[session_id] = asyncio.ensure_future(self._follow(session_id, events))

    async def _follow(self, session_id: str, events: AsyncIterator[tuple[int, bytes]]) -> None:
        try:
            async for seq, event in events:
                frame = WrittenEvent(session_id, seq, msgspec.Raw(event))
                self._send_queue.post_event(self._encoder.encode(frame))
                await self._send_queue.room()
        except StoreError:
            log.exception("A window could not be shown more of %s", session_id)

    def _unsubscribe(self, session_id: str) -> None:
        task = self._followed.pop(session_id, None)
        if task is not None:
            task.cancel()

    def leave(self) -> None:
        self._gone = True
        for session_id in list(self._followed):
            self._unsubscribe(session_id)


def _decode(message: str | bytes) -> c.Command:
    try:
        command: c.Command = _decoder.decode(message)
    except _UNREADABLE as error:
        raise CommandError("malformed", f"Not a command: {error}") from None
    if abs(command.id) > MAX_ID:
        raise CommandError("malformed", "Not a command: its id is no number of JavaScript's.")
    limit = MAX_SNAPSHOT if isinstance(command, (c.SnapshotTaken, c.OpReceipt)) else MAX_COMMAND
    if len(message) > limit:
        raise CommandError("too_large", f"The command is larger than {limit:,} bytes.")
    return command


def _id_of(message: str | bytes) -> int:
    """The id of a malformed command, so that its sender hears what was wrong; else 0."""
    try:
        given = msgspec.json.decode(message)
    except _UNREADABLE:
        return 0
    number = given.get("id") if isinstance(given, dict) else None
    return number if type(number) is int and abs(number) <= MAX_ID else 0


_UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)
