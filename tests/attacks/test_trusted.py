"""Outputs of a run that nobody has decided on are not trusted: no script in them runs."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_codeinterp.core.document import BeginRun, FinishRun
from tests.core.conftest import bench as bench
from tests.core.conftest import jp_asyncio_loop as jp_asyncio_loop
from tests.core.conftest import room as room
from tests.core.conftest import shared_room as shared_room
from tests.core.conftest import store as store
from tests.scripted import Bench, call, last_cell, run, say

Benches = Callable[..., Bench]


def trusts(b: Bench) -> list[bool]:
    """What each run was begun with; it has ended with the same."""
    begun = [op.trusted for op in b.document.ops if isinstance(op, BeginRun)]
    assert begun == [op.trusted for op in b.document.ops if isinstance(op, FinishRun)]
    return begun


async def test_a_cell_that_auto_runs_is_not_trusted(bench: Benches) -> None:
    b = bench(run("a = 1"), say("Done."))
    await b.turn(mode="auto")
    assert trusts(b) == [False]


async def test_a_cell_that_a_person_has_run_is_trusted_until_auto_runs_it_again(
    bench: Benches,
) -> None:
    b = bench(
        run("a = 1"),
        say("One."),
        lambda r: call("edit_cell", cell_id=last_cell(r), source="a = 2"),
        say("Done."),
    )
    b.send()
    b.decide(await b.draft())
    await b.ended()
    cell = b.document.notebook["cells"][1]
    assert cell["metadata"]["trusted"] is True
    b.send(mode="auto")
    await b.ended(2)
    assert trusts(b) == [True, False]
    assert "trusted" not in b.document.notebook["cells"][1]["metadata"]


async def test_what_run_all_lets_run_is_not_trusted(bench: Benches) -> None:
    b = bench(run("a = 1"), run("b = 2"), say("Done."))
    b.send()
    b.decide(await b.draft(), run_all=True)
    await b.ended()
    assert trusts(b) == [False, False]


async def test_a_cell_that_asks_in_auto_is_trusted_once_a_person_has_decided(
    bench: Benches,
) -> None:
    b = bench(run("a = 1" + "\n" * 30), say("Done."))
    b.send(mode="auto")
    b.decide(await b.draft())
    await b.ended()
    assert trusts(b) == [True]
