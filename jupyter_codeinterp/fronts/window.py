"""One window's commands: decoded, authorised, carried out, answered. Knows no sockets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from ..core import commands as c
from ..core.errors import CodeInterpError, CommandError
from ..core.session import Session
from .hub import Hub

MAX_COMMAND = 1_000_000
"""Bytes of a command. A snapshot may be larger: a notebook's sources and bounded outputs."""
MAX_SNAPSHOT = 32_000_000
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
    c.UndoTurn: (CHANGE,),
    c.RemoveCell: (CHANGE,),
    c.Subscribe: (LOOK,),
    c.Unsubscribe: (LOOK,),
    c.OpenNotebook: (CHANGE,),
    c.CloseNotebook: (LOOK,),
    c.RenameNotebook: (CHANGE,),
    c.KernelOf: (EXECUTE,),
    c.TakeLease: (CHANGE,),
    c.OpReceipt: (CHANGE,),
    c.SnapshotTaken: (CHANGE,),
    c.DraftGone: (CHANGE,),
}
"""What a command needs leave for, as (action, resource) of jupyter_server's authorizer."""

Allowed = Callable[[str, str], Awaitable[bool]]


class WindowDesk:
    """Takes one window's commands in the order in which they come."""

    def __init__(self, hub: Hub, send: Callable[[bytes], None], allowed: Allowed) -> None:
        self._hub = hub
        self._send = send
        self._allowed = allowed
        self._encoder = msgspec.json.Encoder()
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._long: set[asyncio.Task[None]] = set()

    def send(self, frame: c.ServerFrame) -> None:
        self._send(self._encoder.encode(frame))

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
        hub = self._hub
        if isinstance(command, c.SendMessage):
            return self._send_message(command)
        if isinstance(command, c.Subscribe):
            self._subscribe(hub.session(command.session_id), command.after)
        elif isinstance(command, c.Unsubscribe):
            self._unsubscribe(command.session_id)
        elif isinstance(command, c.OpenNotebook):
            hub.notebook(command.notebook).open(self, dict(command.applied), command.kernel_id)
        elif isinstance(command, c.CloseNotebook):
            hub.notebook(command.notebook).close(self)
        elif isinstance(command, c.RenameNotebook):
            hub.rename(command.notebook, command.to)
        elif isinstance(command, c.KernelOf):
            hub.notebook(command.notebook).kernel_id = command.kernel_id
        elif isinstance(command, c.TakeLease):
            hub.notebook(command.notebook).take(self)
        elif isinstance(command, c.OpReceipt):
            hub.notebook(command.notebook).receive(self, command)
        elif isinstance(command, c.SnapshotTaken):
            hub.notebook(command.notebook).answer(self, command)
        elif isinstance(command, c.DraftGone):
            hub.draft_gone(command.notebook, command.cell_id)
        else:
            await _tell(hub.session(command.session_id), command)
        return {}

    def _send_message(self, command: c.SendMessage) -> dict[str, Any]:
        if len(command.text) > MAX_MESSAGE:
            words = f"The message is too long: at most {MAX_MESSAGE:,} characters."
            raise CommandError("too_long", words)
        hub = self._hub
        if not command.text.strip():
            raise CommandError("empty_message", "The message is empty.")
        if command.session_id:
            session = hub.session(command.session_id)
        else:
            session = hub.new_session(command.notebook, command.mode, command.model)
        notebook = hub.notebook(session.info.notebook)
        if not session.running:
            notebook.take(self)
        session.send(command.text, command.mode, command.model)
        self._subscribe(session, 0) if not command.session_id else None
        return {"session_id": session.info.session_id}

    def _subscribe(self, session: Session, after: int) -> None:
        session_id = session.info.session_id
        self._unsubscribe(session_id)
        self.send(c.SessionChanged(session.info, session.waiting))
        self._followed[session_id] = asyncio.ensure_future(self._follow(session, after))

    async def _follow(self, session: Session, after: int) -> None:
        async for seq, event in session.feed.follow(after):
            self.send(c.EventFrame(session.info.session_id, seq, event))

    def _unsubscribe(self, session_id: str) -> None:
        task = self._followed.pop(session_id, None)
        if task is not None:
            task.cancel()

    def unsubscribe_all(self) -> None:
        for session_id in list(self._followed):
            self._unsubscribe(session_id)


async def _tell(session: Session, command: c.Command) -> None:
    """The commands that concern one session only."""
    if isinstance(command, c.Decide):
        session.decide(
            command.draft_id, command.nonce, command.action, command.source, command.run_all
        )
    elif isinstance(command, c.Answer):
        session.decisions.answer(command.call_id, command.text)
    elif isinstance(command, c.Cancel):
        session.cancel()
    elif isinstance(command, c.Retry):
        session.retry()
    elif isinstance(command, c.SetMode):
        session.set_mode(command.mode)
    elif isinstance(command, c.SetModel):
        session.set_model(command.model)
    elif isinstance(command, c.UndoTurn):
        await session.undo(command.turn)
    elif isinstance(command, c.RemoveCell):
        await session.remove(command.cell_id)


def _decode(message: str | bytes) -> c.Command:
    try:
        command: c.Command = _decoder.decode(message)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise CommandError("malformed", f"Not a command: {error}") from None
    limit = MAX_SNAPSHOT if isinstance(command, (c.SnapshotTaken, c.OpReceipt)) else MAX_COMMAND
    if len(message) > limit:
        raise CommandError("too_large", f"The command is larger than {limit:,} bytes.")
    return command


def _id_of(message: str | bytes) -> int:
    """The id of a malformed command, so that its sender hears what was wrong; else 0."""
    try:
        given = msgspec.json.decode(message)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return 0
    number = given.get("id") if isinstance(given, dict) else None
    return number if isinstance(number, int) else 0
