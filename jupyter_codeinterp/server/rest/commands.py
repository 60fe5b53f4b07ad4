"""The commands to conversations over REST, through the same service as a window's.

``POST command`` takes any of them, as the socket does. The routes under ``sessions/ID`` are short
forms: the address names the command and the conversation. Without a window that has the notebook
open, the agent works in its file and kernel.
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec

from ...base.errors import CommandError
from ...base.paths import normalize
from ...extensions import Route
from ...run.approval.decisions import Alone
from ...wire import commands as c
from .base import Handler, converted

ID = r"([0-9a-f]{32})"
NUMBER = r"([0-9]{1,15})"


class ShortForm(NamedTuple):
    """A route of one command. ``about`` describes it in docs/openapi.json. ``part``: the field
    that the address' number gives."""

    method: str
    path: str
    command: type[c.SessionCommand]
    about: str
    status: int = HTTPStatus.OK
    part: str = ""


SHORT_FORMS = (
    ShortForm(
        "POST",
        "messages",
        c.SendMessage,
        "Start a turn, or send a message to the running one.",
        HTTPStatus.ACCEPTED,
    ),
    ShortForm(
        "POST",
        "branches",
        c.Branch,
        "Replace an earlier message, in a new conversation that begins with the turns before it.",
        HTTPStatus.CREATED,
    ),
    ShortForm(
        "DELETE", rf"queued/{NUMBER}", c.TakeBack, "Withdraw a queued message.", part="number"
    ),
    ShortForm("POST", "decisions", c.Decide, "Decide on a draft."),
    ShortForm("POST", "answers", c.Answer, "Answer a question of the agent."),
    ShortForm("POST", "stop", c.Cancel, "Stop the running turn."),
    ShortForm("POST", "retry", c.Retry, "Repeat the turn after an error.", HTTPStatus.ACCEPTED),
    ShortForm("PUT", "mode", c.SetMode, "Set the mode from the next decision on."),
    ShortForm(
        "PUT",
        "model",
        c.SetModel,
        "Set the model from the next turn on, which begins with a summary.",
    ),
    ShortForm(
        "POST",
        "files",
        c.KeepFiles,
        "Copy waiting files into the notebook's folder, or discard them.",
    ),
    ShortForm(
        "POST",
        rf"turns/{NUMBER}/undo",
        c.UndoTurn,
        "Undo a turn's changes.",
        part="turn",
    ),
    ShortForm(
        "POST",
        rf"turns/{NUMBER}/redo",
        c.RedoTurn,
        "Redo a turn's undone changes.",
        part="turn",
    ),
)


class Extras(msgspec.Struct, frozen=True):
    """Fields that a client without a notebook adds to a command.

    ``kernel``: the kernelspec to start if a turn begins and the notebook has no kernel; "": the
    notebook's own. ``alone``: in a turn that begins nobody can be asked, and the client allows
    running code (``run``), changing cells (``edits``) or ``all``; the model reads it. ``nobody``:
    a program rejects a draft or answers a question, because it has nobody to ask; the model reads
    that, too.
    """

    kernel: str = ""
    alone: Alone = ""
    nobody: bool = False


EXTRAS: dict[type[c.SessionCommand], tuple[str, ...]] = {
    c.SendMessage: ("kernel", "alone"),
    c.Branch: ("kernel",),
    c.Retry: ("kernel",),
    c.Decide: ("nobody",),
    c.Answer: ("nobody",),
}


def fields_of(form: ShortForm) -> set[str]:
    """The names that a short form's body may have."""
    fields = {field.name for field in msgspec.structs.fields(form.command)}
    return (fields | {*EXTRAS.get(form.command, ())}) - {"id", "session_id", "notebook", form.part}


async def command(handler: Handler) -> msgspec.Struct:
    """Carry out a command as the socket has it, with ``Extras``."""
    given = handler.body()
    command: c.SessionCommand = converted(given, c.SessionCommand)
    if isinstance(command, c.SendMessage):
        command = msgspec.structs.replace(command, notebook=normalize(command.notebook))
    return await _carry_out(handler, command, converted(given, Extras))


async def _short(form: ShortForm, handler: Handler, session_id: str, part: str = "") -> Any:
    from ...session.service import COMMANDS  # see ``preload``

    needs = COMMANDS[form.command].needs
    await handler.need(*needs)
    given = handler.body()
    if unknown := given.keys() - fields_of(form):
        words = "Not the expected JSON object: it has an unknown field {name}"
        raise CommandError("malformed", words, name=min(unknown))
    extras = converted(given, Extras)
    given.update(session_id=session_id, **({form.part: int(part)} if form.part else {}))
    if form.command is c.SendMessage:
        given["notebook"] = ""
    return await _carry_out(handler, converted(given, form.command), extras, needs)


async def _carry_out(
    handler: Handler, command: c.SessionCommand, extras: Extras, has: c.Permissions = ()
) -> msgspec.Struct:
    """``has``: permissions that were checked."""
    from ...session.messages import Sender
    from ...session.service import COMMANDS, Sent, Taken, carry_out

    await handler.need(*(one for one in COMMANDS[type(command)].needs if one not in has))
    kernels, manager = handler.kernels, handler.manager
    sender = Sender(
        handler.by,
        headless=True,
        alone=extras.alone,
        nobody=extras.nobody,
        ready=lambda notebook: kernels.ready(notebook, extras.kernel),
    )
    answer = await carry_out(manager, command, sender)
    if answer is None:
        return manager.session(command.session_id).info
    if not isinstance(answer, Sent):
        return answer
    info = answer.session.info
    if COMMANDS[type(command)].answer is Taken:
        return Taken(**msgspec.structs.asdict(info), did=answer.did)
    return info


def short_routes() -> list[Route]:
    return [
        Route(form.method, f"sessions/{ID}/{form.path}", (), partial(_short, form), form.status)
        for form in SHORT_FORMS
    ]
