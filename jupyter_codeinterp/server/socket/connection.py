"""Decodes, authorises, executes and answers one window's commands. Knows no sockets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...base.errors import CodeInterpError, CommandError, StoreError
from ...base.paths import normalize
from ...base.translation import translated
from ...notebook.live import WindowState
from ...session.messages import Sender
from ...session.server.manager import SessionManager, changed
from ...session.server.service import COMMANDS, carry_out, is_to_session
from ...wire import commands as c
from ...wire.commands import NOT_ALLOWED
from ...wire.events import with_strings
from .send_queue import MAX_SNAPSHOT, SendQueue

if TYPE_CHECKING:
    from ...notebook.live import LiveNotebook
    from ...session.session import Session

MAX_COMMAND = 1_000_000
"""Bytes of a command, except for a snapshot (a notebook's sources and bounded outputs)."""
MAX_ID = 2**53
READ_AGAIN = 1.0
"""Seconds until another try to read a journal that could not be read."""
MAX_PERSON = 200
"""Characters of a person's name that are kept."""

log = logging.getLogger(__name__)
_decoder = msgspec.json.Decoder(c.Command)

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
        self._manager = manager
        self._send_queue = send_queue
        self._allowed = allowed
        self._encoder = msgspec.json.Encoder()
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._long: set[asyncio.Task[None]] = set()
        self._gone = False

    def send(self, frame: c.ServerFrame) -> None:
        self._send_queue.post(frame)

    def _refuse(self, number: int, error: CodeInterpError) -> None:
        self.send(c.Reply(number, error=error.code, message=translated(error.message)))

    async def receive(self, message: str | bytes) -> None:
        """Execute one command. Errors go back as replies."""
        try:
            command = _with_paths(_decode(message))
        except CommandError as error:
            self._refuse(_id_of(message), error)
            return
        work = self._carry_out_and_answer(command)
        if is_to_session(command) and COMMANDS[type(command)].waits:
            task = asyncio.ensure_future(work)
            self._long.add(task)
            task.add_done_callback(self._long.discard)
        else:
            await work

    async def _carry_out_and_answer(self, command: c.Command) -> None:
        try:
            for action, resource in permissions_of(command):
                if not await self._allowed(action, resource):
                    raise CommandError("forbidden", NOT_ALLOWED[action, resource])
            if self._gone:
                return  # The socket closed during the authorization.
            result = await self._carry_out(command)
        except CodeInterpError as error:
            self._refuse(command.id, error)
        except Exception:
            log.exception("A command failed: %s", type(command).__name__)
            words = "The code interpreter had an internal error. See the server's log for details."
            self._refuse(command.id, CommandError("internal", words))
        else:
            if command.id:
                self.send(c.Reply(command.id, result))

    async def _carry_out(self, command: c.Command) -> dict[str, Any]:
        if not is_to_session(command):
            OF_WINDOWS[type(command)].method(self, command)
            return {}
        sent = await carry_out(self._manager, command, Sender(self.number))
        if sent is None:
            return {}
        session_id = sent.session.info.session_id
        notebook = self._opened(sent.session.info.notebook)
        if sent.did == "begin" and notebook is not None:
            notebook.take(self)  # The turn works in this window.
        if session_id != command.session_id and not self._gone:
            self._follow_session(sent.session, 0)
        return {"session_id": session_id, "did": sent.did}

    # --- commands about a window's notebooks -----------------------------------------

    def _opened(self, notebook: str) -> LiveNotebook | None:
        """None if the notebook is closed, and the command outdated."""
        return self._manager.notebooks.opened(notebook)

    def subscribe(self, command: c.Subscribe) -> None:
        self._follow_session(self._manager.session(command.session_id), command.after)

    def unsubscribe(self, command: c.Unsubscribe) -> None:
        self._unfollow(command.session_id)

    def open_notebook(self, command: c.OpenNotebook) -> None:
        notebook = self._manager.notebooks.at(command.notebook)
        notebook.open(self, WindowState.of(command), reverted=command.reverted)

    def close_notebook(self, command: c.CloseNotebook) -> None:
        self._manager.notebooks.close(self, command.notebook, for_good=True)

    def rename_notebook(self, command: c.RenameNotebook) -> None:
        self._manager.notebooks.rename(self, command.notebook, command.to)

    def file_state(self, command: c.FileState) -> None:
        if (notebook := self._opened(command.notebook)) is not None:
            notebook.file_state(self, command)

    def kernel_of(self, command: c.KernelOf) -> None:
        if (notebook := self._opened(command.notebook)) is not None:
            notebook.kernel_of(self, command.kernel_id)

    def take_lease(self, command: c.TakeLease) -> None:
        if (notebook := self._opened(command.notebook)) is not None:
            notebook.take(self)

    def receipt(self, command: c.OpReceipt) -> None:
        if (notebook := self._opened(command.notebook)) is not None:
            notebook.receive(self, command)

    def snapshot(self, command: c.SnapshotTaken) -> None:
        if (notebook := self._opened(command.notebook)) is not None:
            notebook.answer(self, command)

    def draft_gone(self, command: c.DraftGone) -> None:
        self._manager.notebooks.draft_gone(self, command.notebook, command.cell_id)

    def draft_run(self, command: c.DraftRun) -> None:
        self._manager.notebooks.draft_run(self, command)

    def person_acted(self, command: c.PersonActed) -> None:
        if (notebook := self._opened(command.notebook)) is not None:
            notebook.person_acted(self)

    def code_cells(self, command: c.CodeCells) -> None:
        self._manager.stale_cells.report(self, self._opened(command.notebook), command)

    # --- events ----------------------------------------------------------------------

    def _follow_session(self, session: Session, after: int) -> None:
        session_id = session.info.session_id
        self._unfollow(session_id)
        self.send(changed(session))
        self._followed[session_id] = asyncio.ensure_future(self._follow(session_id, after))

    async def _follow(self, session_id: str, after: int) -> None:
        """Send the events after number ``after``, until the window leaves or the session is
        deleted. Waits while the journal cannot be read."""
        while True:
            try:
                session = self._manager.session(session_id)
                async for seq, event in session.event_log.follow(after):
                    said = msgspec.Raw(with_strings(event, translated))
                    frame = WrittenEvent(session_id, seq, said)
                    self._send_queue.post_event(self._encoder.encode(frame))
                    after = seq
                    await self._send_queue.room()
            except StoreError as error:
                log.warning("Could not send a window more of %s: %s", session_id, error.message)
                await asyncio.sleep(READ_AGAIN)
            except CommandError:
                return  # It was deleted meanwhile.

    def _unfollow(self, session_id: str) -> None:
        task = self._followed.pop(session_id, None)
        if task is not None:
            task.cancel()

    def leave(self) -> None:
        self._gone = True
        for session_id in list(self._followed):
            self._unfollow(session_id)


class WindowRow(NamedTuple):
    """How to carry out one type of command about a window's notebooks."""

    needs: c.Permissions
    method: Callable[[ClientConnection, Any], None]


# The agent's window names the kernel, and its reports of a cell may become code that runs.
OF_WINDOWS: dict[type[Any], WindowRow] = {
    c.Subscribe: WindowRow((c.LOOK,), ClientConnection.subscribe),
    c.Unsubscribe: WindowRow((c.LOOK,), ClientConnection.unsubscribe),
    c.OpenNotebook: WindowRow(c.BOTH, ClientConnection.open_notebook),
    c.FileState: WindowRow(c.BOTH, ClientConnection.file_state),
    c.CloseNotebook: WindowRow((c.LOOK,), ClientConnection.close_notebook),
    c.RenameNotebook: WindowRow((c.CHANGE,), ClientConnection.rename_notebook),
    c.KernelOf: WindowRow(c.BOTH, ClientConnection.kernel_of),
    c.TakeLease: WindowRow(c.BOTH, ClientConnection.take_lease),
    c.OpReceipt: WindowRow(c.BOTH, ClientConnection.receipt),
    c.SnapshotTaken: WindowRow(c.BOTH, ClientConnection.snapshot),
    c.DraftGone: WindowRow((c.CHANGE,), ClientConnection.draft_gone),
    c.PersonActed: WindowRow(c.BOTH, ClientConnection.person_acted),
    c.DraftRun: WindowRow(c.BOTH, ClientConnection.draft_run),
    c.CodeCells: WindowRow(c.BOTH, ClientConnection.code_cells),
}
"""The commands of a window that no other front has; the others: ``session/server/service.py``."""


def permissions_of(command: c.Command) -> c.Permissions:
    if is_to_session(command):
        return COMMANDS[type(command)].needs
    return OF_WINDOWS[type(command)].needs


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
        raise CommandError("malformed", "Not a command: {why}", why=error) from None
    if abs(command.id) > MAX_ID:
        raise CommandError("malformed", "Not a command: its id is not a JavaScript number.")
    limit = MAX_SNAPSHOT if isinstance(command, (c.SnapshotTaken, c.OpReceipt)) else MAX_COMMAND
    if len(message) > limit:
        raise CommandError("too_large", "The command is larger than {limit:,} bytes.", limit=limit)
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
