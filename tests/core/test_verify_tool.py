"""The tool ``verify``: it asks like a run, and tells the model of each cell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import pytest

from jupyter_codeinterp.agent.tools.built_in import verify
from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.cli.terminal.fronts import more
from jupyter_codeinterp.run.turn.hooks import CellCode, Hook, Notes, Refusal
from jupyter_codeinterp.run.turn.limits import Rules
from jupyter_codeinterp.run.verify import verification
from jupyter_codeinterp.run.verify.verification import CellLine, CodeCell, Verification
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.events import Mode
from tests.scripted import Bench, call, say

Benches = Callable[..., Bench]
LINES = (
    CellLine("a", 1, "x", "same"),
    CellLine("b", 2, "y", "same"),
    CellLine("c", 3, "z", "differs", "North 1", "North 2"),
    CellLine("d", 4, "z", "failed", text=Sentence("NameError: gone")),
    CellLine("e", 5, "z", "skipped", text=Sentence("A cell above failed.")),
)


class Fresh:
    """A fresh kernel that gives these lines."""

    def __init__(self, b: Bench, *faults: CommandError) -> None:
        self._b = b
        self.faults = list(faults)
        self.ran: list[bool] = []
        self.hold: asyncio.Event | None = None
        self.begins = asyncio.Event()
        self.cancelled = False
        self.lines: tuple[CellLine, ...] = LINES

    async def cells(self) -> Sequence[CodeCell]:
        cells = [c for c in self._b.document.notebook["cells"] if c["cell_type"] == "code"]
        return [
            CodeCell(one["id"], number, one["source"], one.get("execution_count"))
            for number, one in enumerate(cells, 1)
        ]

    async def run(self, in_place: bool) -> Verification:
        if self.faults:
            raise self.faults.pop(0)
        self.ran.append(in_place)
        self.begins.set()
        try:
            if self.hold is not None:
                await self.hold.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return Verification("memory.ipynb", "done", self.lines)


def fresh(b: Bench, *faults: CommandError) -> Fresh:
    made = Fresh(b, *faults)
    b.session.workplace.fresh_runs = made
    return made


async def test_it_asks_and_tells_of_each_cell(bench: Benches) -> None:
    b = bench(call("verify"), say("It does not run."))
    runs = fresh(b)
    b.send("Go", "review")
    draft = await b.draft()
    assert (draft.kind, draft.cell_id, draft.runs) == ("verify", "", False)
    assert draft.source == f"Run 1 cell from the top in a fresh kernel.\n{verify.COPY}"
    assert runs.ran == [], "nothing runs before the decision"
    b.decide(draft)
    await b.ended()
    assert runs.ran == [False]
    (done,) = b.of(e.ToolDone)
    words = "5 cells: 2 same, 1 differs, 1 failed, 1 skipped."
    assert (done.status, done.summary) == ("error", words)
    told = b.results[0]
    for line in (
        words,
        "Cells 1 (a) to 2 (b): same",
        "Cell 3 (c): differs; it was 'North 1' and is 'North 2'",
        "Cell 4 (d): failed; NameError: gone",
        "Cell 5 (e): skipped",
    ):
        assert line in told


@pytest.mark.parametrize(("mode", "asks"), [("auto", False), ("plan", False)])
async def test_as_the_mode_says(bench: Benches, mode: Mode, asks: bool) -> None:
    b = bench(call("verify"), say("Well."))
    runs = fresh(b)
    await b.turn("Go", mode)
    assert bool(b.of(e.DraftWaiting)) is asks
    assert runs.ran == ([False] if mode == "auto" else [])
    assert ("the notebook was not run" in b.results[0]) is (mode == "plan")


async def test_a_rejection_runs_nothing(bench: Benches) -> None:
    b = bench(call("verify"), say("Then not."))
    runs = fresh(b)
    b.send("Go", "review")
    b.decide(await b.draft(), "reject")
    await b.ended()
    assert runs.ran == [] and b.of(e.ToolDone)[0].status == "rejected"


async def test_in_its_own_folder_it_asks_in_every_mode(bench: Benches) -> None:
    b = bench(call("verify"), say("Well."))
    runs = fresh(b, CommandError("in_folder", "The notebook's folder has more than 500 files."))
    b.send("Go", "auto")
    draft = await b.draft()
    assert verify.IN_PLACE in draft.source
    assert draft.notices == ("The notebook's folder has more than 500 files.",)
    b.decide(draft)
    await b.ended()
    assert runs.ran == [True]


async def test_a_decision_holds_for_the_cells_that_it_was_about(bench: Benches) -> None:
    b = bench(call("verify"), say("Well."))
    runs = fresh(b)
    b.send("Go", "review")
    draft = await b.draft()
    b.document.notebook["cells"][0]["source"] = "y = 21"
    b.decide(draft)
    again = await b.draft(2)
    assert again.notices == (verify.CHANGED,) and runs.ran == []
    b.decide(again)
    await b.ended()
    assert runs.ran == [False]


async def test_a_file_that_is_not_saved_runs_nothing(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = bench(call("verify"), say("Well."))
    runs = fresh(b)

    now = await runs.cells()

    async def older() -> Sequence[CodeCell]:
        """The same code, before its last run."""
        return [msgspec.structs.replace(cell, count=99) for cell in now]

    monkeypatch.setattr(runs, "cells", older)
    monkeypatch.setattr(verify, "SAVED_WITHIN", 0.2)
    await b.turn("Go", "auto")
    assert runs.ran == [] and verify.NOT_SAVED in b.results[0]


async def test_stop_cancels_it(bench: Benches) -> None:
    b = bench(call("verify"))
    runs = fresh(b)
    runs.hold = asyncio.Event()
    b.send("Go", "auto")
    await runs.begins.wait()
    b.session.task.cancel()
    ended = await b.ended()
    assert ended.stop_reason == "cancelled" and runs.cancelled
    assert b.of(e.ToolDone)[0].status == "interrupted"


async def test_hooks_say_no_to_it_as_to_a_run(bench: Benches) -> None:
    def refuse(code: CellCode) -> Refusal | None:
        return Refusal("No such code here.") if "20" in code.source else None

    b = bench(call("verify"), say("Well."), hooks=(Hook("firm", before_run=refuse),))
    runs = fresh(b)
    await b.turn("Go", "auto")
    assert runs.ran == [] and b.of(e.DraftWaiting) == []
    (done,) = b.of(e.ToolDone)
    assert (done.status, done.summary) == ("not_run", "firm: No such code here.")


async def test_a_hook_asks_about_it_as_about_a_run(bench: Benches) -> None:
    def ask(code: CellCode) -> Notes:
        return Notes(("Costs $5.",), ask=True)

    b = bench(call("verify"), say("Well."), hooks=(Hook("costs", before_run=ask),))
    runs = fresh(b)
    b.send("Go", "auto")
    draft = await b.draft()
    assert draft.notices == ("costs: Costs $5.",) and runs.ran == []
    b.decide(draft, "reject")
    await b.ended()
    assert runs.ran == []


@pytest.mark.parametrize("is_wanted", [True, False])
async def test_a_sandbox_would_allow_it_as_it_would_a_run(bench: Benches, is_wanted: bool) -> None:
    """The report of what was not done names `--sandbox`."""
    b = bench(call("verify"), say("Well."), rules=Rules(auto_needs_sandbox=is_wanted))
    fresh(b)
    b.send("Go", "auto" if is_wanted else "review")
    draft = await b.draft()
    assert ("--sandbox" in more(draft)) is is_wanted
    b.decide(draft)
    await b.ended()


def test_private_cells_have_a_status_alone() -> None:
    now = Verification("n", "done", LINES)
    told = "\n".join(verification.lines(now, {"c"}, str))
    assert "North" not in told and "Cell 3 (c): differs" in told


def test_the_report_is_bounded() -> None:
    cells = tuple(CellLine(f"c{n}", n, "", "differs", "x" * 999, "y" * 999) for n in range(500))
    told = verification.lines(Verification("n", "done", cells), set(), str)
    assert len(told) == verification.MOST_LINES + 1 and told[-1] == "440 more lines"
    assert max(map(len, told)) < 2 * verification.LONGEST + 60
