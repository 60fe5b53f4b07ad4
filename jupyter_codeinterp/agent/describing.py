"""What the model gets about the notebook, the kernel and the files: in full once, then changes."""

from __future__ import annotations

from collections.abc import Callable

from ..base.errors import DocumentError
from ..base.off_loop import off_loop
from ..run.turn.turn import Turn
from ..view import rule_files
from ..view.context import Context
from ..view.skills import NO_SKILLS, skills_told
from ..wire.ops import Snapshot, weight

NOT_DESCRIBED = "[Could not describe the notebook. read_notebook shows its cells.]"


async def describe(turn: Turn) -> str:
    info = await turn.kernel_info()
    if info is not None:
        turn.kernel_start = (info.kernel_id, info.start)
    state = await turn.kernel.state()
    variables = await turn.variables() if info is not None else None
    snapshot, files = turn.notebook.snapshot, turn.files
    owned = turn.ledger.owned(snapshot)
    new = turn.context.new_files(files)
    heads = await turn.workplace.table_heads(new) if new else {}
    return await _described(
        turn,
        snapshot,
        lambda fresh: fresh.describe(snapshot, files, info, variables, owned, state, heads),
    )


async def describe_acts(turn: Turn) -> str:
    """What the person ran, changed or deleted since the last description."""
    if not turn.notebook.person_acted:
        return ""
    try:
        snapshot = await turn.notebook.look()
    except DocumentError:
        return ""  # The notebook is closed for now; the next step reads it.
    owned = turn.ledger.owned(snapshot)
    return await _described(turn, snapshot, lambda fresh: fresh.describe_acts(snapshot, owned))


async def _described(turn: Turn, snapshot: Snapshot, describe: Callable[[Context], str]) -> str:
    """Describe with a copy of the context, and keep its state unless that takes too long."""
    fresh = Context(turn.context.state, turn.untrusted.scrub)
    text = await off_loop(
        lambda: describe(fresh),
        sum(len(cell.source) + weight(cell.outputs) for cell in snapshot.cells),
        lambda: NOT_DESCRIBED,
    )
    if text != NOT_DESCRIBED:
        turn.context.state = fresh.state
    return text


def instructions(turn: Turn) -> tuple[str, str]:
    """The person's instruction files and skills; "" for those that the model has already."""
    context = turn.context
    rules = rule_files.as_text(turn.rule_files, turn.untrusted)
    skills = skills_told(turn.skills, turn.untrusted)
    before = (context.instructions, context.skills)
    context.instructions, context.skills = rules, skills
    return (
        "" if rules == before[0] else rules or rule_files.GONE,
        "" if skills == before[1] else skills or NO_SKILLS,
    )
