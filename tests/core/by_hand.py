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
    cell["source"] = source or cell["source"]
    b.session.decisions.run_by_hand(draft.cell_id, cell["source"])
    return str(cell["source"])


async def by_hand(b: Bench, room: Room, draft: Draft, text: str | None = None) -> None:
    source = begin(b, draft, text)
    b.document.begin_by_hand(draft.cell_id)
    printed = await room.run(source)
    output = {"output_type": "stream", "name": "stdout", "text": printed}
    b.document.end_by_hand(draft.cell_id, [output])
