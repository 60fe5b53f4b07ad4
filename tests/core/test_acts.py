"""What the person does to cells between two calls of the model: theirs to keep."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Text
from jupyter_codeinterp.wire.ports import ModelRequest
from tests.core.conftest import Room
from tests.scripted import Bench, call, fix, run, say

Benches = Callable[..., Bench]
Act = Callable[[Bench, Room, str], Any]
B = "print('B is', cause)"


async def run_by_hand(b: Bench, room: Room, cell_id: str) -> None:
    """With success: the cause above is repaired first."""
    await room.run("cause = 2")
    b.document.begin_by_hand(cell_id)
    cell = b.document.cell(cell_id)
    assert cell is not None
    text = await room.run(cell["source"])
    b.document.end_by_hand(cell_id, [{"output_type": "stream", "name": "stdout", "text": text}])


async def fail_by_hand(b: Bench, room: Room, cell_id: str) -> None:
    cell = b.document.cell(cell_id)
    assert cell is not None
    outputs = cell["outputs"]
    b.document.begin_by_hand(cell_id)
    b.document.end_by_hand(cell_id, outputs, count=cell["execution_count"] or 1)


async def begin(b: Bench, room: Room, cell_id: str) -> None:
    b.document.begin_by_hand(cell_id)


async def edit(b: Bench, room: Room, cell_id: str) -> None:
    b.document.edit(cell_id, B + "  # mine")


async def edit_and_run(b: Bench, room: Room, cell_id: str) -> None:
    await edit(b, room, cell_id)
    await run_by_hand(b, room, cell_id)


async def split(b: Bench, room: Room, cell_id: str) -> None:
    index = next(i for i, c in enumerate(b.document.notebook["cells"]) if c["id"] == cell_id)
    cell = b.document.notebook["cells"][index]
    rest = {**cell, "id": "rest", "source": "cause)", "outputs": [], "metadata": {}}
    b.document.edit(cell_id, "print('B is',")
    b.document.notebook["cells"].insert(index + 1, rest)


async def move(b: Bench, room: Room, cell_id: str) -> None:
    cells = b.document.notebook["cells"]
    cells.insert(0, cells.pop(next(i for i, c in enumerate(cells) if c["id"] == cell_id)))
    b.document.acts += 1
    await run_by_hand(b, room, cell_id)


async def restart_and_run_all(b: Bench, room: Room, cell_id: str) -> None:
    await room.restart()
    await run_by_hand(b, room, cell_id)


ACTS: dict[str, tuple[Act, str]] = {
    "runs it": (run_by_hand, "B is 2"),
    "runs it, and it fails again": (fail_by_hand, 'status="error"'),
    "has begun to run it": (begin, "running, or not run"),
    "edits it": (edit, "# mine"),
    "edits and runs it": (edit_and_run, "# mine"),
    "splits it": (split, 'change="edited"'),
    "moves and runs it": (move, "B is 2"),
    "restarts the kernel and runs all": (restart_and_run_all, "B is 2"),
}


@pytest.mark.parametrize("follows", [run("print('C')"), say("Done.")], ids=["a cell", "the end"])
@pytest.mark.parametrize("name", ACTS)
async def test_a_failed_cell_that_the_person_took_in_hand_stays(
    bench: Benches, room: Room, name: str, follows: Any
) -> None:
    act, _ = ACTS[name]
    b = bench(run(B), follows, say("Done."))
    await acting(b, room, act)
    await b.ended()
    cell_id = b.of(e.ToolDone)[0].cell_id
    cell = b.document.cell(cell_id)
    assert cell is not None, "it was the person's"
    if act in (run_by_hand, edit_and_run, move, restart_and_run_all):
        assert "B is 2" in cell["outputs"][0]["text"]
    assert cell["source"] in (B, B + "  # mine", "print('B is',")
    assert b.of(e.TurnEnded)[-1].cleared == ()


async def acting(b: Bench, room: Room, act: Act) -> None:
    """Begin a turn in Auto; the person acts while the model thinks about its second reply."""
    holds, asked = asyncio.Event(), asyncio.Event()
    b.send(mode="auto")
    done = asyncio.ensure_future(b.event(e.ToolDone))
    b.model.hold = None
    first = b.model.stream

    async def stream(request: ModelRequest) -> Any:
        if len(b.model.requests) == 1:
            asked.set()
            await holds.wait()
        async for event in first(request):
            yield event

    b.model.stream = stream
    cell_id = (await done).cell_id
    await asked.wait()
    await act(b, room, cell_id)
    holds.set()


@pytest.mark.parametrize("name", ACTS)
async def test_the_model_is_told_before_its_next_step(
    bench: Benches, room: Room, name: str
) -> None:
    act, told = ACTS[name]
    b = bench(run(B), run("print('C')"), say("Done."))
    await acting(b, room, act)
    await b.ended()
    words = _changes_told(b)
    assert len(words) == 1 and told in words[0], words


def _changes_told(b: Bench) -> list[str]:
    """What the third request says of the person's changes."""
    texts = [one.text for one in b.model.requests[2].messages[-1].content if isinstance(one, Text)]
    assert all(text.startswith('<changes by="person"') for text in texts), texts
    return texts


