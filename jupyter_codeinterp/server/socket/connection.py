"""One window's commands: decoded, authorised, carried out, answered. Knows no sockets."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
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
MAX_MESSAGE = 100_000
"""Characters of a person's message."""

log = logging.getLogger(__name__)
_decoder = msgspec.json.Decoder(c.Command)

LOOK = ("read", "contents")
CHANGE = ("write", "contents")
EXECUTE = ("execute", "kernels")

NEEDS: dict[type[Any], tuple[tuple[str, str], ...]] = {
    c.SendMessage: (EXECUTE, CHANGE),
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
        if isinstance(command, (c.UndoTurn, c.RemoveCell)):
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
            await self._tell_session(manager.session(command.session_id), command)
        return {}

    async def _tell_session(self, session: Session, command: c.Command) -> None:
        """The commands that concern one session only."""
        if isinstance(command, (c.Decide, c.Answer, c.Cancel)):
            session.need_here()
        if isinstance(command, c.Decide):
            self._decide(session, command)
        elif isinstance(command, c.Answer):
            session.decisions.answer(command.call_id, command.text)
        elif isinstance(command, c.Cancel):
            session.cancel()
        elif isinstance(command, c.Retry):
            session.retry(self.number)
            self._tell_of_auto(session)
        elif isinstance(command, c.SetMode):
            if session.set_mode(command.mode, self.number):
                self._tell_others(session, "mode", session.info.mode)
        elif isinstance(command, c.SetModel):
            if session.set_model(command.model, self.number):
                self._tell_others(session, "model", command.model)
        elif isinstance(command, c.UndoTurn):
            await session.undo(command.turn, command.cells)
        elif isinstance(command, c.KeepChanges):
            session.keep(command.turn, command.cells)
        elif isinstance(command, c.RemoveCell):
            await session.remove(command.cell_id)

    # --- what the other windows hear of ----------------------------------------------

    def _decide(self, session: Session, command: c.Decide) -> None:
        draft = session.decide(
            command.draft_id,
            command.nonce,
            command.action,
            command.source,
            command.run_all,
            self.number,
        )
        what = "run_all" if command.run_all and command.action == "run" else command.action
        self._tell_others(session, what, draft.title)

    def _tell_of_auto(self, session: Session) -> None:
        """A turn that runs without asking is decided by whoever starts it."""
        if session.info.mode == "auto":
            self._tell_others(session, "turn")

    def _tell_others(self, session: Session, what: c.Doing, name: str = "") -> None:
        info = session.info
        done = c.DoneElsewhere(
            self.number, what, name, info.session_id, info.notebook, session.turn
        )
        self._manager.tell_others(done)

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
        if len(command.text) > MAX_MESSAGE:
            words = f"The message is too long: at most {MAX_MESSAGE:,} characters."
            raise CommandError("too_long", words)
        if not command.text.strip():
            raise CommandError("empty_message", "The message is empty.")
        if command.session_id:
            session = manager.session(command.session_id)
        elif command.notebook:
            session = manager.new_session(command.notebook, command.mode, command.model)
        else:
            raise CommandError("no_notebook", "Open a notebook first.")
        notebook = manager.opened(session.info.notebook)
        if notebook is not None and not session.running:
            notebook.take(self)
        # Here already: from here on the words go to the model, journal, lists and windows.
        before = session.info
        words = manager.rules.scrub(command.text)
        session.send(words, command.mode, command.model, self.number)
        if not command.session_id:
            self._subscribe(session, 0)
        elif session.info.model != before.model:
            self._tell_others(session, "model", session.info.model)
        self._tell_of_auto(session)
        return {"session_id": session.info.session_id}

    def _subscribe(self, session: Session, after: int) -> None:
        session_id = session.info.session_id
        self._unsubscribe(session_id)
        self.send(c.SessionChanged(session.info, session.waiting))
        after = min(max(after, 0), session.event_log.last_seq)
        self._followed[session_id] = asyncio.ensure_future(self._follow(session, after))

    async def _follow(self, session: Session, after: int) -> None:
        try:
            async for seq, event in session.event_log.follow(after):
                frame = WrittenEvent(session.info.session_id, seq, msgspec.Raw(event))
                self._send_queue.post_encoded(self._encoder.encode(frame))
                await self._send_queue.room()
        except StoreError:
            log.exception("A window could not be shown more of %s", session.info.session_id)

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
