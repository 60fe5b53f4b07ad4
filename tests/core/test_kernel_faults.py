"""Kernels that are not there, die, or are another one: each has a defined outcome."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.base.errors import KernelError, ModelError
from jupyter_codeinterp.kernel.zmq import ZmqKernel, link
from jupyter_codeinterp.kernel.zmq import run as run_module
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import BeginRun
from jupyter_codeinterp.wire.ports import KernelInfo
from tests.core.conftest import Room, open_room
from tests.kernels import ONE_SPEC, kernel_of
from tests.scripted import Bench, call, run, say

Benches = Callable[..., Bench]


async def test_a_notebook_without_a_kernel(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"), say("No kernel."), kernel=kernel_of(room.pool, None))
    ended = await b.turn()
    assert ended.stop_reason == "end_turn"
    assert b.results[0].startswith("status=not_started\nThe notebook has no kernel.")
    assert b.document.sources() == ["x = 20"]
    assert "the notebook has no kernel" in str(b.model.requests[0].messages[0])


async def test_variables_without_a_kernel(bench: Benches, room: Room) -> None:
    kernel = kernel_of(room.pool, None)
    b = bench(call("inspect_variables"), say("No kernel."), kernel=kernel)
    assert (await b.turn()).stop_reason == "end_turn"
    assert b.results[0].startswith("status=not_started")


KILLS = {
    "import os; os._exit(1)": "died",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": "died",
    "exit()": "exit or quit",
}

SWALLOWS = """
import time
while True:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.parametrize(("code", "words"), KILLS.items())
async def test_code_that_ends_its_kernel_has_failed(bench: Benches, code: str, words: str) -> None:
    """In the cell, the result, the panel and at the end of the turn."""
    async with open_room() as room:
        lost = ModelError("bad_request", "Enough.")
        b = bench(run("a = 1"), run(code), run("b = 1"), lost, kernel=room.kernel)
        ended = await b.turn()
        assert b.results[1].startswith("status=error")
        assert words in b.results[1] and "All its variables are gone" in b.results[1]
        assert b.results[2].startswith("status=ok")
        (note,) = b.of(e.Note)
        assert words in note.text and note.level == "warning"
        (cell_id,) = ended.failed
        (output,) = (b.document.cell(cell_id) or {})["outputs"]
        assert output["ename"] == "DeadKernelError" and words in output["evalue"]
        await b.session.close()


