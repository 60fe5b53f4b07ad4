"""Where a new cell goes: a policy as data (``ORDER``), and no cell above what it needs.

Pure. Its cases are in ``tests/place_cases.json``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Union

import msgspec

from ..cell_code.cell_names import names_of
from ..document.ops import CellView

Rule = Literal["this_turn", "chosen", "person", "earlier_turns", "gone_to"]

ORDER: tuple[Rule, ...] = ("this_turn", "chosen", "person", "earlier_turns", "gone_to")
"""After which cell: the first of these that is there, else the last of the notebook.
``this_turn``: the agent's last new cell of this turn; ``chosen``: what the person has chosen with
the message; ``person``: where they have typed or run something since the agent's last work, unless
that cell is the agent's; ``earlier_turns``: the last cell of the conversation; ``gone_to``: the
cell that they have selected. An edit by the agent moves nothing, nor does the person's focus once
the conversation has cells."""


class Place(msgspec.Struct, frozen=True):
    """``after`` is the id of the cell above, "" in an empty notebook. ``instead`` is that of an
    empty cell which the new one takes the place of. ``needs``: the
    names for which it is further down than was asked for."""

    after: str = ""
    instead: str = ""
    needs: tuple[str, ...] = ()


def place(cells: Sequence[CellView], candidates: dict[Rule, str], source: str = "") -> Place:
    """``candidates``: an id for each rule, where there is one. ``source`` is the code, "" for
    Markdown, or as long as nothing is known of it."""
    there = {cell.cell_id: index for index, cell in enumerate(cells)}
    named = (candidates.get(rule, "") for rule in ORDER)
    after = next((cell_id for cell_id in named if cell_id in there), "")
    if not after and cells:
        after = cells[-1].cell_id
    lower = below_needs(cells, after, source)
    if lower is not None:
        return lower
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


def below_needs(cells: Sequence[CellView], after: str, source: str) -> Place | None:
    """A place further down than after ``after``, if a cell there defines what ``source`` uses:
    always one that no cell above defines, and one that is given another value further down
    (the kernel may have that one), but not what is imported once more."""
    index = next((i for i, cell in enumerate(cells) if cell.cell_id == after), len(cells))
    below = [cell for cell in cells[index + 1 :] if cell.cell_type == "code"]
    wanted = names_of(source).uses if source and below else frozenset()
    if not wanted:
        return None
    known: set[str] = set()
    for cell in cells[: index + 1]:
        known |= defines(cell)
    lowest: Union[CellView, None] = None
    needs: set[str] = set()
    for cell in below:
        again = names_of(cell.source).imports & known
        found = (defines(cell) - again) & wanted
        if found:
            lowest, needs = cell, needs | found
    return Place(lowest.cell_id, "", tuple(sorted(needs))) if lowest is not None else None


def defines(cell: CellView) -> frozenset[str]:
    """The names that a cell binds; none of a cell that is no code."""
    if cell.cell_type != "code":
        return frozenset()
    return names_of(cell.source).defines | frozenset(cell.assigns)


def is_empty(cell: CellView) -> bool:
    """Whether nothing of anybody's is in it."""
    bare = not cell.source.strip() and not cell.outputs and not cell.tags and not cell.assigns
    return cell.cell_type == "code" and bare
