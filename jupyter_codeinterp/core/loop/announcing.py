"""Finds a reply that only announces a step, in English, without a call that takes it.

It misses some rather than to take an answer, an offer or a plan for an announcement. The table in
``tests/core/test_announcing.py`` is the rule.
"""

from __future__ import annotations

import re

from ..turn.budget import BUDGET

ASK = f"{BUDGET} you announced a step, but called no tool. Take it, or finish with the answer.]"
LONGEST = 400
"""Characters of a reply that only announces. A longer one has more to say."""
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
