"""Whether a call runs, asks or is refused. Pure; nothing in a notebook can permit a run.

``owned`` comes from the session's journal, the mode from the person, capped by the server.
"""

from __future__ import annotations

from typing import Literal

from ...base.sentences import Sentence
from ...wire.events import Draft, Mode
from .modes import ASKING, MODES

Action = Literal[
    "run_new",
    "run_again",
    "edit",
    "move",
    "scratch",
    "markdown",
    "delete",
    "kernel",
    "verify",
    "outside",
    "read",
    "inspect",
    "ask",
]
Verdict = Literal["run", "ask", "refuse"]
NEEDS_SANDBOX = Sentence("On this server code runs without asking in sandboxed kernels only.")
SPOKEN_TO = Sentence(
    "Data that the model read contains “{sign}”, which reads like an instruction to it. So this "
    "asks first."
)
"""A reason on a card that asks in every mode. ``sign``: the words found in data."""
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
    """Decide on one call.

    ``owned``: the cell is the agent's and unchanged since. ``suspicious``: the source has hidden
    characters, has code out of sight, or is Markdown that is not plain. ``always_ask``: ask in
    every mode (a recording answers) unless the person let the whole turn run (``run_all``).
    ``barred``: from ``bars``.
    """
    if action not in _CHANGES:
        return "run"
    allowed = MODES[mode]
    if not allowed.changes:
        return "refuse"
    if suspicious or barred or action in ("kernel", "outside"):
        return "ask"
    if action == "markdown":
        return "run"
    if (always_ask and not run_all) or not allowed.unasked:
        return "ask"
    return "run" if action in ("run_new", "run_again", "scratch", "verify") or owned else "ask"


def bars(
    *, unasked: bool, sandboxed: bool, needs_sandbox: bool, sign: str
) -> tuple[bool, tuple[Sentence, ...]]:
    """Whether runs in this kernel ask in every mode, and the reasons for the card.

    ``unasked``: code runs without a person, by the mode or because nobody can be asked.
    ``needs_sandbox``: an admin lets code run unasked only in a sandbox. ``sign``: words in data
    that read like instructions to the model; "" if none.
    """
    if sandboxed:
        return False, ()
    words = (
        NEEDS_SANDBOX if needs_sandbox and unasked else Sentence(),
        Sentence(SPOKEN_TO, sign=sign) if sign else Sentence(),
    )
    return needs_sandbox or bool(sign), tuple(filter(None, words))


def is_barred(draft: Draft) -> bool:
    """Whether all code asks in this draft's kernel. The draft of ``verify`` has words for code."""
    is_code = draft.runs or draft.kind == "verify"
    return is_code and any(notice.startswith(_BARS) for notice in draft.notices)


def refusal(action: Action, mode: Mode) -> str:
    """The result for the model if ``decide`` returns refuse."""
    return (
        f"{MODES[mode].label} mode: nothing runs and nothing changes; {_CHANGES[action]}. Write "
        "the plan in words: the cells to add or edit, their code, and the expected results. "
        f"The person can switch to {MODES[ASKING].label} mode to carry it out."
    )


def refused(mode: Mode) -> Sentence:
    """A short refusal for the card."""
    return Sentence("{mode} mode changes nothing.", mode=MODES[mode].label)
