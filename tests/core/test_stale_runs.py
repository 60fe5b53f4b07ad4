"""What the model hears of a run that read what is out of date."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_codeinterp.run.turn.staleness import Watch
from jupyter_codeinterp.wire import events as e
from tests.scripted import Bench, call, run, say

Benches = Callable[..., Bench]


async def test_the_model_hears_of_what_its_run_read_and_only_then(bench: Benches) -> None:
    b = bench(
        run("w = 1"), run("x = w"), say("Done."), run("y = x + 1"), run("z = 1"), say("Done.")
    )
    watch = b.session.workplace.watch = Watch()
    await b.turn(mode="auto")
    first = b.of(e.RunStarted)[0]
    watch.ran(first.kernel_id, first.cell_id, 10_000, "w = 2")
    await b.turn(mode="auto")
    number = b.of(e.ToolDone)[1].execution_count
    words = f"`x` comes from [{number}], which is out of date."
    assert [words in result for result in b.sent_results] == [False, False, True, False]
    assert ["out of date" in result for result in b.sent_results] == [False, False, True, False]


async def test_an_edit_names_the_cells_that_it_has_made_out_of_date(bench: Benches) -> None:
    b = bench(
        run("w = 1"),
        run("x = w"),
        run("y = x"),
        run("z = 1"),
        lambda request: call("edit_cell", cell_id=ids()[0], source="w = 2"),
        lambda request: call("run_cells", cell_ids=ids()[1:3]),
        lambda request: call("edit_cell", cell_id=ids()[3], source="z = 2"),
        say("Done."),
    )

    def ids() -> list[str]:
        return [done.cell_id for done in b.of(e.ToolDone)]

    b.session.workplace.watch = Watch()
    await b.turn(mode="auto")
    words = f"[Out of date now: {ids()[1]}, {ids()[2]}.]"
    assert [words in result for result in b.sent_results] == [False] * 4 + [True, False, False]
    assert "Out of date now" not in "".join((*b.sent_results[:4], *b.sent_results[5:]))
