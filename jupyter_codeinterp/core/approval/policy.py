"""Whether a call runs, is asked about or is refused. Pure; nothing of a notebook lets it run.

``owned`` comes from the session's journal, the mode from the person, capped by the server.
What a reader of code may overlook is in ``code_warnings.py``, what they do not get to see in
``out_of_sight.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..wire.events import Draft, Mode

# -------------------------------------------------------------------------------------------------
# The permission modes: one table. Whatever depends on a mode asks it here, and no other file
# knows one by its name.
#
# A mode is added by a row here, by its name on the wire (``core.wire.events.Mode``) and by its
# label in the panel (``src/panel/components/Composer.tsx``).


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


Action = Literal[
    "run_new",
    "run_again",
    "edit",
    "move",
    "scratch",
    "markdown",
    "delete",
    "kernel",
    "notebook",
    "verify",
    "outside",
    "read",
    "inspect",
    "ask",
]
Verdict = Literal["run", "ask", "refuse"]
NEEDS_SANDBOX = "On this server code runs without asking in sandboxed kernels only."
SPOKEN_TO = (
    "Data that the model read contains “{sign}”, which reads like an instruction to it. So this "
    "asks first."
)
"""On a card that asks in every mode. ``sign``: the words that were found."""
_BARS = (NEEDS_SANDBOX, SPOKEN_TO.partition("{")[0])

_CHANGES: dict[str, str] = {
    "run_new": "no cell was added",
    "run_again": "no cell was run",
    "move": "no cell was moved",
    "scratch": "nothing was run",
    "edit": "the cell was not edited",
    "markdown": "no text was added",
    "delete": "the cell was not deleted",
    "kernel": "the kernel is not touched",
    "notebook": "no notebook was made",
    "verify": "the notebook was not run",
    "outside": "the tool was not called",
}


def decide(
    action: Action,
    mode: Mode,
    *,
    owned: bool,
    suspicious: bool,
    always_ask: bool = False,
    run_all: bool = False,
    barred: bool = False,
) -> Verdict:
    """The policy's word on one call.

    ``owned``: the cell is the agent's and unchanged since. ``suspicious``: the source has
    invisible characters, is code of which something is pushed out of sight or that a cell has
    put forward, or is Markdown that is not plain. ``always_ask``: no mode lets anything change
    or run without a person (a recording answers), only ``run_all`` does: they have let all of
    this turn run. ``barred`` as ``bars`` says.
    """
    if action not in _CHANGES:
        return "run"
    allowed = MODES[mode]
    if not allowed.changes:
        return "refuse"
    if suspicious or barred or action in ("kernel", "notebook", "outside"):
        return "ask"
    if action == "markdown":
        return "run"
    if (always_ask and not run_all) or not allowed.unasked:
        return "ask"
    return "run" if action in ("run_new", "run_again", "scratch", "verify") or owned else "ask"


def bars(
    mode: Mode, *, sandboxed: bool, needs_sandbox: bool, sign: str
) -> tuple[bool, tuple[str, ...]]:
    """Whether code that would run in this kernel asks in every mode, and why, for the card.

    ``needs_sandbox``: an admin lets code run unasked only in a sandbox. ``sign``: words in data
    that speak to the model; "" for none.
    """
    if sandboxed:
        return False, ()
    words = (
        NEEDS_SANDBOX if needs_sandbox and MODES[mode].unasked else "",
        SPOKEN_TO.format(sign=sign) if sign else "",
    )
    return needs_sandbox or bool(sign), tuple(filter(None, words))


def is_barred(draft: Draft) -> bool:
    """Whether no other code would run in this kernel without a person, either."""
    return draft.runs and any(notice.startswith(_BARS) for notice in draft.notices)


def refusal(action: Action, mode: Mode) -> str:
    """What the model is told when ``decide`` says refuse."""
    return (
        f"{MODES[mode].label} mode: nothing runs and nothing changes; {_CHANGES[action]}. Write "
        "the plan in words: the cells to add or edit, their code, and the expected results. "
        f"The person can switch to {MODES[ASKING].label} mode to carry it out."
    )


def refused(mode: Mode) -> str:
    """The same in a few words, for the card."""
    return f"{MODES[mode].label} mode changes nothing."
