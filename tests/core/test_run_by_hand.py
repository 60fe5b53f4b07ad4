"""The person runs a draft's own cell by a command of the notebook: the server never runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import BeginRun, FinishRun
from tests.core.by_hand import begin, by_hand
from tests.core.conftest import Room
from tests.kernels import Gate
from tests.scripted import Bench, call, fix, run, say

Benches = Callable[..., Bench]


async def test_it_runs_once_and_its_outputs_are_the_result(bench: Benches, room: Room) -> None:
    b = bench(run("n = 5\nprint(n)"), say("Done."))
    b.send()
    draft = await b.draft()
    await by_hand(b, room, draft)
    await b.ended()
    with pytest.raises(CommandError, match="already decided"):
        b.decide(draft)
    assert await room.ran() == ["n = 5\nprint(n)"]
    assert b.document.sources() == ["x = 20", "n = 5\nprint(n)"]
    assert not any(isinstance(op, (BeginRun, FinishRun)) for op in b.document.ops)
    assert b.results[0].startswith(f"status=ok cell_id={draft.cell_id} place=2/2 execution_count=")
    assert b.results[0].endswith("The person ran this cell themselves.\n5")
    decided = b.of(e.DraftDecided)[0]
    assert (decided.action, decided.by, decided.reason) == ("run", "person", "Run by hand.")


async def test_what_they_typed_into_it_is_what_ran(bench: Benches, room: Room) -> None:
    b = bench(run("print(1)"), say("Done."))
    b.send()
    await by_hand(b, room, await b.draft(), "print(2)")
    await b.ended()
    assert "The person edited the code" in b.results[0] and b.results[0].endswith("\n2")
    assert await room.ran() == ["print(2)"]


async def test_it_fails_and_is_fixed_in_its_cell(bench: Benches, room: Room) -> None:
    b = bench(run("n = 1 / 0"), fix("n = 1"), say("Done."))
    b.send()
    draft = await b.draft()
    begin(b, draft)
    error = {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "", "traceback": []}
    b.document.end_by_hand(draft.cell_id, [error])
    second = await b.draft(2)
    assert (second.kind, second.cell_id) == ("edit", draft.cell_id)
    b.decide(second)
    await b.ended()
    assert b.results[0].startswith("status=error") and "ZeroDivisionError" in b.results[0]
    assert b.document.sources() == ["x = 20", "n = 1"]


async def test_stop_leaves_it_alone(bench: Benches, room: Room, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "open")
    b = bench(run(gate.source))
    b.send()
    draft = await b.draft()
    await room.person.begun(room.person.run(begin(b, draft)))
    await b.event(e.DraftDecided)
    b.session.task.cancel()
    assert (await b.ended()).stop_reason == "cancelled"
    gate.open()
    assert b.document.sources() == ["x = 20", gate.source]
    assert b.results[0].startswith(f"status=not_confirmed cell_id={draft.cell_id}")


async def test_the_same_text_run_anywhere_else_decides_nothing(bench: Benches, room: Room) -> None:
    b = bench(run("print('there')"), say("Done."))
    b.send()
    draft = await b.draft()
    await room.run("print('there')")
    b.session.decisions.run_by_hand("c1", "print('there')")
    await room.run("pass")
    assert b.of(e.DraftDecided) == []
    b.decide(draft, "reject")
    await b.ended()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("edit_cell", {"cell_id": "c1", "source": "x = 21"}),
        ("delete_cell", {"cell_id": "c1"}),
        ("scratch", {"source": "x = 21"}),
    ],
)
async def test_no_other_draft_is_decided_by_it(
    bench: Benches, room: Room, name: str, given: dict[str, str]
) -> None:
    b = bench(call(name, title="A title", **given), say("Done."))
    b.send()
    draft = await b.draft()
    b.session.decisions.run_by_hand(draft.cell_id, "x = 22")
    await room.run("pass")
    assert b.of(e.DraftDecided) == []
    b.decide(draft, "reject")
    await b.ended()
    assert await room.ran() == ["pass"] and b.document.sources() == ["x = 20"]


async def test_run_was_pressed_and_waits_for_the_kernel(
    bench: Benches, room: Room, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "open")
    b = bench(run("print('once')"), say("Done."))
    b.send()
    draft = await b.draft()
    await room.person.begun(room.person.run(gate.source))
    b.decide(draft)
    await b.event(e.KernelWaiting)
    begin(b, draft)
    gate.open()
    await b.ended()
    assert await room.ran() == [gate.source], "ours did not run"
    assert "The person runs this cell themselves." in b.results[0]
