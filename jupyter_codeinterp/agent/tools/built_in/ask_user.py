"""Ask the person a question."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ....base.sentences import Sentence
from ....wire.events import QuestionAnswered, QuestionAsked
from ....wire.messages import ToolUse
from ..shared.base import Tool
from ..shared.step import Step, title_for


class AskUser(msgspec.Struct, frozen=True, kw_only=True):
    question: str
    options: Annotated[tuple[str, ...], Meta(description="Answers to choose from.")] = ()


async def _work(step: Step, call: ToolUse, given: AskUser) -> None:
    turn = step.turn
    turn.show(QuestionAsked(call.id, given.question, given.options))
    answer = await turn.clock.attend(turn.decisions.question(call.id))
    turn.show(QuestionAnswered(call.id, answer.text, answer.window))
    words = answer.text if answer.nobody else f"The person answered: {answer.text}"
    step.results[call.id] = turn.results.make(call, "ok", words, title=title_for(step, call))


ASK_USER = Tool(
    "ask_user",
    Sentence("Ask a question"),
    "Ask the person and wait for the answer, if you cannot go on without it.",
    AskUser,
    effect="asks",
    work=_work,
)
