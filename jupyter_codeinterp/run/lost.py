"""The variables that a kernel's end loses, and the cells that define them."""

from __future__ import annotations

from contextlib import suppress
from typing import Union

import msgspec

from ..base.errors import DocumentError, KernelError
from ..base.off_loop import off_loop
from ..base.sentences import Sentence, as_it_is
from ..base.visible import visible_line
from ..cell_code.cell_names import names_of
from ..view.plain_text import cut
from ..wire.ops import CellView
from .turn.turn import Turn

MOST_NAMES = 20
"""Names in a text, for people and the model."""
MOST_CELLS = 10
"""Cells in a text for the model."""
_LONGEST = 60
"""Characters of a name or cell id."""
DEFINE_AGAIN = "To define a variable again, run its cell with run_cells, from the top down."


Definitions = tuple[tuple[str, tuple[str, ...]], ...]


class Lost(msgspec.Struct, frozen=True):
    """``names``: lost variables; None if unknown, for example because the kernel is busy.
    ``defined``: the cells that define some of them, each with these names."""

    names: Union[tuple[str, ...], None] = ()
    defined: Definitions = ()

    @property
    def cells(self) -> tuple[str, ...] | None:
        """Cells to run again; None if nothing is lost."""
        return None if self.names == () else tuple(cell_id for cell_id, _ in self.defined)

    @property
    def will_be(self) -> Sentence:
        """A sentence for the person before the decision."""
        if self.names is None:
            return Sentence("All variables will be gone.")
        one = Sentence("1 variable will be gone: {names}.")
        return self._said(one, Sentence("{count} variables will be gone: {names}."))

    @property
    def are(self) -> Sentence:
        """A sentence for the person afterwards."""
        if self.names is None:
            return Sentence("All variables are gone.")
        one = Sentence("1 variable gone: {names}.")
        return self._said(one, Sentence("{count} variables gone: {names}."))

    @property
    def for_model(self) -> str:
        if self.names == ():
            return "There were no variables."
        if not self.defined:
            return self.are
        cells = "; ".join(
            f"{_short(cell_id)} ({_listed(names)})" for cell_id, names in self.defined[:MOST_CELLS]
        )
        more = len(self.defined) - MOST_CELLS
        rest = f"; {more} more cells" if more > 0 else ""
        return f"{self.are} Cells that define them: {cells}{rest}. {DEFINE_AGAIN}"

    def _said(self, one: Sentence, several: Sentence) -> Sentence:
        names = self.names or ()
        words = one if len(names) == 1 else several
        return Sentence(words, count=len(names), names=_listed(names)) if names else Sentence()


async def lost_variables(turn: Turn) -> Lost:
    """What would be lost if the kernel ended now."""
    names: tuple[str, ...] | None = None
    with suppress(KernelError):
        found = await turn.variables()
        names = None if found is None else tuple(str(one.get("name", "")) for one in found)
    cells: tuple[CellView, ...] = ()
    with suppress(DocumentError):
        cells = (await turn.notebook.look()).cells
    defined = await off_loop(
        lambda: _definitions(cells, names),
        sum(len(cell.source) for cell in cells),
        lambda: (),
    )
    return Lost(names, defined)


def _definitions(cells: tuple[CellView, ...], names: tuple[str, ...] | None) -> Definitions:
    known = None if names is None else frozenset(names)
    found = []
    for cell in cells:
        here = defines(cell) if known is None else defines(cell) & known
        if here:
            found.append((cell.cell_id, tuple(sorted(here))))
    return tuple(found)


AND_MORE = "{names} and {more} more"


def _listed(names: tuple[str, ...]) -> Sentence:
    shown = ", ".join(map(_short, names[:MOST_NAMES]))
    more = len(names) - MOST_NAMES
    return Sentence(AND_MORE, names=shown, more=more) if more > 0 else as_it_is(shown)


def _short(name: str) -> str:
    return cut(visible_line(name), _LONGEST)


def defines(cell: CellView) -> frozenset[str]:
    """The names that a code cell binds; empty for other cells."""
    if cell.cell_type != "code":
        return frozenset()
    return names_of(cell.source).defines | frozenset(cell.assigns)
