"""Examples of the person's message on their way to the kernel, which tries them after a cell."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from ..checks.shared.contract import Contract
from ..checks.shared.examples import Example, examples
from ..model_view.plain_text import clean
from ..off_loop import off_loop
from ..turn.turn import Turn

LONGEST = 200
"""Characters of the line on a card."""


async def wanted(turn: Turn, source: str, language: str) -> tuple[Example, ...]:
    """Those of this turn's message whose function this code defines."""
    if "(" not in turn.asked or "def " not in source or language.lower() != "python":
        return ()
    read = partial(examples, turn.asked, source)
    return await off_loop(read, len(turn.asked) + len(source), lambda: ())


def notice(found: tuple[Example, ...]) -> str:
    """What a card says of them before the person decides; "" without any."""
    if not found:
        return ""
    calls = ", ".join(f"`{one.call}`" for one in found)
    shown = calls if len(calls) <= LONGEST else f"{calls[:LONGEST]}\u2026"
    return clean(f"After the run, the kernel tries the examples of your message: {shown}")


def looks_at(expects: Contract | None, found: tuple[Example, ...]) -> dict[str, Any] | None:
    """What the kernel's report also tells of."""
    asked = dict(expects.asked) if expects is not None else {}
    if found:
        asked["examples"] = msgspec.to_builtins(found)
    return asked or None
