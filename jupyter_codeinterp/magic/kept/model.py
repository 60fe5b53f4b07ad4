"""A kept answer as a model: the conversation, checks and limits treat it like any other."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime

from ...core.messages import Message, Text, ToolResult, ToolUse, Usage, assistant
from ...core.ports import (
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    ModelText,
    ModelToolInput,
)
from .answer import Answer, Part

KEPT = "Kept answer of {taken}; no model was asked. %%ai --again asks it again."
FAILED = "The kept code did not run to its end. `%%ai --again` asks the model again."


class KeptModel:
    """One turn's model. ``failed``: a cell did not run to its end, so the rest was left out."""

    always_ask = False

    def __init__(self, answer: Answer) -> None:
        self._steps = _steps(answer.parts)
        self._reviewed = {part.text for part in answer.parts if part.reviewed}
        self.failed = False
        taken = datetime.fromtimestamp(answer.time)
        self.words = KEPT.format(taken=f"{taken:%Y-%m-%d %H:%M}")

    def approved(self, source: str) -> bool:
        """Whether the person decided on exactly this code, for this prompt."""
        return source in self._reviewed

    async def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, "Kept answer", 200_000, prices=(0.0, 0.0, 0.0, 0.0))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.failed = _has_failed(request.messages[-1])
        step = self._steps.pop(0) if self._steps and not self.failed else [Part("text", FAILED)]
        blocks: list[Text | ToolUse] = []
        for part in step:
            if part.kind == "text":
                blocks.append(Text(part.text))
                yield ModelText(len(blocks) - 1, part.text)
            else:
                given = {"title": part.title, "source": part.text}
                blocks.append(ToolUse(f"toolu_{uuid.uuid4().hex}", "run_cell", given))
                yield ModelToolInput(len(blocks) - 1, blocks[-1].id, "run_cell", given)  # type: ignore[union-attr]
        calls = any(part.kind == "code" for part in step)
        yield ModelDone(assistant(*blocks), "tool_use" if calls else "end_turn", Usage())


def _steps(parts: Sequence[Part]) -> list[list[Part]]:
    """Each step ends with a cell; the last one has texts only."""
    steps: list[list[Part]] = [[]]
    for part in parts:
        steps[-1].append(part)
        if part.kind == "code":
            steps.append([])
    return steps if steps[-1] else [*steps[:-1], [Part("text", "Done.")]]


def _has_failed(message: Message) -> bool:
    return any(isinstance(block, ToolResult) and block.is_error for block in message.content)
