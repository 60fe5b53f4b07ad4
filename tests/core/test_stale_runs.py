"""What the model hears of a run that read what is out of date."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_codeinterp.run.turn.staleness import Watch
from jupyter_codeinterp.wire import events as e
from tests.scripted import Bench, run, say

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
