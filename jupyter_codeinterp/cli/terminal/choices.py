"""What a person can answer when a draft waits, and the question that says so."""

from __future__ import annotations

from ...core.events import Draft

KEYS = {
    **dict.fromkeys(("r", "run", "y", "yes"), "run"),
    **dict.fromkeys(("n", "no"), "reject"),
    **dict.fromkeys(("e", "edit"), "edit"),
}
ALL = {"a": "all", "all": "all"}


def question_for(draft: Draft) -> str:
    runs = draft.runs and draft.kind != "delete"
    asked, choices = ("Run it?", ["[r]un"]) if runs else ("Do it?", ["[y]es"])
    if draft.editable:
        choices.append("[e]dit")
    choices.append("[n]o REASON")
    if draft.can_run_all:
        choices.append("[a]ll code in this turn")
    return f"{asked} {', '.join(choices)}: "
