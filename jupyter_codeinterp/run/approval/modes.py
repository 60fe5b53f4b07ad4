"""The permission modes. Code that depends on a mode asks this table, never for a mode by name.

A new mode needs a row here, its name on the wire (``wire.events.Mode``) and its label in the panel
(``src/panel/components/Composer.tsx``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...wire.events import Mode


@dataclass(frozen=True)
class Permissions:
    """What a mode allows. A mode of higher rank allows everything that a lower one does."""

    rank: int
    label: str
    """The mode's name for people and the model."""
    changes: bool
    """Whether the notebook may change and code may run at all."""
    unasked: bool
    """Whether nobody is asked if nothing is suspicious and the cell is the agent's. Time limits
    apply then that do not while a person watches."""


MODES: dict[Mode, Permissions] = {
    "plan": Permissions(0, "Plan", changes=False, unasked=False),
    "review": Permissions(1, "Review", changes=True, unasked=False),
    "auto": Permissions(2, "Auto", changes=True, unasked=True),
}


def _rank(mode: Mode) -> int:
    return MODES[mode].rank


BY_RANK: tuple[Mode, ...] = tuple(sorted(MODES, key=_rank))
HIGHEST: Mode = BY_RANK[-1]
ASKING: Mode = max((mode for mode in MODES if not MODES[mode].unasked), key=_rank)
"""The highest mode in which nothing runs without a person."""
RUN_ALL: Mode = min((mode for mode in MODES if MODES[mode].unasked), key=_rank)
"""The mode of the rest of a turn after “Run all in this turn”."""


def cap(mode: Mode, highest: Mode) -> Mode:
    """``mode``, or ``highest`` if that is lower."""
    return min(mode, highest, key=_rank)


def within(mode: Mode, highest: Mode) -> bool:
    """Whether ``mode`` is allowed under the cap ``highest``."""
    return cap(mode, highest) == mode


def may_run_all(highest: Mode) -> bool:
    """Whether “Run all in this turn” may be offered under the cap ``highest``."""
    return within(RUN_ALL, highest)
