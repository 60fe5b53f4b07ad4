"""Decodes, authorises, executes and answers one window's commands. Knows no sockets."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ...adapters.documents.live import WindowState
from ...core.errors import CodeInterpError, CommandError, StoreError
from ...core.wire import commands as c
from ..files.paths import normalize
from ..session_manager import SessionManager, changed
from .send_queue import SendQueue

if TYPE_CHECKING:
    from ...core.session.messages import Does
    from ...core.session.session import Session

MAX_COMMAND = 1_000_000
"""Bytes of a command, except for a snapshot (a notebook's sources and bounded outputs)."""
MAX_SNAPSHOT = 32_000_000
MAX_ID = 2**53
MAX_PERSON = 200
"""Characters of a person's name that are kept."""

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
    c.UndoTurn: (CHANGE,),
    c.RedoTurn: (CHANGE,),
    c.KeepChanges: (CHANGE,),
    c.KeepFiles: (EXECUTE, CHANGE),
    c.RemoveCell: (CHANGE,),
    c.SilenceFinding: (CHANGE,),
    c.LookForMistakes: (EXECUTE,),
    c.Subscribe: (LOOK,),
    c.Unsubscribe: (LOOK,),
    # The agent's window names the kernel, and its reports of a cell may become code that runs.
    c.OpenNotebook: (EXECUTE, CHANGE),
    c.FileState: (EXECUTE, CHANGE),
    c.KernelOf: (EXECUTE, CHANGE),
    c.TakeLease: (EXECUTE, CHANGE),
    c.OpReceipt: (EXECUTE, CHANGE),
    c.SnapshotTaken: (EXECUTE, CHANGE),
    c.CloseNotebook: (LOOK,),
    c.RenameNotebook: (CHANGE,),
    c.DraftGone: (CHANGE,),
    c.PersonActed: (EXECUTE, CHANGE),
    c.DraftRun: (EXECUTE, CHANGE),
    c.CodeCells: (EXECUTE, CHANGE),
}
"""A command's permissions, as (action, resource) of jupyter_server's authorizer."""

METHODS: dict[type[Any], str] = {
    c.SendMessage: "send",
    c.Branch: "branch",
    c.TakeBack: "take_back",
    c.Decide: "decide",
    c.Answer: "answer",
    c.Cancel: "stop",
    c.Retry: "retry",
    c.SetMode: "set_mode",
    c.SetModel: "set_model",
    c.UndoTurn: "undo",
    c.RedoTurn: "redo",
    c.KeepChanges: "keep",
    c.KeepFiles: "keep_files",
    c.RemoveCell: "remove",
    c.SilenceFinding: "silence",
    c.LookForMistakes: "look",
}
"""The method of ``SessionService`` that carries out a command. It takes the command's fields by
name, and ``by``."""

NOT_ALLOWED = {
    LOOK: "You are not allowed to read notebooks on this server.",
    CHANGE: "You are not allowed to change notebooks on this server.",
    EXECUTE: "You are not allowed to run code on this server.",
}


def needs_of(command: c.Command) -> tuple[tuple[str, str], ...]:
    """The command's permissions. Variables and waiting files are the kernel's."""
    needs = NEEDS[type(command)]
    if isinstance(command, (c.UndoTurn, c.RedoTurn)) and command.files:
        return (*needs, EXECUTE)
    return needs


Allowed = Callable[[str, str], Awaitable[bool]]


class WrittenEvent(msgspec.Struct, frozen=True, tag_field="type", tag="event"):
    """An ``EventFrame`` with an event that is already JSON."""

    session_id: str
    seq: int
    event: msgspec.Raw


