"""The person's rules of a conversation: making and removing them. The journal keeps them."""

from __future__ import annotations

import secrets
import uuid

import msgspec

from ..approval.decisions import Decisions
from ..errors import CommandError
from ..events import RuleMade, RuleRemoved
from ..labels import Rule
from .persistence import PersistentSession

MOST = 20
"""Rules of a conversation."""
NO_RULE = "No rule can be made for this cell. It may have changed; review it once more."
FORBIDDEN = "On this server code runs without asking in no conversation."


class StandingRules:
    def __init__(self, session: PersistentSession, decisions: Decisions, *, allowed: bool) -> None:
        self._session = session
        self._decisions = decisions
        self.allowed = allowed

    @property
    def all(self) -> tuple[Rule, ...]:
        """Those that count, in the order in which they were made."""
        return tuple(self._session.replay.rules.values()) if self.allowed else ()

    def make(self, draft_id: str, nonce: str, window: int = 0) -> Rule:
        """Make the rule that the waiting draft carries. Raises CommandError ``no_rule``,
        ``rules_forbidden`` or ``too_many_rules``."""
        if not self.allowed:
            raise CommandError("rules_forbidden", FORBIDDEN)
        draft = self._decisions.draft
        is_it = (
            draft is not None
            and draft.draft_id == draft_id
            and secrets.compare_digest(draft.nonce.encode(), nonce.encode())
        )
        if draft is None or draft.rule is None or not is_it:
            raise CommandError("no_rule", NO_RULE)
        found = draft.rule
        for known in self.all:
            if msgspec.structs.replace(known, rule_id="") == found:
                return known
        if len(self.all) >= MOST:
            raise CommandError("too_many_rules", f"There are {MOST} rules. Remove one first.")
        rule = msgspec.structs.replace(found, rule_id=uuid.uuid4().hex[:12])
        with self._session.here():
            self._session.publish(RuleMade(rule, window))
        return rule

    def remove(self, rule_id: str, window: int = 0) -> Rule:
        """Raises CommandError ``unknown_rule``."""
        rule = self._session.replay.rules.get(rule_id)
        if rule is None:
            raise CommandError("unknown_rule", "This rule no longer exists.")
        with self._session.here():
            self._session.show(RuleRemoved(rule_id, window))
        return rule

    def remove_all(self, window: int = 0) -> None:
        """Remove every rule, because a person does not recognize what was done here."""
        for rule_id in list(self._session.replay.rules):
            self.remove(rule_id, window)


def words_of(rule: Rule) -> str:
    """What a rule allows, in a line for the log of actions."""
    if rule.tool:
        return f"calls {rule.tool}"
    files = ", ".join(rule.files) or "no files"
    imports = ", ".join(rule.imports) or "nothing"
    return f"reads {files}; imports {imports}"
