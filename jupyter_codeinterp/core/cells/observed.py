"""What was seen of a run, on its way to the card; a rule that it broke is withdrawn."""

from __future__ import annotations

import msgspec

from ..checks.shared.kernel_report import read
from ..events import Event, Note, RuleRemoved
from ..labels import Observation, Rule
from ..messages import Text
from ..model_view.untrusted import bare
from ..ports import ExecutionDone
from ..rights.deeds import DID, beyond, of_the_code
from ..rights.theirs import theirs
from ..turn.results import Result
from ..turn.turn import Turn
from ..visible import visible_line

SHOWN = 5
"""Names of each kind on a card."""
LONGEST = 100
"""Characters of one of them."""
WITHDRAWN = (
    "\nThe rule that let this run without asking is withdrawn: the run {did}. The person decides "
    "on each cell again."
)
TOLD = "Rule removed: “{title}” {did}. Cells ask again."


def after_run(
    turn: Turn, done: ExecutionDone, result: Result, rule_id: str
) -> tuple[Result, tuple[Event, ...]]:
    """The result with what was seen; and what follows if that is more than the person's rule
    allows by which it ran ("": by none)."""
    rule = _rule(turn, rule_id)
    seen = (*of_the_code(done.observed or (), turn.document.path), *_changes(turn, done))
    broken = beyond(rule, seen) if rule is not None else ()
    on_card = broken if broken else tuple(one for one in seen if one.kind != "reads")
    if on_card:
        shown = tuple(_shown(turn, one) for one in on_card)
        told = msgspec.structs.replace(result.done, seen=shown)
        result = msgspec.structs.replace(result, done=told)
    if rule is None or not broken:
        return result, ()
    text = Text(WITHDRAWN.format(did=_did(broken)))
    content = (*result.block.content, text)
    told = msgspec.structs.replace(result.done, detail=f"{result.done.detail}{bare(text.text)}")
    block = msgspec.structs.replace(result.block, content=content)
    return (
        msgspec.structs.replace(result, block=block, done=told),
        _withdrawn(turn, rule, broken, result.done.title),
    )


def _withdrawn(
    turn: Turn, rule: Rule, broken: tuple[Observation, ...], title: str
) -> tuple[Event, ...]:
    """The rule counts no more, and in this turn no other does."""
    turn.rules = None
    words = TOLD.format(title=title, did=_did(broken))
    return RuleRemoved(rule.rule_id), Note(words, "warning")


def _rule(turn: Turn, rule_id: str) -> Rule | None:
    """None if the person has removed it meanwhile."""
    rules = turn.rules() if rule_id and turn.rules is not None else ()
    return next((rule for rule in rules if rule.rule_id == rule_id), None)


def _changes(turn: Turn, done: ExecutionDone) -> tuple[Observation, ...]:
    """The person's variables that are others now, as the kernel reports it."""
    _, changes, _ = read(done.report, None)
    names = [one.name for one in changes if one.persons and one.how != "added"]
    if not names:
        return ()
    cells, owns = turn.notebook.snapshot.cells, turn.ledger.owns
    persons = theirs(cells, owns, turn.document.protected)
    # After a restart of the server, the kernel no longer knows which are the agent's.
    agents = theirs(cells, lambda cell: not owns(cell))
    names = [name for name in names if name in persons or name not in agents]
    return (Observation("changes", tuple(names)),) if names else ()


def _shown(turn: Turn, one: Observation) -> Observation:
    """Names come from code: each is a line of plain text, without known keys."""
    lines = (visible_line(turn.scrub(name)) for name in one.names[:SHOWN])
    names = tuple(n if len(n) <= LONGEST else f"{n[: LONGEST - 1]}\u2026" for n in lines)
    return Observation(one.kind, names, max(0, len(one.names) - SHOWN))


def _did(broken: tuple[Observation, ...]) -> str:
    return ", ".join(DID[one.kind] for one in broken)
