"""A person runs a draft's code from elsewhere: it has run once, and that is the result."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.document.ops import BeginRun, FinishRun
from jupyter_codeinterp.core.errors import CommandError
from jupyter_codeinterp.core.events import Draft
from tests.core.conftest import Room, open_room
from tests.kernels import Gate, Intruder
from tests.scripted import Bench, call, last_cell, mend, run, say

Benches = Callable[..., Bench]


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "open")


def make_code(b: Bench, draft: Draft) -> None:
    """Lab's key `y` in the draft's cell."""
    cell = b.document.cell(draft.cell_id)
    assert cell is not None
    cell |= {"cell_type": "code", "outputs": [], "execution_count": None}


def refused(b: Bench, draft: Draft) -> str:
    with pytest.raises(CommandError) as raised:
        b.decide(draft)
    return raised.value.code


async def test_run_by_the_notebooks_own_command(bench: Benches, room: Room) -> None:
    b = bench(run("n = 5\nprint(n)"), say("Done."))
    b.send()
    draft = await b.draft()
    make_code(b, draft)
    await room.run("n = 5\nprint(n)")
    await b.ended()
    assert refused(b, draft) == "already_decided"
    assert await room.ran() == ["n = 5\nprint(n)"]
    assert b.document.sources() == ["x = 20", "n = 5\nprint(n)"]
    assert not any(isinstance(op, (BeginRun, FinishRun)) for op in b.document.ops)
    assert b.results[0].startswith(f"status=ok cell_id={draft.cell_id} execution_count=")
    assert b.results[0].endswith("The person ran this cell by themselves.\n5")
    decided = b.of(e.DraftDecided)[0]
    assert (decided.action, decided.by, decided.reason) == ("run", "person", "Run from elsewhere.")
    names = [name for name in b.sequence if name in ("DraftDecided", "RunStarted", "ToolDone")]
    assert names == ["DraftDecided", "RunStarted", "ToolDone"]


async def test_run_in_a_console_the_draft_goes(bench: Benches, room: Room) -> None:
    b = bench(run("print('there')"), say("Done."))
    b.send()
    draft = await b.draft()
    await room.run("print('there')")
    await b.ended()
    assert refused(b, draft) == "already_decided"
    assert await room.ran() == ["print('there')"] and b.document.sources() == ["x = 20"]
    assert b.results[0].startswith("status=ok execution_count=")
    assert "It was run from elsewhere; the draft was taken out" in b.results[0]
    assert b.results[0].endswith("\nthere")


async def test_it_fails_and_is_mended_in_its_cell(bench: Benches, room: Room) -> None:
    b = bench(run("n = 1 / 0"), mend("n = 1"), say("Done."))
    b.send()
    draft = await b.draft()
    make_code(b, draft)
    await room.run("n = 1 / 0")
    second = await b.draft(2)
    assert (second.kind, second.cell_id) == ("edit", draft.cell_id)
    b.decide(second)
    await b.ended()
    assert b.results[0].startswith("status=error") and "ZeroDivisionError" in b.results[0]
    assert await room.ran() == ["n = 1 / 0", "n = 1"]
    assert b.document.sources() == ["x = 20", "n = 1"]


async def test_a_proposed_edit_run_in_a_console_changes_no_cell(bench: Benches, room: Room) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="x = 1; print(x)"), say("Done."))
    b.send()
    await b.draft()
    await room.run("x = 1; print(x)")
    await b.ended()
    assert b.document.sources() == ["x = 20"] and b.document.ops == []
    assert "this cell was not changed.\n1" in b.results[0]
    assert await room.ran() == ["x = 1; print(x)"]


async def test_a_proposed_edit_typed_and_run_in_its_cell(bench: Benches, room: Room) -> None:
    edit = call("edit_cell", cell_id="c1", source="x = 1")
    b = bench(edit, lambda r: call("edit_cell", cell_id=last_cell(r), source="x = 2"), say("Done."))
    b.send()
    await b.draft()
    b.document.edit("c1", "x = 1")
    await room.run("x = 1")
    second = await b.draft(2)
    assert second.old_source == "x = 1", "the model knows what stands there now"
    b.decide(second, "reject")
    await b.ended()
    assert b.results[0].endswith("The person ran this cell by themselves.")
    assert await room.ran() == ["x = 1"] and b.document.sources() == ["x = 1"]


async def test_run_pressed_at_the_same_moment_it_runs_once(bench: Benches, room: Room) -> None:
    b = bench(run("print('once')"), say("Done."))
    b.send()
    draft = await b.draft()
    await room.run("print('once')")
    # Whether or not our own socket has heard of it by now.
    with contextlib.suppress(CommandError):
        b.decide(draft)
    await b.ended()
    assert await room.ran() == ["print('once')"]
    assert b.results[0].endswith("\nonce")


async def test_a_late_run_is_refused_while_it_still_runs(
    bench: Benches, room: Room, gate: Gate
) -> None:
    b = bench(run(gate.source), say("Done."))
    b.send()
    draft = await b.draft()
    room.person.run(gate.source)
    await b.event(e.DraftDecided)
    assert refused(b, draft) == "already_decided"
    gate.open()
    await b.ended()
    assert b.results[0].startswith("status=ok") and await room.ran() == [gate.source]


async def test_run_was_pressed_and_waited_for_the_kernel(
    bench: Benches, room: Room, gate: Gate
) -> None:
    b = bench(run("print('once')"), say("Done."))
    b.send()
    draft = await b.draft()
    await room.person.begun(room.person.run(gate.source))
    b.decide(draft)
    await b.event(e.KernelWaiting)
    room.person.run("print('once')")
    await room.person.arrived()
    gate.open()
    await b.ended()
    assert await room.ran() == [gate.source, "print('once')"]
    # Whether their request was in the kernel before ours had been held back is chance.
    assert "It was run from elsewhere" in b.results[0] and b.results[0].endswith("\nonce")


async def test_they_are_quicker_when_the_cell_is_marked(bench: Benches, room: Room) -> None:
    b = bench(run("print('once')"), say("Done."))

    def run_it(op: object) -> None:
        if isinstance(op, BeginRun):
            link = room.pool.get(room.kernel_id)[0]
            Intruder(link, room.person, "print('once')", first=True)

    b.document.before_op = run_it
    b.send()
    b.decide(await b.draft())
    await b.ended()
    assert await room.ran() == ["print('once')"]
    assert "It was run from elsewhere.\nonce" in b.results[0]
    assert b.document.notebook["cells"][1]["outputs"][0]["text"] == "once\n"


async def test_decided_before_it_runs_elsewhere_is_decided(bench: Benches, room: Room) -> None:
    b = bench(run("n = 5"), say("All right."))
    b.send()
    b.decide(await b.draft(), "reject")
    await room.run("n = 5")
    await b.ended()
    assert b.results == ["status=rejected\nThe person rejected this cell."]


async def test_other_code_is_not_taken_for_it(bench: Benches, room: Room) -> None:
    b = bench(run("n = 5"), say("Done."))
    b.send()
    draft = await b.draft()
    for other in ["n = 5 ", "n = 6", "n = 5\n"]:
        await room.run(other)
    assert b.of(e.DraftDecided) == []
    b.decide(draft)
    await b.ended()
    assert await room.ran() == ["n = 5 ", "n = 6", "n = 5\n", "n = 5"]


async def test_one_run_settles_one_of_two_drafts(bench: Benches, room: Room) -> None:
    first, second = (bench(run("print(7)"), say("Done.")) for _ in range(2))
    first.send()
    await first.draft()
    second.send()
    draft = await second.draft()
    await room.run("print(7)")
    await first.ended()
    assert second.of(e.DraftDecided) == []
    second.decide(draft)
    await second.ended()
    assert await room.ran() == ["print(7)", "print(7)"]


async def test_a_run_of_ours_is_nobodys_elsewhere(bench: Benches, room: Room) -> None:
    waiting, running = (bench(run("print(7)"), say("Done.")) for _ in range(2))
    waiting.send()
    draft = await waiting.draft()
    await running.turn()
    assert waiting.of(e.DraftDecided) == []
    waiting.decide(draft, "reject")
    await waiting.ended()


async def test_stop_leaves_it_alone(bench: Benches, room: Room, gate: Gate) -> None:
    source = f"{gate.source}\nprint('whole')"
    b = bench(run(source))
    b.send()
    draft = await b.draft()
    make_code(b, draft)
    theirs = room.person.run(source)
    await b.event(e.RunStarted)
    b.session.cancel()
    ended = await b.ended()
    assert ended.stop_reason == "cancelled" and b.document.sources() == ["x = 20", source]
    assert b.results[0].startswith("status=interrupted\nIt was run from elsewhere")
    gate.open()
    await room.person.finished(theirs)
    assert room.person.text(theirs) == "whole\n"


async def test_the_notebook_is_closed_meanwhile(bench: Benches, room: Room) -> None:
    b = bench(run("print(7)"), say("Done."))
    b.send()
    draft = await b.draft()
    make_code(b, draft)
    b.document.is_open = False
    await room.run("print(7)")
    await b.event(e.ToolDone)
    b.document.is_open = True
    await b.ended()
    assert b.results[0].endswith("It was run from elsewhere.\n7")
    assert b.document.sources() == ["x = 20", "print(7)"], "a cell that may be theirs stays"


async def test_the_server_dies_meanwhile_and_the_cell_stays(bench: Benches, room: Room) -> None:
    b = bench(run("print(7)"), say("On."))
    b.send()
    draft = await b.draft()
    make_code(b, draft)
    task = b.session._task
    assert task is not None
    b.document.answers = False
    task.cancel()
    await asyncio.wait({task})
    b.restart_server()
    await b.turn()
    assert b.document.sources() == ["x = 20", "print(7)"]


async def test_the_kernel_dies_of_it(bench: Benches) -> None:
    async with open_room() as room:
        source = "import os, time; time.sleep(0.3); os._exit(1)"
        b = bench(run(source), say("Oh."), kernel=room.kernel)
        b.send()
        await b.draft()
        room.person.run(source)
        await b.ended()
        assert b.results[0].startswith("status=interrupted")
        assert "variables are gone" in b.results[0]
        assert any("variables are gone" in note.text for note in b.of(e.Note))
