"""What a person does who runs a draft's cell by a command of the notebook."""

from __future__ import annotations

from jupyter_codeinterp.wire.events import Draft
from tests.core.conftest import Room
from tests.scripted import Bench


def begin(b: Bench, draft: Draft, source: str | None = None) -> str:
    """Lab's key `y` in the draft's cell, and its command to run it."""
    cell = b.document.cell(draft.cell_id)
    assert cell is not None
    cell |= {"cell_type": "code", "outputs": [], "execution_count": None}
    if source is not None:
        cell["source"] = source
    b.session.decisions.run_by_hand(draft.cell_id, cell["source"], False)
    return str(cell["source"])


async def by_hand(b: Bench, room: Room, draft: Draft, source: str | None = None) -> None:
    text = await room.run(begin(b, draft, source))
    b.document.end_by_hand(
        draft.cell_id, [{"output_type": "stream", "name": "stdout", "text": text}]
    )
    b.session.decisions.run_by_hand(draft.cell_id, "", True)