async def test_code_that_ignores_its_interrupt_does_not_hold_the_next_for_ever(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody can restart the kernel, as in ``run --yes``. The cell has failed."""
    monkeypatch.setattr(link, "STUCK_TIMEOUT", 0.2)
    monkeypatch.setattr("jupyter_codeinterp.kernel.zmq.run.INTERRUPT_TIMEOUT", 0.2)
    async with open_room() as room:
        b = bench(
            run(SWALLOWS, timeout_s=1),
            run("b = 1"),
            say("Stuck."),
            run("c = 1"),
            say("Free."),
            kernel=room.kernel,
        )
        ended = await b.turn()
        assert ended.stop_reason == "end_turn"
        assert [one.cell_id for one in ended.cleared] == [b.of(e.ToolDone)[0].cell_id]
        assert b.results[0].startswith("status=timeout") and "ignored" in b.results[0]
        assert b.results[1].startswith(f"status=not_started\n{link.STUCK}")
        await room.restart()
        assert (await b.turn()).stop_reason == "end_turn"
        assert b.results[2].startswith("status=ok")
        await b.session.close()


async def test_a_kernel_that_was_restarted_between_two_cells(bench: Benches) -> None:
    async with open_room() as room:
        b = bench(run("a = 1"), run("b = 2"), say("Done."), say("Again."), kernel=room.kernel)
        b.send()
        b.decide(await b.draft())
        await b.event(e.ToolDone)
        second = await b.draft(2)
        await room.restart()
        b.decide(second)
        b.decide(await b.draft(3))
        await b.ended()
        assert "All earlier variables are gone" not in b.results[0]
        assert "All earlier variables are gone" in b.results[1]
        await room.restart()
        await b.turn()
        assert "all variables are gone" in str(b.model.requests[-1].messages[-1])
        await b.session.close()


async def test_a_kernel_that_changes_at_the_last_moment_asks_again(
    bench: Benches, room: Room
) -> None:
    async with open_room() as other:
        rooms = {room.kernel_id: room, other.kernel_id: other}
        now = [room.kernel_id]

        async def current() -> str | None:
            return now[0]

        b = bench(run("a = 1"), say("Done."), kernel=ZmqKernel(room.pool, current, ONE_SPEC))

        def change(op: object) -> None:
            if isinstance(op, BeginRun):
                b.document.before_op = None
                now[0] = "gone"

        b.document.before_op = change
        b.send()
        first = await b.draft()
        b.decide(first)
        second = await b.draft(2)
        cell = b.document.cell(first.cell_id)
        assert cell is not None and (cell["cell_type"], cell["source"]) == ("raw", "a = 1")
        assert second.nonce != first.nonce and "restarted or changed" in second.notices[0]
        assert [await place.ran() for place in rooms.values()] == [[], []]
        now[0] = room.kernel_id
        b.decide(second, "reject")
        await b.ended()
        assert b.document.sources() == ["x = 20"]


async def test_a_decision_before_the_kernel_is_there(bench: Benches, room: Room) -> None:
    """As in a new notebook: it is good for the kernel that has come by then."""
    now = [""]

    async def current() -> str | None:
        return now[0] or None

    b = bench(run("a = 1"), say("Done."), kernel=ZmqKernel(room.pool, current, ONE_SPEC))
    b.send()
    draft = await b.draft()
    now[0] = room.kernel_id
    b.decide(draft)
    await b.ended()
    assert await room.ran() == ["a = 1"]
    assert b.results[0].startswith("status=ok")


async def test_what_a_person_sees_of_a_mended_cell_in_auto(bench: Benches) -> None:
    b = bench(run("1 / 0"), run("1 / 2"), say("Half."))
    await b.turn()
    assert b.sequence == [
        "TurnStarted",
        *("StepStarted", "ToolStarted", "DraftOpened", "DraftDecided", "RunStarted", "ToolDone"),
        *("StepStarted", "ToolStarted", "DraftOpened", "DraftDecided", "RunStarted", "ToolDone"),
        *("StepStarted", "TextDone", "TurnEnded"),
    ]


async def test_what_a_person_sees_of_a_stopped_turn(bench: Benches) -> None:
    b = bench(run("a = 1"))
    b.send()
    await b.draft()
    b.session.task.cancel()
    await b.ended()
    assert b.sequence == [
        "TurnStarted",
        *("StepStarted", "ToolStarted", "DraftOpened", "DraftWaiting"),
        *("DraftDecided", "ToolDone", "TurnEnded"),
    ]


async def test_in_auto_the_policy_decides_anew_for_a_kernel_that_was_restarted(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_room() as room:
        restarts = [True]

        look = room.kernel.info

        async def restart() -> KernelInfo:
            """After the kernel was looked at, and before the code is sent to it."""
            found = await look()
            opened = b.of(e.DraftOpened)
            if restarts and opened:
                restarts.pop()
                await room.restart()
            return found

        b = bench(run("a = 1"), say("Done."), kernel=room.kernel)
        monkeypatch.setattr(room.kernel, "info", restart)
        assert (await b.turn()).stop_reason == "end_turn"
        assert restarts == [] and b.of(e.DraftWaiting) == []
        assert await room.ran() == ["a = 1"] and b.results[0].startswith("status=ok")
        assert {one.by for one in b.of(e.DraftDecided)} == {"policy"}
        await b.session.close()


async def test_after_a_fault_of_ours_the_result_says_that_the_code_ran(
    bench: Benches, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = bench(run("a = 1\nprint(a, flush=True)\nimport time; time.sleep(30)"), say("Done."))

    def broken(*_: object) -> None:
        raise RuntimeError("broken for this test")

    monkeypatch.setattr(b.document, "outputs", broken)
    assert (await b.turn()).stop_reason == "error"
    assert b.results[0].startswith("status=interrupted")
    assert "may have had effects" in b.results[0]
    assert len(b.document.sources()) == 2, "its cell stays"
    assert await room.run("print(a)") == "1\n"


async def test_a_kernel_that_is_lost_after_the_code_ran(
    bench: Benches, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object, **__: object) -> None:
        raise KernelError("kernel_dead", "The kernel is gone.")

    monkeypatch.setattr(run_module, "replace_unusable", lost)
    b = bench(run("a = 1"), say("Done."))
    assert (await b.turn()).stop_reason == "end_turn"
    assert b.results[0].startswith("status=interrupted")
    assert "may have had effects" in b.results[0]
