"""What earlier versions wrote to the journal and this one does not know.

The migration to version 12 deletes or replaces it. A field that is gone needs no entry: the reader
ignores unknown fields.
"""

from __future__ import annotations

REMOVED_EVENTS: tuple[str, ...] = (
    "answer_checked",
    "rehearsal_started",
    "rehearsed",
    "rule_made",
    "rule_removed",
)
"""Kinds of events."""

REMOVED_TABLES: tuple[str, ...] = ("actions",)

REPLACED_VALUES: tuple[tuple[str, str, str], ...] = (
    ("draft_waiting", '"kind":"peek"', '"kind":"tool"'),
)
"""(kind of event, text of its JSON, new text): values that a field no longer has."""