class ClientConnection:
    """Executes one window's commands in order of arrival."""

    def __init__(
        self,
        manager: SessionManager,
        send_queue: SendQueue,
        allowed: Allowed,
        number: int = 0,
        person: str = "",
    ) -> None:
        """``number`` identifies the window; ``person`` is the name of who is logged in."""
        self.number = number
        self.person = person[:MAX_PERSON]
        self.departed_at = -math.inf
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
        """Execute one command. Errors go back as replies."""
        try:
            command = _with_paths(_decode(message))
        except CommandError as error:
            self.send(c.Reply(_id_of(message), error=error.code, message=error.message))
            return
        work = self._carry_out_and_answer(command)
        method = METHODS.get(type(command))
        if method and inspect.iscoroutinefunction(getattr(self._manager.service, method)):
            # It waits: for receipts, which arrive over this socket, for a model, or for a disk.
            task = asyncio.ensure_future(work)
            self._long.add(task)
            task.add_done_callback(self._long.discard)
        else:
            await work

    async def _carry_out_and_answer(self, command: c.Command) -> None:
        try:
            for action, resource in needs_of(command):
                if not await self._allowed(action, resource):
                    raise CommandError("forbidden", NOT_ALLOWED[action, resource])
            if self._gone:
                return  # The socket closed during the authorization.
            result = await self._carry_out(command)
        except CodeInterpError as error:
            self.send(c.Reply(command.id, error=error.code, message=error.message))
        except Exception:
            log.exception("A command failed: %s", type(command).__name__)
            words = "The code interpreter had an internal error. See the server's log for details."
            self.send(c.Reply(command.id, error="internal", message=words))
        else:
            if command.id:
                self.send(c.Reply(command.id, result))

    async def _carry_out(self, command: c.Command) -> dict[str, Any]:
        manager = self._manager
        if isinstance(command, c.SendMessage):
            return self._sent(command, *await self._call(command))
        if isinstance(command, c.Branch):
            return self._branched(await self._call(command))
        if isinstance(command, c.Subscribe):
            self._subscribe(manager.session(command.session_id), command.after)
        elif isinstance(command, c.Unsubscribe):
            self._unsubscribe(command.session_id)
        elif isinstance(command, c.OpenNotebook):
            notebook = manager.notebooks.at(command.notebook)
            notebook.open(self, WindowState.of(command), reverted=command.reverted)
        elif isinstance(command, c.CloseNotebook):
            manager.notebooks.close(self, command.notebook, for_good=True)
        elif isinstance(command, c.RenameNotebook):
            manager.notebooks.rename(self, command.notebook, command.to)
        elif isinstance(command, c.DraftGone):
            manager.notebooks.draft_gone(self, command.notebook, command.cell_id)
        elif isinstance(command, c.DraftRun):
            manager.notebooks.draft_run(self, command)
        elif isinstance(command, c.CodeCells):
            manager.stale_cells.report(self, manager.notebooks.opened(command.notebook), command)
        elif isinstance(
            command,
            (c.FileState, c.KernelOf, c.TakeLease, c.OpReceipt, c.SnapshotTaken, c.PersonActed),
        ):
            self._notebook_command(command)
        else:
            await self._call(command)
        return {}

    async def _call(self, command: c.Command) -> Any:
        fields = msgspec.structs.asdict(command)
        del fields["id"]
        called = getattr(self._manager.service, METHODS[type(command)])(**fields, by=self.number)
        return await called if inspect.isawaitable(called) else called

    def _notebook_command(
        self,
        command: c.FileState
        | c.KernelOf
        | c.TakeLease
        | c.OpReceipt
        | c.SnapshotTaken
        | c.PersonActed,
    ) -> None:
        notebook = self._manager.notebooks.opened(command.notebook)
        if notebook is None:
            return  # Outdated: the notebook is closed.
        if isinstance(command, c.FileState):
            notebook.file_state(self, command)
        elif isinstance(command, c.KernelOf):
            notebook.kernel_of(self, command.kernel_id)
        elif isinstance(command, c.TakeLease):
            notebook.take(self)
        elif isinstance(command, c.OpReceipt):
            notebook.receive(self, command)
        elif isinstance(command, c.PersonActed):
            notebook.person_acted(self, command.protected)
        else:
            notebook.answer(self, command)

    def _sent(self, command: c.SendMessage, session: Session, did: Does) -> dict[str, Any]:
        if did == "begin":
            self._take_lease(session)
        if not command.session_id:
            self._subscribe(session, 0)
        return {"session_id": session.info.session_id, "did": did}

    def _branched(self, branch: Session) -> dict[str, Any]:
        self._take_lease(branch)
        if not self._gone:
            self._subscribe(branch, 0)
        return {"session_id": branch.info.session_id}

    def _take_lease(self, session: Session) -> None:
        """Let the turn use this window's copy of the notebook."""
        notebook = self._manager.notebooks.opened(session.info.notebook)
        if notebook is not None:
            notebook.take(self)

    def _subscribe(self, session: Session, after: int) -> None:
        session_id = session.info.session_id
        self._unsubscribe(session_id)
        self.send(changed(session))
        events = self._manager.service.follow(session_id, after)
        self._followed[session_id] = asyncio.ensure_future(self._follow(session_id, events))

    async def _follow(self, session_id: str, events: AsyncIterator[tuple[int, bytes]]) -> None:
        try:
            async for seq, event in events:
                frame = WrittenEvent(session_id, seq, msgspec.Raw(event))
                self._send_queue.post_event(self._encoder.encode(frame))
                await self._send_queue.room()
        except StoreError:
            log.exception("Could not send a window more of %s", session_id)

    def _unsubscribe(self, session_id: str) -> None:
        task = self._followed.pop(session_id, None)
        if task is not None:
            task.cancel()

    def leave(self) -> None:
        self._gone = True
        for session_id in list(self._followed):
            self._unsubscribe(session_id)


def _with_paths(command: c.Command) -> c.Command:
    """The command with normalized paths."""
    paths = {
        name: normalize(path)
        for name in ("notebook", "to")
        if isinstance(path := getattr(command, name, None), str)
    }
    return msgspec.structs.replace(command, **paths)


def _decode(message: str | bytes) -> c.Command:
    try:
        command: c.Command = _decoder.decode(message)
    except _UNREADABLE as error:
        raise CommandError("malformed", f"Not a command: {error}") from None
    if abs(command.id) > MAX_ID:
        raise CommandError("malformed", "Not a command: its id is not a JavaScript number.")
    limit = MAX_SNAPSHOT if isinstance(command, (c.SnapshotTaken, c.OpReceipt)) else MAX_COMMAND
    if len(message) > limit:
        raise CommandError("too_large", f"The command is larger than {limit:,} bytes.")
    return command


def _id_of(message: str | bytes) -> int:
    """The id of a malformed command, for the error reply; 0 if unknown."""
    try:
        given = msgspec.json.decode(message)
    except _UNREADABLE:
        return 0
    number = given.get("id") if isinstance(given, dict) else None
    return number if type(number) is int and abs(number) <= MAX_ID else 0


_UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)
