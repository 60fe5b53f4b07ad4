"""A client's actions in a conversation, through the same service as a window's.

Without a window that has the notebook open, the agent works in its file and kernel.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal, Union

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.approval.decisions import Alone
from ...core.session.messages import Does
from ...core.wire.commands import SessionInfo
from ...core.wire.events import Mode, Reference
from .base import Handler, Nothing


class _Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class NewMessage(_Body, frozen=True):
    """A message.

    ``mode``, ``model``: take effect if a turn begins; "" keeps the model. ``about``: see the
    answer's ``did``. ``after``: the cell after which new cells go. ``references``: at most 20
    variables, files or cells that the message names. ``with_key``: send ``text`` even if it looks
    like a key; else it is refused. ``alone``: in a turn that begins nobody can be asked, and the
    client allows running code (``run``), changing cells (``edits``) or ``all``. The model reads it.
    """

    text: str
    mode: Mode = "review"
    model: str = ""
    kernel: str = ""
    about: str = ""
    source: Union[str, None] = None
    after: str = ""
    references: tuple[Reference, ...] = ()
    with_key: bool = False
    alone: Alone = ""


class NewBranch(_Body, frozen=True):
    """A branch: ``text`` replaces the message that began ``turn``.

    ``undo``: first undo the changes of that turn and later ones. Other fields as in a message.
    """

    turn: int
    text: str
    undo: bool = False
    mode: Mode = "review"
    model: str = ""
    kernel: str = ""
    references: tuple[Reference, ...] = ()
    with_key: bool = False


class Taken(SessionInfo, frozen=True):
    """The conversation, and in ``did`` the message's effect.

    ``begin``: began a turn. ``queue``: queued, because a turn is running. ``answer``: answered
    the question with the ``call_id`` in ``about``. ``discuss``: sent to the model, while the
    draft with the ``nonce`` in ``about``, whose cell holds ``source``, goes on waiting.
    """

    did: Does = "begin"


class Decision(_Body, frozen=True):
    """A decision on the draft of a ``draft_waiting`` event.

    ``source``: exactly the code to run. ``run_all``: use Auto for the rest of the turn.
    ``reason``: for a rejection. ``nobody``: a program rejects it, because it has nobody to
    ask, and the model reads that.
    """

    draft_id: str
    nonce: str
    action: Literal["run", "reject"]
    source: str = ""
    run_all: bool = False
    reason: str = ""
    nobody: bool = False


class Answered(_Body, frozen=True):
    """The answer to the question of an ``asked`` event."""

    call_id: str
    text: str


class Retried(_Body, frozen=True):
    kernel: str = ""


class ModeSet(_Body, frozen=True):
    mode: Mode


class ModelSet(_Body, frozen=True):
    model: str


class Look(_Body, frozen=True):
    """``model`` checks the answer; "" for the admin's choice, or else the conversation's model."""

    model: str = ""


class Undone(_Body, frozen=True):
    """``cells``: ids; none: all cells neither undone nor kept yet. ``files``: also put back the
    files that wait in the overlay of a sandboxed kernel; this needs the right to run code."""

    cells: tuple[str, ...] = ()
    files: bool = False


class FilesChosen(_Body, frozen=True):
    """``stamps``: paths of files to copy from the overlay into the folder, or to ``discard``, each
    with the stamp of the list."""

    stamps: dict[str, str]
    discard: bool = False


class Redone(_Body, frozen=True):
    """``cells``: ids; none: all cells that can be redone. ``files``: also bring back the files of
    an overlay that an undo took back; this needs the right to run code."""

    cells: tuple[str, ...] = ()
    files: bool = False


class TurnHandler(Handler):
    def answer_session(self, session_id: str, status: int = HTTPStatus.OK) -> None:
        """Answer with the conversation."""
        self.set_status(status)
        self.answer(self.manager.session(session_id).info)

    async def kernel_ready(self, session_id: str, kernel: str) -> None:
        await self.kernels.ready(self.manager.session(session_id).info.notebook, kernel)


class MessagesHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        given, service = self.given(NewMessage), self.manager.service
        does = service.would_send(
            session_id, given.text, given.about, given.references, given.with_key
        )
        if does == "begin":
            await self.kernel_ready(session_id, given.kernel)
        session, did = service.send(
            given.text,
            session_id=session_id,
            mode=given.mode,
            model=given.model,
            about=given.about,
            source=given.source,
            after=given.after,
            references=given.references,
            with_key=given.with_key,
            by=self.by,
            headless=True,
            alone=given.alone,
        )
        self.set_status(HTTPStatus.ACCEPTED)
        self.answer(Taken(**msgspec.structs.asdict(session.info), did=did))


class BranchesHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        """Answer with the new conversation."""
        given = self.given(NewBranch)
        branch = await self.manager.service.branch(
            session_id,
            given.turn,
            given.text,
            undo=given.undo,
            mode=given.mode,
            model=given.model,
            references=given.references,
            with_key=given.with_key,
            by=self.by,
            headless=True,
            ready=lambda: self.kernel_ready(session_id, given.kernel),
        )
        self.set_status(HTTPStatus.CREATED)
        self.answer(branch.info)


class QueuedHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self, session_id: str, number: str) -> None:
        self.manager.service.take_back(session_id, int(number), self.by)
        self.answer_session(session_id)


class RetryHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        given = self.given(Retried)
        self.manager.service.need_retry(session_id)
        await self.kernel_ready(session_id, given.kernel)
        self.manager.service.retry(session_id, self.by, headless=True)
        self.answer_session(session_id, HTTPStatus.ACCEPTED)


class DecisionsHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        given = self.given(Decision)
        self.manager.service.decide(session_id, **msgspec.structs.asdict(given), by=self.by)
        self.answer_session(session_id)


class AnswersHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self, session_id: str) -> None:
        given = self.given(Answered)
        self.manager.service.answer(session_id, given.call_id, given.text, self.by)
        self.answer_session(session_id)


class StopHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self, session_id: str) -> None:
        self.given(Nothing)
        self.manager.service.stop(session_id, self.by)
        self.answer_session(session_id)


class ModeHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def put(self, session_id: str) -> None:
        given = self.given(ModeSet)
        self.manager.service.set_mode(session_id, given.mode, self.by)
        self.answer_session(session_id)


class ModelHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def put(self, session_id: str) -> None:
        given = self.given(ModelSet)
        self.manager.service.set_model(session_id, given.model, self.by)
        self.answer_session(session_id)


class LookHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self, session_id: str) -> None:
        """Answer after the event ``looked``."""
        given = self.given(Look)
        await self.manager.service.look(session_id, given.model, self.by)
        self.answer_session(session_id)


class UndoHandler(TurnHandler):
    @web.authenticated
    @authorized("write")
    async def post(self, session_id: str, turn: str) -> None:
        given = self.given(Undone)
        if given.files and not await self.may("execute", "kernels"):
            raise web.HTTPError(HTTPStatus.FORBIDDEN)
        await self.manager.service.undo(
            session_id, int(turn), given.cells, self.by, files=given.files, headless=True
        )
        self.answer_session(session_id)


class RedoHandler(TurnHandler):
    @web.authenticated
    @authorized("write")
    async def post(self, session_id: str, turn: str) -> None:
        given = self.given(Redone)
        if given.files and not await self.may("execute", "kernels"):
            raise web.HTTPError(HTTPStatus.FORBIDDEN)
        await self.manager.service.redo(
            session_id, int(turn), given.cells, self.by, files=given.files, headless=True
        )
        self.answer_session(session_id)


class FilesHandler(TurnHandler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str) -> None:
        """Answer with the files that wait in the kernel's overlay."""
        self.answer(await self.manager.service.waiting_files(session_id))

    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        """The event ``files_kept`` has the result."""
        given = self.given(FilesChosen)
        await self.manager.service.keep_files(session_id, given.stamps, given.discard, self.by)
        self.answer_session(session_id)


class FileTextHandler(TurnHandler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str) -> None:
        path = self.get_query_argument("path", "", strip=False)
        self.answer(await self.manager.service.waiting_text(session_id, path))
