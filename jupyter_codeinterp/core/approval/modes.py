"""The permission modes: one table. Whatever depends on a mode asks it here, and no other file
knows one by its name.

A mode is added by a row here, by its name on the wire (``core.events.Mode``) and by its label
in the panel (``src/panel/components/Composer.tsx``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..events import Mode


@dataclass(frozen=True)
class Permissions:
    """What a mode allows. Each holds what those of a lower rank hold."""

    rank: int
    label: str
    """For people, and in what the model is told."""
    changes: bool
    """Whether the notebook may change and code may run at all."""
    unasked: bool
    """Whether that goes on without a person, where nothing is suspicious and the cell is the
    agent's. Bounds of time hold then that would not while somebody watches."""


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
"""The highest in which nothing runs without a person."""
RUN_ALL: Mode = min((mode for mode in MODES if MODES[mode].unasked), key=_rank)
"""In which a turn goes on after “Run all in this turn”."""


def cap(mode: Mode, highest: Mode) -> Mode:
    """``mode``, or ``highest`` if that is lower."""
    return min(mode, highest, key=_rank)


def within(mode: Mode, highest: Mode) -> bool:
    """Whether ``mode`` may be had where ``highest`` is the cap."""
    return cap(mode, highest) == mode


def may_run_all(highest: Mode) -> bool:
    """Whether “Run all in this turn” may be offered where ``highest`` is the cap."""
    return within(RUN_ALL, highest)
