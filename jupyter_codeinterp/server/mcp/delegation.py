"""``ask``: a whole turn of the agent on behalf of an outside client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Union

from ...core.errors import CommandError
from ...core.messages import Image, Message, Text, ToolResult
from .conversations import Tell, end_of_turn

if TYPE_CHECKING:
    from ..session_manager import SessionManager

MOST_IMAGES = 4
"""The latest figures of a turn that go with its answer."""
LONGEST_ANSWER = 20_000
"""Characters."""


async def ask(
    manager: SessionManager, text: str, where: dict[str, str], mode: Any, by: int, tell: Tell
) -> tuple[list[Union[Text, Image]], bool]:
    """The content of the result, and whether the turn failed. Cancelling it stops the turn.

    ``where`` has ``session_id``, or the ``notebook`` of a new conversation. Raises CommandError
    and StoreError as ``SessionService.send``, and CommandError ``busy``.
    """
    if where.get("session_id") and manager.session(where["session_id"]).running:
        raise CommandError("busy", "A turn is running in this conversation. Try again later.")
    given: dict[str, Any] = dict(where)
    session = manager.service.send(text, **given, mode=mode, by=by, headless=True).session
    session_id, store = session.info.session_id, manager.store
    before = store.count_messages(session_id)
    try:
        ended = await end_of_turn(session, session.event_log.last_seq, tell)
    except asyncio.CancelledError:
        with suppress(CommandError):  # Somebody has deleted it.
            manager.service.stop(session_id, by)
        raise
    messages = store.all_messages(session_id)[before:]
    facts = [f"conversation: {session_id}"]
    for name in ("added", "edited", "removed", "run_again", "failed"):
        cells = getattr(ended, name)
        if cells:
            facts.append(f"{name.replace('_', ' ')} cells: {', '.join(cells)}")
    said = _answer(messages)[:LONGEST_ANSWER]
    words = "\n\n".join(part for part in (said, ended.message, "\n".join(facts)) if part)
    return [Text(words), *_figures(messages)[-MOST_IMAGES:]], ended.stop_reason != "end_turn"


def _answer(messages: Iterable[Message]) -> str:
    """The texts of the model's last message."""
    replies = [message for message in messages if message.role == "assistant"]
    last = replies[-1].content if replies else ()
    return "\n".join(block.text for block in last if isinstance(block, Text))


def _figures(messages: Iterable[Message]) -> list[Image]:
    results = (b for message in messages for b in message.content if isinstance(b, ToolResult))
    return [part for result in results for part in result.content if isinstance(part, Image)]
