"""Lists, renames, deletes and exports conversations, and carries out commands to them."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import msgspec

from ...base.errors import CommandError
from ...base.paths import normalize
from ...journal.changes import Review
from ...run.approval.decisions import Alone
from ...wire import commands as c
from ...wire.commands import SessionInfo
from ...wire.events import with_strings
from .base import Handler, converted

if TYPE_CHECKING:
    from ...session.waiting_files import WaitingList, WaitingText

MAX_NAME = 60
"""Characters of an exported file's name, without suffix."""


async def listed(handler: Handler) -> dict[str, list[SessionInfo]]:
    """Those about ``notebook``, if given, whose title contains ``q``."""
    notebook = normalize(handler.get_query_argument("notebook", "")) or None
    word = handler.get_query_argument("q", "").casefold()
    every = handler.manager.list(notebook)
    return {"sessions": [info for info in every if word in info.title.casefold()]}


async def rename(handler: Handler, session_id: str) -> SessionInfo:
    title = handler.text(handler.body(), "title")
    session = handler.manager.session(session_id)
    session.rename(title, handler.by)
    return session.info


async def delete(handler: Handler, session_id: str) -> None:
    await handler.manager.delete(session_id)


async def export(handler: Handler, session_id: str) -> None:
    # Not at the server's start.
    from ...journal.exports import markdown, pictures

    manager = handler.manager
    session = manager.session(session_id)
    events = [event for _, event in manager.store.events(session_id)]
    info, scrub = session.info, manager.rules.scrub
    drawn = await pictures(manager.store, session_id)
    text = await asyncio.to_thread(lambda: scrub(markdown(info, events, drawn)))
    handler.set_attachment_header(f"{_file_name(info.title)}.md")
    handler.finish(text, set_content_type="text/markdown; charset=utf-8")


def _file_name(title: str) -> str:
    """The title's letters and digits, in any language: a valid file name on every system."""
    words = "-".join(re.findall(r"\w+", title))[:MAX_NAME].strip("-")
    return words or "conversation"


async def changes(handler: Handler, session_id: str, turn: str) -> Review:
    return handler.manager.session(session_id).reviews.review(int(turn))


async def sent(handler: Handler, session_id: str, step: str) -> dict[str, Any]:
    handler.manager.session(session_id)
    request = handler.manager.store.request(session_id, int(step))
    if request is None:
        raise CommandError("unknown_step", "This step does not exist.")
    return request


async def waiting_files(handler: Handler, session_id: str) -> WaitingList:
    """The files that wait in the kernel's overlay."""
    return await handler.manager.session(session_id).waiting_files.list()


async def waiting_text(handler: Handler, session_id: str) -> WaitingText:
    path = handler.get_query_argument("path", "", strip=False)
    return await handler.manager.session(session_id).waiting_files.text(path)


async def events(handler: Handler, session_id: str) -> dict[str, Any]:
    """The events after number ``after``."""
    after = handler.get_query_argument("after", "0")
    if not re.fullmatch(r"[0-9]{1,15}", after):
        raise CommandError("malformed", "“after” must be a number.")
    found = handler.manager.session(session_id).event_log.journaled(int(after))
    return {
        "events": [
            {"seq": seq, "event": msgspec.Raw(with_strings(event, handler.words))}
            for seq, event in found
        ]
    }


# -------------------------------------------------------------------------------------------------
# ``POST command``: the commands to conversations, by the same service as a window's. Without a
# window that has the notebook open, the agent works in its file and kernel.


class Extras(msgspec.Struct, frozen=True):
    """Fields that a client without a notebook adds to a command.

    ``alone``: in a turn that begins nobody can be asked, and the client allows running code
    (``run``), changing cells (``edits``) or ``all``; the model reads it. ``nobody``: a program
    rejects a draft or answers a question, because it has nobody to ask; the model reads that, too.
    """

    alone: Alone = ""
    nobody: bool = False


async def command(handler: Handler) -> SessionInfo:
    """Carry out a command as the socket has it, with ``Extras``. The answer to a message also says
    what it did (``Taken``)."""
    from ...session.messages import Sender  # see ``preload``
    from ...session.server.service import COMMANDS, Taken, carry_out

    given = handler.body()
    command: c.SessionCommand = converted(given, c.SessionCommand)
    extras: Extras = converted(given, Extras)
    if isinstance(command, c.SendMessage):
        command = msgspec.structs.replace(command, notebook=normalize(command.notebook))
    await handler.need(*COMMANDS[type(command)].needs)
    sender = Sender(
        handler.by,
        headless=True,
        alone=extras.alone,
        nobody=extras.nobody,
        ready=handler.bench.notebook_kernels.ready,
    )
    sent = await carry_out(handler.manager, command, sender)
    if sent is None:
        return handler.manager.session(command.session_id).info
    return Taken(**msgspec.structs.asdict(sent.session.info), did=sent.did)
