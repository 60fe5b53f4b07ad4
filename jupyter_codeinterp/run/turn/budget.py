"""The limits of a turn (model calls, cost, time), and its last call at a limit, for an answer.

A turn goes through the stages in order. ``_STAGES`` says when each begins; ``words`` is what the
model reads then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from ...base.sentences import Sentence
from ...wire.messages import ToolUse
from ..approval.decisions import ALONE, Alone
from .ending import Ending
from .limits import Limits

# -------------------------------------------------------------------------------------------------
# Loop guard: notices a model that goes in circles, from what it calls and what came back.

REPEATS_BEFORE_NOTE = 2
"""Times in a row that a call may have the same tool, input and result before a note."""

NOTE = (
    "Note: this gave the same result {count} times. Repeating it will not help. Try something "
    "different, or stop and tell the person what the obstacle is."
)


class LoopGuard:
    """Counts equal calls in a row. ``add`` returns ``go``, ``note`` (tell the model) or, at the
    next repetition, ``stop``."""

    def __init__(self) -> None:
        self.count = 0
        self._last = ""

    @property
    def note(self) -> str:
        return NOTE.format(count=self.count)

    @property
    def reason(self) -> Sentence:
        """Why the turn is stopped, for the person."""
        return Sentence(
            "Stopped: the same step gave the same result {count} times.", count=self.count
        )

    def add(self, call: ToolUse, result: str) -> Literal["go", "note", "stop"]:
        key = _key(call.name, call.input, result)
        self.count = self.count + 1 if key == self._last else 1
        self._last = key
        if self.count > REPEATS_BEFORE_NOTE:
            return "stop"
        return "note" if self.count == REPEATS_BEFORE_NOTE else "go"


def _key(name: str, arguments: dict[str, Any], result: str) -> str:
    """Tool, input and result, without ids, counts and times, which differ from run to run."""
    bare = re.sub(r"\b(cell_id|place|execution_count|elapsed)=\S+|\bIn ?\[\d+\]", "", result)
    given = {k: v for k, v in arguments.items() if k != "title"}
    return f"{name} {msgspec.json.encode(given, order='sorted').decode()} {bare}"


Stage = Literal["go_on", "warn", "last", "end"]
"""``last``: one model call without tools, for the answer so far."""
BUDGET = "[This turn:"
"""First words of this file's texts for the model."""
WARN_AT = 5
"""Number of calls left when the model learns that the end is near."""


class Reached(msgspec.Struct, frozen=True):
    """A limit. ``answers``: whether the model still gets its last call."""

    ending: Ending
    answers: bool = True


_STAGES: tuple[tuple[Callable[[int, Reached | None], bool], Stage], ...] = (
    (lambda left, reached: left <= 0 or (reached is not None and not reached.answers), "end"),
    (lambda left, reached: left == 1 or reached is not None, "last"),
    (lambda left, reached: left <= WARN_AT, "warn"),
    (lambda left, reached: True, "go_on"),
)
"""The first stage whose condition holds. Arguments: model calls left, and the limit reached."""


class Budget:
    """The model calls of one turn."""

    def __init__(self, limits: Limits, alone: Alone = "") -> None:
        self._alone = ALONE[alone]
        self._limits = limits
        self._left = limits.steps
        self._reached: Reached | None = None
        self._has_asked = False
        """Whether the model was asked to take a step that it only announced."""
        self._told: Stage = "warn" if limits.steps <= WARN_AT else "go_on"

    @property
    def opening(self) -> str:
        """The turn's limits, for its first message."""
        limits, bounds = self._limits, [f"at most {_calls(self._limits.steps)}"]
        if limits.cost is not None:
            bounds.append(f"${limits.cost:.2f}")
        if limits.turn_timeout is not None:
            bounds.append(f"{_minutes(limits.turn_timeout)}, not counting waits for the person")
        if limits.cell_timeout is not None:
            bounds[-1] += f"; unreviewed runs {_minutes(limits.cell_timeout)}"
        return " ".join(filter(None, (BUDGET, f"{', '.join(bounds)}.", self._alone))) + "]"

    def reach(self, reached: Reached | None) -> None:
        """Record a limit. One that allows no last call replaces an earlier one."""
        if reached is not None and (self._reached is None or not reached.answers):
            self._reached = reached

    @property
    def stage(self) -> Stage:
        """The stage of the next model call."""
        return next(stage for holds, stage in _STAGES if holds(self._left, self._reached))

    @property
    def is_last(self) -> bool:
        return self.stage == "last"

    def words(self) -> str:
        """The text for the model before its next call; "" if the stage is not new."""
        stage = self.stage
        if stage == self._told:
            return ""
        self._told = stage
        if stage == "warn":
            return f"{BUDGET} {_calls(self._left)} left, the last one without tools. Finish.]"
        if stage == "last":
            return (
                f"{BUDGET} {self.ending.message} This is its last call, without tools. Give the "
                "answer so far: what is known, what is missing, what to do next.]"
            )
        return ""

    def asks_for_step(self, answer: str) -> str:
        """Asks, once in a turn, for a step that the answer only announces; else ""."""
        if self._has_asked or not only_announces(answer):
            return ""
        self._has_asked = True
        return ASK

    def take(self) -> None:
        """Count a model call."""
        self._left = 0 if self.is_last else self._left - 1

    @property
    def ending(self) -> Ending:
        if self._reached is not None:
            return self._reached.ending
        steps = self._limits.steps
        words = Sentence(ONE_CALL if steps == 1 else CALLS, count=steps)
        return Ending("max_steps", "max_steps", words)


