"""What fronts do with conversations, and the table of the commands that they send.

The windows' socket, REST, other agents (MCP) and the command line all call this module. A function
that takes a command carries it out, as the command's docstring says.

Every function raises CommandError ``unknown_session``, and StoreError if the journal fails; those
that change a conversation also CommandError ``held_elsewhere``. Docstrings list further codes of
CommandError.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeGuard

from ...base.errors import CodeInterpError, CommandError
from ...base.sentences import Sentence
from ...wire import commands as c
from ...wire.events import Kept
from ..messages import Does, Sender, checked, need_short
from ..session import NO_LONGER, Session
from .manager import SessionManager


class Sent(NamedTuple):
    session: Session
    did: Does


class Taken(c.SessionInfo, frozen=True):
    """The conversation, and in ``did`` the message's effect.

    ``begin``: began a turn. ``queue``: queued, because a turn is running. ``answer``: answered
    the question with the ``call_id`` in ``about``.
    """

    did: Does = "begin"


async def carry_out(
    sessions: SessionManager, command: c.SessionCommand, sender: Sender
) -> Sent | None:
    """Carry out any command. The result of one that sends a message is where it went."""
    return await COMMANDS[type(command)].method(sessions, command, sender)


# --- a turn ----------------------------------------------------------------------


async def send(sessions: SessionManager, command: c.SendMessage, sender: Sender) -> Sent:
    """CommandError ``too_long``, ``looks_like_key``, ``too_many_references``,
    ``empty_message``, ``no_notebook``, ``busy``, ``no_longer_waits``, ``too_many_queued``."""
    words, references = checked(
        command.text, command.references, command.with_key, sessions.rules.scrub
    )
    if command.session_id:
        session = _here(sessions, command.session_id)
        if session.would(command.text, command.about) == "begin":
            session = await _prepared(sessions, command.session_id, sender)
    elif not command.text.strip():
        raise CommandError("empty_message", "The message is empty.")
    elif command.about:
        raise CommandError("no_longer_waits", NO_LONGER)
    elif command.notebook:
        await sender.prepare(command.notebook)
        session = sessions.new_session(command.notebook, command.mode, command.model)
    else:
        raise CommandError("no_notebook", "Open a notebook first.")
    did = session.send(
        words,
        command.mode,
        command.model,
        sender.number,
        about=command.about,
        after=command.after,
        references=references,
        rule_files=command.rule_files,
        alone=sender.alone,
    )
    if did == "begin" and sender.headless:
        session.workplace.expect_no_window()
    return Sent(session, did)


async def branch(sessions: SessionManager, command: c.Branch, sender: Sender) -> Sent:
    """The new conversation notes what ``undo`` could not restore. An error leaves none.

    CommandError ``too_long``, ``looks_like_key``, ``too_many_references``,
    ``empty_message``, ``busy``, ``unknown_turn``; DocumentError ``not_open``.
    """
    words, references = checked(
        command.text, command.references, command.with_key, sessions.rules.scrub
    )
    if not command.text.strip():
        raise CommandError("empty_message", "The message is empty.")
    beginning = _here(sessions, command.session_id).reviews.beginning(command.turn)
    session = await _prepared(sessions, command.session_id, sender)
    kept: tuple[Kept, ...] = ()
    if command.undo:
        if sender.headless:
            session.workplace.expect_no_window()
        kept = await session.reviews.undo_since(command.turn, sender.number)
    new = sessions.new_branch(session.info, command.turn, beginning)
    try:
        if kept:
            new.note(Sentence(NOT_PUT_BACK, count=len(kept)))
        did = new.send(
            words,
            command.mode,
            command.model or session.info.model,
            sender.number,
            references=references,
            rule_files=command.rule_files,
        )
    except CodeInterpError:
        await sessions.delete(new.info.session_id)
        raise
    if sender.headless:
        new.workplace.expect_no_window()
    return Sent(new, did)


async def take_back(sessions: SessionManager, command: c.TakeBack, sender: Sender) -> None:
    """CommandError ``not_queued``."""
    _here(sessions, command.session_id).queue.take_back(command.number, sender.number)


async def retry(sessions: SessionManager, command: c.Retry, sender: Sender) -> None:
    """CommandError ``busy``, ``nothing_to_retry``."""
    _here(sessions, command.session_id).need_retry()
    session = await _prepared(sessions, command.session_id, sender)
    session.retry(sender.number)
    if sender.headless:
        session.workplace.expect_no_window()


async def stop(sessions: SessionManager, command: c.Cancel, sender: Sender) -> None:
    """Stop the running turn, if any."""
    _here(sessions, command.session_id).task.cancel(sender.number)


# --- decisions and settings ------------------------------------------------------


async def decide(sessions: SessionManager, command: c.Decide, sender: Sender) -> None:
    """CommandError ``too_long``, and as in ``Decisions.decide``."""
    need_short(command.reason)
    session = _here(sessions, command.session_id)
    notebook = session.info.notebook
    draft = session.decisions.decide(
        command.draft_id,
        command.nonce,
        command.action,
        command.source,
        command.run_all,
        sender.number,
        said=sessions.rules.scrub(command.reason.strip()),
        person=sessions.person(notebook, sender.number),
        nobody=sender.nobody,
    )
    to_all = command.run_all and command.action == "run"
    what: c.Doing = "run_all" if to_all else command.action
    sessions.tell_others(c.DoneElsewhere(sender.number, what, draft.title, notebook))


async def answer(sessions: SessionManager, command: c.Answer, sender: Sender) -> None:
    """CommandError ``too_long``, and as in ``Decisions.answer``."""
    need_short(command.text)
    words = sessions.rules.scrub(command.text)
    decisions = _here(sessions, command.session_id).decisions
    decisions.answer(command.call_id, words, sender.number, nobody=sender.nobody)


async def set_mode(sessions: SessionManager, command: c.SetMode, sender: Sender) -> None:
    """Set the mode from the next decision on."""
    sessions.session(command.session_id).set_mode(command.mode, sender.number)


async def set_model(sessions: SessionManager, command: c.SetModel, sender: Sender) -> None:
    """CommandError ``busy``."""
    sessions.session(command.session_id).set_model(command.model, sender.number)


# --- what was done ---------------------------------------------------------------


async def undo(sessions: SessionManager, command: c.UndoTurn, sender: Sender) -> None:
    """As ``Reviews.undo``."""
    session = sessions.session(command.session_id)
    if sender.headless:
        session.workplace.expect_no_window()
    await session.reviews.undo(command.turn, command.cells, sender.number)


async def redo(sessions: SessionManager, command: c.RedoTurn, sender: Sender) -> None:
    """As ``Reviews.redo``."""
    session = sessions.session(command.session_id)
    if sender.headless:
        session.workplace.expect_no_window()
    await session.reviews.redo(command.turn, command.cells, sender.number)


async def keep(sessions: SessionManager, command: c.KeepChanges, sender: Sender) -> None:
    """As ``Reviews.keep``."""
    reviews = sessions.session(command.session_id).reviews
    reviews.keep(command.turn, command.cells, sender.number)


async def keep_files(sessions: SessionManager, command: c.KeepFiles, sender: Sender) -> None:
    """As ``WaitingFiles.keep``."""
    files = sessions.session(command.session_id).waiting_files
    await files.keep(command.stamps, sender.number, discard=command.discard)


def _here(sessions: SessionManager, session_id: str) -> Session:
    session = sessions.session(session_id)
    session.log.need_here()
    return session


async def _prepared(sessions: SessionManager, session_id: str, sender: Sender) -> Session:
    """The conversation, once its notebook has a kernel. That may take seconds, in which an unused
    conversation leaves the memory, so it is looked up again."""
    await sender.prepare(_here(sessions, session_id).info.notebook)
    return _here(sessions, session_id)


NOT_PUT_BACK = Sentence(
    "Cells that were not restored: {count}. The end of the turn in the earlier conversation gives "
    "the reasons."
)


# -------------------------------------------------------------------------------------------------
# The commands to conversations. Those about a window's notebooks: ``server/socket/connection.py``.


class CommandRow(NamedTuple):
    """How to carry out one type of command. ``waits``: for receipts, which arrive over the same
    socket, for a model, or for a disk."""

    needs: c.Permissions
    method: Callable[[SessionManager, Any, Sender], Awaitable[Sent | None]]
    waits: bool = False


COMMANDS: dict[type[Any], CommandRow] = {
    c.SendMessage: CommandRow(c.BOTH, send),
    c.Branch: CommandRow(c.BOTH, branch, waits=True),
    c.TakeBack: CommandRow((c.EXECUTE,), take_back),
    c.Decide: CommandRow(c.BOTH, decide),
    c.Answer: CommandRow((c.EXECUTE,), answer),
    c.Cancel: CommandRow((c.EXECUTE,), stop),
    c.Retry: CommandRow(c.BOTH, retry),
    c.SetMode: CommandRow((c.EXECUTE,), set_mode),
    c.SetModel: CommandRow((c.EXECUTE,), set_model),
    c.UndoTurn: CommandRow((c.CHANGE,), undo, waits=True),
    c.RedoTurn: CommandRow((c.CHANGE,), redo, waits=True),
    c.KeepChanges: CommandRow((c.CHANGE,), keep),
    c.KeepFiles: CommandRow(c.BOTH, keep_files, waits=True),
}


def is_to_session(command: c.Command) -> TypeGuard[c.SessionCommand]:
    return type(command) in COMMANDS
