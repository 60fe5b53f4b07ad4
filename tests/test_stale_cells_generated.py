"""Stale cells after any runs, edits, moves and deletions, against a naive rule over the log."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_codeinterp.core.staleness.runs import Runs
from jupyter_codeinterp.core.staleness.stale import Cell, find

NAMES = "xyz"
SOURCE = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.booleans())
"""What a cell binds, what it reads, and whether it reads anything."""
STEP = st.tuples(
    st.sampled_from(["run"] * 6 + ["edit", "edit", "delete", "insert", "move", "restart"]),
    st.integers(0, 9),
    SOURCE,
)
Source = tuple[str, str, bool]


def code(source: Source) -> str:
    bound, read, reads = source
    return f"{bound} = {read} + 1" if reads else f"{bound} = 1"


class Naive:
    """The log of all runs in this start of the kernel, and the cells from the top."""

    def __init__(self) -> None:
        self.cells: list[tuple[str, Source]] = []
        self.log: list[tuple[str, Source]] = []

    def last(self, cell: str) -> int:
        return max((n for n, (ran, _) in enumerate(self.log) if ran == cell), default=-1)

    def writes(self, cell: str, name: str) -> list[int]:
        return [n for n, (ran, (bound, *_)) in enumerate(self.log) if (ran, bound) == (cell, name)]

    def kind(self, place: int) -> str:
        cell, source = self.cells[place]
        if (last := self.last(cell)) < 0:
            return ""
        ran = self.log[last][1]
        if code(ran) != code(source):
            return "edited"
        _, name, reads = ran
        return self.kind_of_input(place, last, name) if reads else ""

    def kind_of_input(self, place: int, last: int, name: str) -> str:
        for above in reversed(range(place)):
            origin = self.cells[above][0]
            at = self.last(origin)
            if at >= 0 and self.log[at][1][0] == name:
                if at > last:
                    return "changed"
                kind = self.kind(above)
                return {"edited": "waits", "waits": "waits", "": ""}.get(kind, "upstream")
        here = [cell for cell, _ in self.cells]
        earlier = {
            cell: runs
            for cell in {cell for cell, _ in self.log}
            if (runs := self.writes(cell, name)) and runs[0] < last
        }
        present = [runs[-1] for cell, runs in earlier.items() if cell in here]
        if present:
            return "changed" if max(present) > last else ""
        set_now = any(bound == name for _, (bound, *_) in self.cells)
        return "deleted" if earlier and not set_now else ""


@settings(max_examples=150, deadline=None)
@given(st.lists(SOURCE, min_size=2, max_size=4), st.lists(STEP, max_size=30))
def test_any_story(sources: list[Source], steps: list[tuple[str, int, Source]]) -> None:
    naive, runs = Naive(), Runs()
    naive.cells = [(f"c{number}", source) for number, source in enumerate(sources)]
    made = len(sources)
    for what, where, source in steps:
        place = where % max(1, len(naive.cells))
        if what == "restart":
            naive.log.clear()
            runs.restarted()
        elif what == "insert":
            naive.cells.insert(place, (f"c{made}", source))
            made += 1
        elif naive.cells:
            cell, own = naive.cells[place]
            if what == "run":
                naive.log.append((cell, own))
                runs.ran(cell, len(naive.log), code(own))
            elif what == "edit":
                naive.cells[place] = (cell, source)
            else:
                del naive.cells[place]
                if what == "move":
                    naive.cells.insert(where % (len(naive.cells) + 1), (cell, own))
        found = find([Cell(cell, code(now)) for cell, now in naive.cells], runs)
        kinds = {cell: naive.kind(number) for number, (cell, _) in enumerate(naive.cells)}
        said = {cell: found[cell].kind if cell in found else "" for cell in kinds}
        assert said == kinds
