"""What ``--yes`` lets happen without a question: one table."""

from __future__ import annotations

from ...core.approval.decisions import Alone
from ...core.approval.policy import NEEDS_SANDBOX, is_barred
from ...core.events import Draft

EVERYTHING: Alone = "all"
_EDITS = {"edits": ("edit",)}
"""Kinds of drafts, beyond the code that runs unasked in any case."""

UNASKED = {
    "edits": "Code and changes of your cells run without asking. Installs and deletions ask.",
    EVERYTHING: "Nothing asks but what an admin's settings bar.",
}
ASKED = "Code runs without asking. Changes of your cells, installs and deletions ask."
"""In words, for Auto mode."""


def covers(yes: Alone, draft: Draft) -> bool:
    """Whether ``yes`` decides on this draft, which the server asks about."""
    if NEEDS_SANDBOX in draft.notices:
        return False
    return yes == EVERYTHING or (draft.kind in _EDITS.get(yes, ()) and not draft.always)


def more(draft: Draft) -> str:
    """The options that would let it happen; "" for none."""
    wider: tuple[Alone, ...] = ("edits", EVERYTHING)
    option = next((f"--yes={yes}" for yes in wider if covers(yes, draft)), "")
    return " or ".join(filter(None, ("--sandbox" if is_barred(draft) else "", option)))
