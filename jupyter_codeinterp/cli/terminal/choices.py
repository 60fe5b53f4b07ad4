"""What a person can answer when a draft waits, and the question that says so."""

from __future__ import annotations

from ...core.events import Draft

KEYS = {"y": "run", "yes": "run", "n": "reject", "no": "reject", "e": "edit", "edit": "edit"}
ALL = {"a": "all", "all": "all"}
UNEDITED = ("delete", "kernel", "notebook", "verify", "tool", "cells")
"""Drafts without code to edit."""


def question_for(draft: Draft) -> str:
    asked = "Run it?" if draft.runs and draft.kind != "delete" else "Do it?"
    choices = ["[y]es", "[n]o"]
    if draft.kind not in UNEDITED:
        choices.append("[e]dit")
    if draft.can_run_all:
        choices.append("[a]ll in this turn")
    return f"{asked} {', '.join(choices)}: "