async def test_nothing_is_read_where_the_person_did_nothing(bench: Benches) -> None:
    b = bench(run("1"), run("2"), say("Done."))
    await b.turn()
    assert b.document.looks == 1


async def test_a_deleted_cell_is_told_and_the_next_one_is_new(bench: Benches, room: Room) -> None:
    async def delete(b: Bench, room: Room, cell_id: str) -> None:
        b.document.delete(cell_id)

    b = bench(run(B), run("print('C')"), say("Done."))
    await acting(b, room, delete)
    await b.ended()
    assert b.document.sources() == ["x = 20", "print('C')"]
    (words,) = _changes_told(b)
    assert "<removed>" in words


async def test_in_auto_an_own_cell_that_the_person_ran_is_edited_only_if_they_say_so(
    bench: Benches, room: Room
) -> None:
    b = bench(run("n = 1\nprint(n)"), say("One."))
    await b.turn()
    cell_id = b.of(e.ToolDone)[0].cell_id
    b.document.begin_by_hand(cell_id)
    b.document.end_by_hand(cell_id, [])
    b.model.script = [call("edit_cell", cell_id=cell_id, source="n = 2"), say("Done.")]
    b.send(mode="auto")
    b.decide(await b.draft(), "reject")
    await b.ended(2)
    assert b.document.sources()[-1] == "n = 1\nprint(n)"


async def test_a_cell_run_between_the_look_and_the_deed_is_asked_about(
    bench: Benches, room: Room
) -> None:
    """In the milliseconds in which nobody can have told."""
    b = bench(run(B), fix("print('C')"), say("Done."))

    def quick(op: Any) -> None:
        if type(op).__name__ == "SetSource" and op.last_run:
            b.document.before_op = None
            b.document.begin_by_hand(op.cell_id)
            b.document.end_by_hand(op.cell_id, [])

    b.document.before_op = quick
    assert (await b.turn()).stop_reason == "end_turn"
    assert B in b.document.sources()


@pytest.mark.parametrize(
    ("theirs", "told"),
    [
        ("print('looked')", []),
        ("new = 2", ["new"]),
        ("own = 'another'", ["own"]),
        ("seen.append(1)", ["seen"]),
        ("del own", ["own is gone"]),
    ],
)
async def test_variables_of_the_agents_own_runs_are_not_told_as_changes(
    bench: Benches, room: Room, theirs: str, told: list[str]
) -> None:
    """Runs of others between the turns are, with or without a cell."""
    b = bench(run("own = 1"), call("scratch", source="seen = []"), say("Done."))
    await b.turn(mode="auto")
    await room.run(theirs)
    b.model.script = [say("Again.")]
    b.send()
    await b.ended(2)
    said = str(b.model.requests[-1].messages[-1].content)
    lines = said.replace(">", "\\n").split("\\n")
    listed = [line.partition(":")[0] for line in lines if line.startswith(("own", "seen", "new"))]
    assert [one.partition("<")[0] for one in listed] == told
