"""What a client does with a conversation: the same as a window, by the same service.

Each names its client (``X-Codeinterp-Window``). Where no window has the notebook open, the work
is done in its file, in the kernel that it has or gets.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal, Union

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.commands import SessionInfo
from ...core.events import Mode, Reference
from ...core.session.enter import Does
from .base import Handler, Nothing


class _Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class NewMessage(_Body, frozen=True):
    """``mode`` and ``model``: from now on, where a turn begins; "" leaves the model as it is.
    ``about`` as in the answer's ``did``. ``after``: the cell after which new ones are to go.
    ``references``: what the message names, at most 20."""

    text: str
    mode: Mode = "review"
    model: str = ""
    kernel: str = ""
    about: str = ""
    source: Union[str, None] = None
    after: str = ""
    references: tuple[Reference, ...] = ()


class NewBranch(_Body, frozen=True):
    """``text`` stands in the place of the message that began ``turn``. ``undo``: what that turn
    and those after it changed is put back first. The rest as of a message."""

    turn: int
    text: str
    undo: bool = False
    mode: Mode = "review"
    model: str = ""
    kernel: str = ""
    references: tuple[Reference, ...] = ()


class Taken(SessionInfo, frozen=True):
    """``did``: the message has begun a turn (``begin``), or, as one is running, is queued
    (``queue``), has answered the question whose ``call_id`` it was about (``answer``), or has
    rejected the draft whose ``nonce`` it was about and whose cell holds ``source``
    (``reject``)."""

    did: Does = "begin"


class Decision(_Body, frozen=True):
    """On the draft of a ``draft_waiting`` event; ``source`` is all that is to run, byte for
    byte. ``run_all`` switches the rest of the turn to Auto; ``reason``: why it is rejected."""

    draft_id: str
    nonce: str
    action: Literal["run", "reject"]
    source: str = ""
    run_all: bool = False
    reason: str = ""


class Answered(_Body, frozen=True):
    """To the question of an ``asked`` event."""

    call_id: str
    text: str


class Retried(_Body, frozen=True):
    kernel: str = ""


class ModeSet(_Body, frozen=True):
    mode: Mode


class ModelSet(_Body, frozen=True):
    model: str


class Undone(_Body, frozen=True):
    """``cells`` are ids; with none it is all that are neither put back nor kept yet."""

    cells: tuple[str, ...] = ()


class TurnHandler(Handler):
    def told(self, session_id: str, status: int = HTTPStatus.OK) -> None:
        """Answers with the conversation as it is now."""
        self.set_status(status)
        self.answer(self.manager.session(session_id).info)

    async def kernel_ready(self, session_id: str, kernel: str) -> None:
        await self.kernels.ready(self.manager.session(session_id).info.notebook, kernel)


class MessagesHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        by, given = self.window(), self.given(NewMessage)
        await self.kernel_ready(session_id, given.kernel)
        session, did = self.manager.service.send(
            given.text,
            session_id=session_id,
            mode=given.mode,
            model=given.model,
            about=given.about,
            source=given.source,
            after=given.after,
            references=given.references,
            by=by,
            headless=True,
        )
        self.set_status(HTTPStatus.ACCEPTED)
        self.answer(Taken(**msgspec.structs.asdict(session.info), did=did))


class BranchesHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        """Answers with the new conversation."""
        by, given = self.window(), self.given(NewBranch)
        await self.kernel_ready(session_id, given.kernel)
        branch = await self.manager.service.branch(
            session_id,
            given.turn,
            given.text,
            undo=given.undo,
            mode=given.mode,
            model=given.model,
            references=given.references,
            by=by,
            headless=True,
        )
        self.set_status(HTTPStatus.CREATED)
        self.answer(branch.info)


class QueuedHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self, session_id: str, number: str) -> None:
        self.window()
        self.manager.service.take_back(session_id, int(number))
        self.told(session_id)


class RetryHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        by, given = self.window(), self.given(Retried)
        await self.kernel_ready(session_id, given.kernel)
        self.manager.service.retry(session_id, by, headless=True)
        self.told(session_id, HTTPStatus.ACCEPTED)


class DecisionsHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        by, given = self.window(), self.given(Decision)
        self.manager.service.decide(session_id, **msgspec.structs.asdict(given), by=by)
        self.told(session_id)


class AnswersHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self, session_id: str) -> None:
        self.window()
        given = self.given(Answered)
        self.manager.service.answer(session_id, given.call_id, given.text)
        self.told(session_id)


class StopHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self, session_id: str) -> None:
        self.window()
        self.given(Nothing)
        self.manager.service.stop(session_id)
        self.told(session_id)


class ModeHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def put(self, session_id: str) -> None:
        by, given = self.window(), self.given(ModeSet)
        self.manager.service.set_mode(session_id, given.mode, by)
        self.told(session_id)


class ModelHandler(TurnHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def put(self, session_id: str) -> None:
        by, given = self.window(), self.given(ModelSet)
        self.manager.service.set_model(session_id, given.model, by)
        self.told(session_id)


class UndoHandler(TurnHandler):
    @web.authenticated
    @authorized("write")
    async def post(self, session_id: str, turn: str) -> None:
        self.window()
        given = self.given(Undone)
        await self.manager.service.undo(session_id, int(turn), given.cells, headless=True)
        self.told(session_id)
