"""``POST command``: the commands to conversations over REST, by the same service as a window's.

Without a window that has the notebook open, the agent works in its file and kernel.
"""

from __future__ import annotations

import msgspec

from ...base.paths import normalize
from ...run.approval.decisions import Alone
from ...wire import commands as c
from .base import Handler, converted


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


async def command(handler: Handler) -> c.SessionInfo:
    """Carry out a command as the socket has it, with ``Extras``. The answer to a message also says
    what it did (``Taken``)."""
    from ...session.messages import Sender  # see ``preload``
    from ...session.service import COMMANDS, Taken, carry_out

    given = handler.body()
    command: c.SessionCommand = converted(given, c.SessionCommand)
    extras: Extras = converted(given, Extras)
    if isinstance(command, c.SendMessage):
        command = msgspec.structs.replace(command, notebook=normalize(command.notebook))
    await handler.need(*COMMANDS[type(command)].needs)
    kernels, manager = handler.kernels, handler.manager
    sender = Sender(
        handler.by,
        headless=True,
        alone=extras.alone,
        nobody=extras.nobody,
        ready=lambda notebook: kernels.ready(notebook, extras.kernel),
    )
    sent = await carry_out(manager, command, sender)
    if sent is None:
        return manager.session(command.session_id).info
    return Taken(**msgspec.structs.asdict(sent.session.info), did=sent.did)
