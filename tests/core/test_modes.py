"""Permission modes: what runs by itself, what asks, and that Plan changes nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from jupyter_codeinterp.run.approval.policy import NEEDS_SANDBOX
from jupyter_codeinterp.run.deciding import TYPED_INTO
from jupyter_codeinterp.run.turn.limits import Limits, Rules
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import Op, SetSource
from tests import pretending
from tests.core.conftest import Room
from tests.scripted import Bench, call, fix, last_cell, run, say

Benches = Callable[..., Bench]


async def test_auto_runs_without_asking(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"), fix("a = 2"), say("Done."))
    await b.turn(mode="auto")
    assert await room.ran() == ["a = 1", "a = 2"] and b.of(e.DraftWaiting) == []
    assert {x.by for x in b.of(e.DraftDecided)} == {"policy"}


@pytest.mark.parametrize(
    "theirs", [call("edit_cell", cell_id="c1", source="x = 1"), call("delete_cell", cell_id="c1")]
)
async def test_auto_asks_for_what_is_not_the_agents(
    bench: Benches, room: Room, theirs: object
) -> None:
    b = bench(lambda request: theirs, say("Done."))
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.cell_id == "c1" and not draft.can_run_all
    b.decide(draft, "reject")
    await b.ended()
    assert b.document.sources() == ["x = 20"] and await room.ran() == []


async def test_auto_asks_for_an_own_cell_that_the_person_has_changed(bench: Benches) -> None:
    b = bench(
        run("a = 1"),
        say("One."),
        lambda r: call("edit_cell", cell_id=last_cell(r), source="a = 3"),
        say("Done."),
    )
    await b.turn()
    cell = b.document.notebook["cells"][1]
    b.document.edit(cell["id"], "a = 2")
    b.send(mode="auto")
    draft = await b.draft()
    assert (draft.old_source, draft.source) == ("a = 2", "a = 3")
    b.decide(draft)
    await b.ended(2)
    assert b.document.sources() == ["x = 20", "a = 3"]


async def test_auto_asks_for_what_the_person_has_typed_into_a_draft(
    bench: Benches, room: Room
) -> None:
    """It was being written when they typed: nobody has decided on those bytes."""
    b = bench(run("a = 1"), say("Done."))
    b.model.pause = 0.06

    def type_into(op: Op) -> None:
        if isinstance(op, SetSource) and op.source == "a = 1":
            b.document.edit(op.cell_id, "a = 1 + x")

    b.document.before_op = type_into
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.source == "a = 1 + x" and draft.notices[0] == TYPED_INTO
    assert await room.ran() == []
    b.decide(draft)
    await b.ended()
    assert await room.ran() == ["a = 1 + x"]


async def test_metadata_of_the_notebook_makes_nothing_the_agents(bench: Benches) -> None:
    b = bench(call("edit_cell", cell_id="c1", source="x = 1"), say("Done."))
    b.document.notebook["cells"][0]["metadata"]["codeinterp"] = {
        "session": b.info.session_id,
        "turn": 1,
        "tool_call": "t",
    }
    b.send(mode="auto")
    draft = await b.draft()
    b.decide(draft, "reject")
    await b.ended()


async def test_run_all_is_for_the_rest_of_the_turn_only(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"), run("b = 2"), say("Done."), run("c = 3"), say("Done."))
    b.send()
    draft = await b.draft()
    assert draft.can_run_all
    b.decide(draft, run_all=True)
    await b.ended()
    assert await room.ran() == ["a = 1", "b = 2"] and len(b.of(e.DraftWaiting)) == 1
    assert b.session.info.mode == "review"
    b.send()
    b.decide(await b.draft(2), "reject")
    await b.ended(2)
    assert await room.ran() == ["a = 1", "b = 2"]


async def test_run_all_still_asks_for_the_persons_cells(bench: Benches) -> None:
    b = bench(run("a = 1"), call("delete_cell", cell_id="c1"), say("Done."))
    b.send()
    b.decide(await b.draft(), run_all=True)
    draft = await b.draft(2)
    assert draft.kind == "delete"
    b.decide(draft)
    ended = await b.ended()
    assert b.document.sources() == ["a = 1"] and ended.removed == ("c1",)


async def test_a_rejection_switches_nothing_to_auto(bench: Benches) -> None:
    b = bench(run("a = 1"), run("b = 2"), say("Done."))
    b.send()
    b.decide(await b.draft(), "reject", run_all=True)
    b.decide(await b.draft(2), "reject")
    await b.ended()


async def test_plan_changes_nothing(bench: Benches, room: Room) -> None:
    b = bench(
        run("a = 1"),
        call("edit_cell", cell_id="c1", source="x = 1"),
        call("add_markdown", source="# Hi"),
        call("delete_cell", cell_id="c1"),
        call("read_notebook"),
        say("I would load the data."),
    )
    before = copy.deepcopy(b.document.notebook)
    ended = await b.turn(mode="plan")
    assert b.document.notebook == before and b.document.ops == []
    assert await room.ran() == [] and b.of(e.DraftOpened) == []
    assert all(text.startswith("status=not_run\nPlan mode:") for text in b.results[:4])
    assert b.results[4].startswith("status=ok")
    assert ended.stop_reason == "end_turn"


async def test_the_highest_mode_caps_what_people_ask_for(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"), run("b = 2"), say("Done."), rules=Rules(highest_mode="review"))
    b.send(mode="auto")
    draft = await b.draft()
    assert b.session.info.mode == "review" and not draft.can_run_all
    b.session.set_mode("auto")
    assert b.session.info.mode == "review"
    b.decide(draft, run_all=True)
    b.decide(await b.draft(2), "reject")
    await b.ended()
    assert b.of(e.TurnStarted)[0].mode == "review"
    assert await room.ran() == ["a = 1"]


@pytest.mark.parametrize("sandboxed", [False, True])
async def test_auto_in_sandboxed_kernels_only(
    bench: Benches, room: Room, monkeypatch: pytest.MonkeyPatch, sandboxed: bool
) -> None:
    pretending.sandboxed(monkeypatch, sandboxed)
    b = bench(run("a = 1"), run("b = 2"), say("Done."), rules=Rules(auto_needs_sandbox=True))
    b.send(mode="auto")
    if not sandboxed:
        draft = await b.draft()
        assert draft.notices[0] == NEEDS_SANDBOX and not draft.can_run_all
        assert await room.ran() == []
        b.decide(draft, run_all=True)
        b.decide(await b.draft(2), "reject")
    await b.ended()
    assert await room.ran() == (["a = 1", "b = 2"] if sandboxed else ["a = 1"])


async def test_a_mode_set_in_mid_turn_counts_from_the_next_decision(
    bench: Benches, room: Room
) -> None:
    b = bench(run("a = 1"), run("b = 2"), run("c = 3"), say("Done."))
    b.send()
    first = await b.draft()
    b.session.set_mode("auto")
    assert await room.ran() == []
    b.decide(first)
    await b.event(e.RunStarted, 2)
    b.session.set_mode("plan")
    await b.ended()
    assert "c = 3" not in await room.ran()
    assert [x.mode for x in b.of(e.ModeChanged)] == ["auto", "plan"]
    assert b.results[-1].startswith("status=not_run\nPlan mode")


async def test_a_recording_asks_in_auto(bench: Benches) -> None:
    b = bench(run("a = 1"), say("Done."))
    b.model.always_ask = True
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.can_run_all, "by a person's own click"
    b.decide(draft, "reject")
    await b.ended()


@pytest.mark.parametrize("mode", ["review", "auto"])
async def test_run_all_lets_the_rest_of_a_recordings_turn_run(
    bench: Benches, room: Room, mode: e.Mode
) -> None:
    b = bench(run("a = 1"), fix("a = 2"), run("b = 3"), say("Done."), run("c = 4"), say("Done."))
    b.model.always_ask = True
    b.send(mode=mode)
    b.decide(await b.draft(), run_all=True)
    await b.ended()
    assert await room.ran() == ["a = 1", "a = 2", "b = 3"] and len(b.of(e.DraftWaiting)) == 1
    assert [x.by for x in b.of(e.DraftDecided)] == ["person", "policy", "policy"]
    assert len(b.of(e.DraftOpened)) == 3, "each is shown"
    b.send(mode=mode)
    b.decide(await b.draft(2), "reject")
    await b.ended(2)


async def test_run_all_of_a_recording_still_asks_for_what_must_ask_in_every_mode(
    bench: Benches, room: Room
) -> None:
    b = bench(run("a = 1"), run("b\u200b = 2"), run("c = 3"), say("Done."))
    b.model.always_ask = True
    b.send()
    b.decide(await b.draft(), run_all=True)
    draft = await b.draft(2)
    assert draft.source == "b\u200b = 2" and not draft.can_run_all
    b.decide(draft, "reject")
    await b.ended()
    assert await room.ran() == ["a = 1", "c = 3"]


async def test_a_mode_chosen_after_run_all_counts_for_a_recording(
    bench: Benches, room: Room
) -> None:
    b = bench(run("a = 1"), run("b = 2"), say("Done."))
    b.model.always_ask = True
    b.send(mode="review")
    b.decide(await b.draft(), run_all=True)
    await b.event(e.RunStarted)
    b.session.set_mode("auto")
    draft = await b.draft(2)
    assert draft.can_run_all
    b.decide(draft, "reject")
    await b.ended()
    assert await room.ran() == ["a = 1"]


async def test_the_time_limit_of_a_cell_is_autos(bench: Benches, room: Room) -> None:
    rules = Rules(Limits(cell_timeout=0.3))
    b = bench(run("import time\ntime.sleep(20)"), say("Slow."), rules=rules)
    await b.turn()
    assert b.results[0].startswith("status=timeout")
    assert "Interrupted at its time limit of 0.3 s. What it had done before stays." in b.results[0]
    slow = bench(run("import time\ntime.sleep(0.5)"), say("Done."), rules=rules)
    slow.send()
    slow.decide(await slow.draft())
    await slow.ended()
    assert slow.results[0].startswith("status=ok")


async def test_the_model_knows_what_a_run_may_take(bench: Benches) -> None:
    """Before the first run, and again where it set less itself."""
    rules = Rules(Limits(cell_timeout=300.0))
    short = run("import time\ntime.sleep(20)", timeout_s=0.2)
    b = bench(short, say("Slow."), rules=rules)
    await b.turn(mode="auto")
    assert "; unreviewed runs 5 minutes.]" in str(b.model.requests[0].messages)
    assert "time limit of 0.2 s" in b.results[0] and "up to 300." in b.results[0]


async def test_run_all_is_not_had_where_it_is_not_offered(bench: Benches, room: Room) -> None:
    b = bench(call("delete_cell", cell_id="c1"), run("a = 1"), say("Done."))
    b.send()
    deletion = await b.draft()
    assert not deletion.can_run_all
    b.decide(deletion, run_all=True)
    b.decide(await b.draft(2), "reject")
    await b.ended()
    assert await room.ran() == []
