"""The titles of tools' cards."""

from __future__ import annotations

from ....base.sentences import Sentence, as_it_is
from ....run.turn.turn import Turn
from ....wire.ops import CellView

TITLE_LENGTH = 60
"""Characters of a card's title."""


def title_so_far(title: object, source: str) -> Sentence:
    """The card's name while ``source`` is being written; "" until it is known."""
    given = isinstance(title, str) and bool(title.strip())
    whole_lines, _, _ = source.rpartition("\n")
    return title_of(title, whole_lines) if given or whole_lines.strip() else Sentence()


def title_of(title: object, source: str, most: int = TITLE_LENGTH) -> Sentence:
    """The card's name: the title, else the first comment or line of the source."""
    text = title if isinstance(title, str) and title.strip() else ""
    if not text:
        lines = (line.strip() for line in source.splitlines())
        text = next((line for line in lines if line and not line.startswith("%%")), "")
        text = text.lstrip("#").strip()
    text = " ".join(text.split())
    if not text:
        return Sentence("Cell")
    return as_it_is(text if len(text) <= most else text[: most - 1] + "…")


def name_of(turn: Turn, cell: CellView) -> Sentence:
    """An existing cell's name on a card: its title, else its place and first line. The count
    of an earlier run is left out, because the card shows that of the new one."""
    place = int(turn.notebook.stands(cell.cell_id).partition("/")[0] or 0)
    known = turn.titles.get(cell.cell_id)
    if known:
        return as_it_is(known)
    line = title_of("", cell.source, TITLE_LENGTH - len("cell 1234: "))
    if not place:
        return Sentence("cell: {line}", line=line)
    return Sentence("cell {place}: {line}", place=place, line=line)
