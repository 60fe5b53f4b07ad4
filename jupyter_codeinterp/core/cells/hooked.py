"""Puts the notes of hooks into a run's result, for the model and the card.

A note is untrusted text: for the model, without known keys, bounded, inert and between
delimiters; for people, a line of plain text with the hook's name before it.
"""

from __future__ import annotations

import msgspec

from ..history.transcript import REPORT
from ..hooks import CellCode, CellOutputs, Note
from ..messages import Text, ToolUse
from ..model_view.plain_text import clean, cut
from ..model_view.untrusted import bare
from ..ports import ExecutionDone
from ..turn.results import Result
from ..turn.turn import Turn
from .draft import DraftCell

REFUSED = "The check “{}” on this server blocked this run:"
LONGEST = 2_000
"""Characters of a note for the model."""
LONGEST_LINE = 500
"""Characters of a note for people."""


def line(turn: Turn, note: Note) -> str:
    """A note as a line for the card. Notes of our own hooks are unchanged."""
    if not note.by:
        return note.text
    words = " ".join(clean(turn.scrub(note.text)).split())
    return f"{note.by}: {cut(words, LONGEST_LINE)}"


def refused(draft: DraftCell, call: ToolUse, note: Note) -> Result:
    """The result of a run that a hook does not allow."""
    turn = draft.turn
    cell_id = draft.cell_id if draft.is_theirs else ""
    words = REFUSED.format(note.by)
    return turn.results.not_run(
        call, words, draft.title, cell_id, line(turn, note), _quoted(turn, note)
    )


async def after_run(turn: Turn, code: CellCode, done: ExecutionDone, result: Result) -> Result:
    """Tell all hooks of a finished run. Returns the result with their notes."""
    told = result.done
    code = msgspec.structs.replace(code, cell_id=told.cell_id)
    came = CellOutputs(told.status, done.outputs, done.execution_count, done.elapsed)
    notes = await turn.hooks.after_run(code, came)
    if not notes:
        return result
    said = (f"\n{REPORT.format(note.by)}\n{_quoted(turn, note)}" for note in notes)
    text = "\n".join(said)
    lines = tuple(line(turn, note) for note in notes)
    detail = f"{told.detail}\n{bare(text)}"
    content = (*result.block.content, Text(text))
    return msgspec.structs.replace(
        result,
        block=msgspec.structs.replace(result.block, content=content),
        done=msgspec.structs.replace(told, detail=detail, notes=lines),
    )


def _quoted(turn: Turn, note: Note) -> str:
    return turn.untrusted.shown(cut(clean(turn.untrusted.scrub(note.text)), LONGEST))
