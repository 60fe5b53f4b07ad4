"""Where a new cell goes if the model names no position: a policy as data (``ORDER``).

Pure. Its cases are in ``tests/place_cases.json``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ..document.ops import CellView

Rule = Literal["this_turn", "chosen", "person", "earlier_turns", "gone_to"]

ORDER: tuple[Rule, ...] = ("this_turn", "chosen", "earlier_turns", "person", "gone_to")
"""After which cell: the first of these that is there, else the last of the notebook.
``this_turn``: the agent's last new cell of this turn; ``chosen``: what the person has chosen with
the message; ``earlier_turns``: the last cell of the conversation; ``person``: where they have typed
or run something; ``gone_to``: the cell that they have selected. Once the conversation has cells,
only what they choose moves the place."""


class Place(msgspec.Struct, frozen=True):
    """``after`` is the id of the cell above, "" for the top. ``instead`` is that of an empty cell
    which the new one takes the place of."""

    after: str = ""
    instead: str = ""


def place(cells: Sequence[CellView], candidates: dict[Rule, str]) -> Place:
    """``candidates``: an id for each rule, where there is one."""
    there = {cell.cell_id: index for index, cell in enumerate(cells)}
    named = (candidates.get(rule, "") for rule in ORDER)
    after = next((cell_id for cell_id in named if cell_id in there), "")
    if not after and cells:
        after = cells[-1].cell_id
    empty = after in there and is_empty(cells[there[after]])
    return Place(after, after if empty else "")


def last_of(ids: Sequence[str], agents: Sequence[str]) -> str:
    """The last cell of the conversation: the newest of ``agents`` (oldest first) that is there, or
    the lowest of those directly below it. "" if none is there."""
    known = {cell_id: index for index, cell_id in enumerate(ids)}
    index = next((known[one] for one in reversed(agents) if one in known), None)
    if index is None:
        return ""
    ours = set(agents)
    while index + 1 < len(ids) and ids[index + 1] in ours:
        index += 1
    return ids[index]


def is_empty(cell: CellView) -> bool:
    """Whether nothing of anybody's is in it."""
    bare = not cell.source.strip() and not cell.outputs and not cell.tags and not cell.assigns
    return cell.cell_type == "code" and bare