ONE_CALL = Sentence("Stopped at the limit of 1 model call for a turn.")
CALLS = Sentence("Stopped at the limit of {count} model calls for a turn.")
MINUTES = Sentence("Stopped at the time limit of {count} minutes without a person.")
SECONDS = Sentence("Stopped at the time limit of {count} seconds without a person.")
COST = Sentence("Stopped at the cost limit of ${dollars} for a turn.")
NO_PRICE = Sentence(
    "The price of {model} is unknown, and a turn may cost at most ${dollars} here. An admin can "
    "set its price (prices)."
)


def time_limit(seconds: float) -> Reached:
    minutes = seconds >= 120
    count = f"{seconds / 60 if minutes else seconds:.0f}"
    words = Sentence(MINUTES if minutes else SECONDS, count=count)
    return Reached(Ending("budget", "time_limit", words))


def cost_limit(dollars: float, *, answers: bool) -> Reached:
    words = Sentence(COST, dollars=f"{dollars:.2f}")
    return Reached(Ending("budget", "cost_limit", words), answers)


def no_price(model: str, dollars: float) -> Reached:
    words = Sentence(NO_PRICE, model=model, dollars=f"{dollars:.2f}")
    return Reached(Ending("budget", "no_price", words), answers=False)


def loop(words: Sentence) -> Reached:
    return Reached(Ending("error", "loop", words))


def _calls(number: int) -> str:
    return f"{number} model call{'s' if number != 1 else ''}"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"


# -------------------------------------------------------------------------------------------------
# Finds a reply that only announces a step, in English, without a call that takes it.
#
# It prefers to miss an announcement over mistaking an answer, an offer or a plan for one. See the
# table in ``tests/core/test_announcing.py``.

ASK = f"{BUDGET} you announced a step, but called no tool. Take it, or finish with the answer.]"
LONGEST = 400
"""Characters of a reply that may be only an announcement."""
_VERBS = (
    "add analy[sz]e begin build calculate change check clean compare compute convert correct "
    "count create debug examine explore filter find fit fix get group inspect investigate join "
    "list load look merge open plot print proceed read rerun run search see sort start test try "
    "update verify write"
).replace(" ", "|")
_ANNOUNCES = re.compile(
    r"(?:(?:now|first|next|then|so|ok|okay|great|sure|alright|certainly)[,!.:]? )?"
    r"(?:let me|let's|i'll|i will|i'm going to|i am going to|i need to) "
    rf"(?:(?:now|first|next|then|also|quickly|just) )?(?:{_VERBS})\b"
)
_NO_ANNOUNCEMENT = re.compile(
    r"[?\d|`#]|\b(?:you|your|would|could|plan|done|answer is)\b|^ *[-*] ", re.MULTILINE
)
_SENTENCE = re.compile(r"(?<=[.!:\n]) ")


def only_announces(text: str) -> bool:
    said = text[: LONGEST + 1].strip().lower().replace("\u2019", "'")
    if len(said) > LONGEST or _NO_ANNOUNCEMENT.search(said):
        return False
    last = _SENTENCE.split(said.replace("\n", ". "))[-1]
    return _ANNOUNCES.match(last.strip()) is not None
