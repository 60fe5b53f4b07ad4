"""The kept answer of one prompt: finds it, and keeps a new one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ...core.events import Event
from ..asking.options import Options
from .answer import answer_of
from .folder import KeptAnswers, key_of
from .model import KeptModel


class Keeping:
    """An answer holds for the same prompt with the same values, options and folder. Under ``-y``
    nobody reviews the code, so those answers hold under ``-y`` only."""

    def __init__(self, text: str, options: Options) -> None:
        said = (options.model, options.form, options.context)
        runs = (options.yes, options.question, options.planned, options.cell)
        self._key = key_of(str(Path.cwd()), text, said, runs)
        self._again = options.again
        self._answers = KeptAnswers()

    def model(self) -> KeptModel | None:
        answer = None if self._again else self._answers.get(self._key)
        return None if answer is None else KeptModel(answer)

    def take(
        self, events: list[Event], scrub: Callable[[str], str], note: Callable[[str], None]
    ) -> None:
        """Keep the answer of a completed turn, unless it has a known key in it."""
        answer = answer_of(events, time.time())
        if answer is None or any(scrub(part.text) != part.text for part in answer.parts):
            return
        try:
            self._answers.put(self._key, answer)
        except OSError as error:
            note(
                f"Could not keep this answer: {error.strerror}. The next run asks the model again."
            )
