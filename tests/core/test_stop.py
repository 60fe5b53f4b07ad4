"""Stop: within a second, whatever is under way; the next message works at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from jupyter_codeinterp.session import session as sessions
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Text, assistant
from jupyter_codeinterp.wire.ops import BeginRun, FinishRun
from tests.busy import SOON
from tests.core.conftest import Room, open_room
from tests.kernels import until
from tests.scripted import Bench, call, run, say

Benches = Callable[..., Bench]

ENDLESS = "n = 1\nprint('begun', flush=True)\nwhile True:\n    pass"


async def stopped(b: Bench) -> e.TurnEnded:
    """Press Stop; the turn must end at once."""
    began = time.monotonic()
    b.session.task.cancel()
    ended = await b.ended(len(b.of(e.TurnStarted)))
    assert time.monotonic() - began < SOON
    assert (ended.stop_reason, ended.retry) == ("cancelled", False)
    return ended


async def goes_on(b: Bench) -> None:
    """The next message is answered at once, and the model knows that it was stopped."""
    b.model.script = [say("Here.")]
    ended = await b.turn("And now?")
    assert ended.stop_reason == "end_turn"
    last = b.model.requests[-1].messages[-1].content
    words = [block.text for block in last if isinstance(block, Text)]
    assert words[-2:] == ["[The person stopped the previous turn.]", "And now?"]


async def test_in_the_stream_of_a_text(bench: Benches) -> None:
    b = bench(say("Let me tell you a long story."))
    b.model.hold = asyncio.Event()
    b.send()
    await b.event(e.TextDelta)
    ended = await stopped(b)
    b.model.hold = None
    assert ended.message == "Stopped."
    assert b.of(e.TextDone)[0].text == "Let"
    await goes_on(b)


async def test_in_the_stream_of_a_call_the_draft_goes(bench: Benches, room: Room) -> None:
    b = bench(run("print(1)\nprint(2)"))
    b.send()
    await b.event(e.DraftOpened)
    b.model.hold = asyncio.Event()
    ended = await stopped(b)
    b.model.hold = None
    assert b.document.sources() == ["x = 20"] and await room.ran() == []
    assert (ended.added, b.of(e.ToolDone)[0].status) == ((), "not_started")
    await goes_on(b)


async def test_while_a_decision_waits(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"))
    b.send()
    draft = await b.draft()
    ended = await stopped(b)
    assert b.document.sources() == ["x = 20"] and await room.ran() == []
    assert ended.added == () and not b.session.waiting
    decided = b.of(e.DraftDecided)[0]
    assert (decided.action, decided.by) == ("reject", "stop")
    with pytest.raises(Exception, match="is no longer"):
        b.decide(draft)
    assert b.results[0].startswith("status=not_started")
    await goes_on(b)


async def test_while_a_question_waits(bench: Benches) -> None:
    b = bench(call("ask_user", question="Which?"))
    b.send()
    await b.event(e.QuestionAsked)
    await stopped(b)
    await goes_on(b)


async def test_while_our_cell_runs(bench: Benches, room: Room) -> None:
    b = bench(run(ENDLESS))
    b.send(mode="auto")
    await until(lambda: bool(b.document.shown))
    ended = await stopped(b)
    cell = b.document.notebook["cells"][1]
    assert [o["output_type"] for o in cell["outputs"]] == ["stream", "error"]
    assert cell["outputs"][0]["text"] == "begun\n"
    assert cell["outputs"][1]["ename"] == "KeyboardInterrupt"
    assert (await room.run("print(n)")).strip() == "1"
    assert b.results[0].startswith("status=interrupted") and "may have had effects" in b.results[0]
    assert ended.failed == (cell["id"],) == ended.added
    assert b.of(e.ToolDone)[0].status == "interrupted"
    await goes_on(b)


async def test_of_two_calls_the_second_is_not_started(bench: Benches, room: Room) -> None:
    b = bench(assistant(*run("a = 1").content, *run(ENDLESS).content, *run("b = 2").content))
    b.send(mode="auto")
    await until(lambda: bool(b.document.shown))
    await stopped(b)
    assert [text.split()[0] for text in b.results] == [
        "status=ok",
        "status=interrupted",
        "status=not_started",
    ]
    assert await room.ran() == ["a = 1", ENDLESS]
    assert b.document.sources() == ["x = 20", "a = 1", ENDLESS]
    await goes_on(b)


async def test_while_the_persons_own_cell_runs(bench: Benches, room: Room) -> None:
    await room.kernel.info()
    theirs = room.person.run("import time\ntime.sleep(1.5)\nslept = 1")
    await room.person.begun(theirs)
    b = bench(run("ours = 1"))
    b.send(mode="auto")
    await b.event(e.KernelWaiting)
    await b.event(e.DraftDecided)
    await stopped(b)
    assert not room.person.has(theirs, "status", "idle")
    assert await room.ran() == ["import time\ntime.sleep(1.5)\nslept = 1"]
    assert (await room.run("print(slept, 'ours' in dir())")).strip() == "1 False"
    assert b.document.sources() == ["x = 20"]
    assert "Nothing reached the kernel" in b.results[0]
    assert [x.text for x in b.of(e.Note)] == []
    await goes_on(b)


async def test_while_the_notebook_does_not_answer(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"))
    b.document.answers = False
    b.send(mode="auto")
    await b.event(e.UsageChanged)
    await stopped(b)
    assert await room.ran() == []
    b.document.answer()
    assert b.document.sources() == ["x = 20"]
    await goes_on(b)


async def test_between_the_last_op_and_the_request(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"))

    def freeze(op: object) -> None:
        if isinstance(op, BeginRun):
            asyncio.get_running_loop().call_soon(b.session.task.cancel)

    b.document.before_op = freeze
    b.send(mode="auto")
    ended = await b.ended()
    assert ended.stop_reason == "cancelled"
    assert await room.ran() == []
    assert b.results[0].startswith("status=not_started")
    assert "may have had effects" not in b.results[0]
    assert b.document.sources() == ["x = 20"]


async def test_at_the_very_moment_that_the_run_is_journaled(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"))
    b.send(mode="auto")

    async def stop() -> None:
        await b.event(e.RunStarted)
        b.session.task.cancel()

    stopping = asyncio.ensure_future(stop())
    await b.ended()
    await stopping
    ran = await room.ran()
    assert b.results[0].startswith("status=interrupted" if ran else "status=not_started")


async def test_after_the_code_has_run_but_before_the_notebook_says_so(
    bench: Benches, room: Room
) -> None:
    b = bench(run("print('ran')"))

    def freeze(op: object) -> None:
        if isinstance(op, BeginRun):
            b.document.answers = False

    b.document.before_op = freeze
    b.send(mode="auto")
    await until(lambda: any(isinstance(op, FinishRun) for op in b.document.ops))
    await stopped(b)
    assert b.results[0].startswith("status=ok") and "ran" in b.results[0]
    b.document.before_op = None
    b.document.answer()
    assert b.document.notebook["cells"][1]["outputs"][0]["text"] == "ran\n"
    await goes_on(b)


async def test_an_approved_edit_that_did_not_run_is_told_truly(bench: Benches, room: Room) -> None:
    await room.kernel.info()
    b = bench(call("edit_cell", cell_id="c1", source="x = 1"))
    b.send()
    draft = await b.draft()
    b.document.answers = False
    b.decide(draft)
    await until(lambda: len(b.document.ops) > 0)
    await stopped(b)
    assert "The cell may already have its new source" in b.results[0]
    b.document.answer()
    assert await room.ran() == []
    await goes_on(b)


async def test_stop_without_a_turn_does_nothing(bench: Benches) -> None:
    b = bench(say("Hi."))
    b.session.task.cancel()
    await b.turn()
    b.session.task.cancel()
    assert b.sequence == ["TurnStarted", "StepStarted", "TextDone", "TurnEnded"]


async def test_stop_twice_is_stop_once(bench: Benches) -> None:
    b = bench(run(ENDLESS))
    b.send(mode="auto")
    await until(lambda: bool(b.document.shown))
    b.session.task.cancel()
    await asyncio.sleep(0)
    b.session.task.cancel()
    await b.ended()
    assert b.results[0].startswith("status=interrupted")


async def test_a_kernel_that_does_not_obey_is_told_of(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "INTERRUPT_TIME", 0.5)
    stubborn = (
        "import time\nend = time.time() + 3\nprint('begun', flush=True)\n"
        "while time.time() < end:\n    try:\n        time.sleep(1)\n"
        "    except KeyboardInterrupt:\n        pass"
    )
    async with open_room() as room:
        b = bench(run(stubborn), kernel=room.kernel)
        b.send(mode="auto")
        await until(lambda: bool(b.document.shown))
        await stopped(b)
        cell = b.document.notebook["cells"][1]
        assert "has not reacted yet" in cell["outputs"][0]["text"]
        assert "has not reacted to the interrupt yet" in b.results[0]
        note = await b.event(e.Note)
        assert "restart the kernel" in note.text and note.level == "warning"
        await b.session.close()


async def test_the_server_shuts_down_in_mid_turn(bench: Benches, room: Room) -> None:
    b = bench(run(ENDLESS))
    b.send(mode="auto")
    await until(lambda: bool(b.document.shown))
    await b.session.close()
    assert b.of(e.TurnEnded)[0].stop_reason == "cancelled"


async def test_before_the_turn_has_begun(bench: Benches) -> None:
    """In the same step of the event loop as the message."""
    b = bench(say("Here."))
    b.send()
    ended = await stopped(b)
    assert ended.message == "Stopped." and b.model.requests == []
    await goes_on(b)
