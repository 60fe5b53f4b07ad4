"""Ask the person a question."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Union

import msgspec

from ...events import Event, QuestionAnswered, QuestionAsked
from ...messages import ToolUse
from ..shared.base import STRING, Tool
from ..shared.drafting import Drafting


class AskUser(msgspec.Struct, frozen=True):
    question: str
    options: Union[tuple[str, ...], None] = None


async def _work(drafting: Drafting, call: ToolUse, arguments: AskUser) -> AsyncIterator[Event]:
    turn, step = drafting.turn, drafting.step
    yield QuestionAsked(call.id, arguments.question, arguments.options or ())
    answer = await turn.clock.attend(turn.decisions.question(call.id))
    yield QuestionAnswered(call.id, answer.text, answer.window)
    words = f"The person answered: {answer.text}"
    step.results[call.id] = turn.results.make(call, "ok", words, title=step.title(call))


ASK_USER = Tool(
    "ask_user",
    "Ask a question",
    "Ask the person.",
    AskUser,
    {"question": STRING, "options": {"type": "array", "items": STRING}},
    ("question",),
    effect="asks",
    work=_work,
)
