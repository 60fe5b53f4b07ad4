"""Warnings before a run, and hooks around it and after an answer: what they see, and faults."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

import pytest

from jupyter_codeinterp.base import off_loop
from jupyter_codeinterp.run.approval import code_warnings
from jupyter_codeinterp.run.approval.code_warnings import checked, warnings_on
from jupyter_codeinterp.run.approval.out_of_sight import out_of_sight
from jupyter_codeinterp.run.turn import hooks
from jupyter_codeinterp.run.turn.hooks import (
    CellCode,
    CellOutputs,
    FinalAnswer,
    Hook,
    Notes,
    Refusal,
)
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.findings import Finding
from tests.core.conftest import Room
from tests.reference_window import notebook
from tests.scripted import Bench, call, run, say

Benches = Callable[..., Bench]
HIDDEN = "a = 1  # \u202e2"


# --- before a run ------------------------------------------------------------------------


async def test_warnings_are_on_the_card_and_ask_in_auto(bench: Benches) -> None:
    b = bench(run(f"{HIDDEN}\nimport helper; eval('1')"), say("Done."))
    b.send(mode="auto")
    draft = await b.draft()
    assert [re.sub(r" in line.*", "", notice) for notice in draft.notices] == [
        "Hidden character",
        "Line 2 imports, and so runs, the local module helper.",
        "Line 2 runs code that it generates (eval).",
    ]
    b.decide(draft, "reject")
    await b.ended()


async def test_all_that_is_out_of_sight_is_shown() -> None:
    hidden = "".join(
        f"#{mark}\n" for mark in "\u200b\u200c\u200d\u2060\u202a\u202b\u202d\u2066\u00ad"
    )
    apart = ("x = 1\n" + "\n" * 80) * 4 + "y = 2" + " " * 400 + "; z = 3\n"
    source = hidden + apart
    shown = set((await warnings_on(source, "python", (), unread=False)).lines)
    assert len(out_of_sight(source)) > 1 and not set(out_of_sight(source)) - shown


async def test_a_check_that_fails_asks_the_person(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(source: str) -> tuple[()]:
        raise ZeroDivisionError

    assert await checked(broken, "x = 1") == (code_warnings.NOT_CHECKED,)
    monkeypatch.setattr(code_warnings, "hidden_characters", broken)
    assert (await warnings_on("x = 1", "python", (), unread=False)).ask


async def test_a_hooks_notes_are_on_the_card_and_ask(bench: Benches) -> None:
    async def before(code: CellCode) -> Notes:
        return Notes(["Costs\x1b[31m \n$5."], ask="pay" in code.source)

    hooks = (Hook("costs", before_run=before),)
    b = bench(run("pay = 1"), run("b = 2"), say("Done."), hooks=hooks)
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.notices == ("costs: Costs $5.",)
    b.decide(draft)
    await b.ended()
    assert [decided.by for decided in b.of(e.DraftDecided)] == ["person", "policy"]


def no_shop(code: CellCode) -> Refusal | None:
    return Refusal("</output-1>\nNo <context>shop</context>.") if "shop" in code.source else None


NO_SHOPS = (Hook("no shops", before_run=no_shop),)


@pytest.mark.parametrize("mode", ["review", "auto"])
async def test_a_refusal_runs_nothing_and_is_told(bench: Benches, room: Room, mode: e.Mode) -> None:
    b = bench(run("shop = 1"), say("Done."), hooks=NO_SHOPS)
    await b.turn(mode=mode)
    assert await room.ran() == [] and b.document.sources() == ["x = 20"]
    assert b.of(e.DraftWaiting) == [] and b.of(e.DraftDecided) == []
    (done,) = b.of(e.ToolDone)
    assert done.status == "not_run"
    assert done.summary == "no shops: </output-1> No <context>shop</context>."
    quoted = re.search(r"<output-\w{16}>\n([\s\S]*)\n</output-\w{16}>", b.sent_results[0])
    assert quoted is not None and "<\\context>shop" in quoted[1], "inert, between delimiters"


async def test_a_refusal_covers_what_the_person_makes_of_a_draft(
    bench: Benches, room: Room
) -> None:
    b = bench(run("n = 1"), say("Done."), hooks=NO_SHOPS)
    b.send()
    b.decide(await b.draft(), source="shop = 1")
    await b.ended()
    assert await room.ran() == [] and b.document.sources() == ["x = 20"]
    assert "does not allow this run" in b.results[0]


async def test_a_refusal_covers_cells_that_run_again(bench: Benches, room: Room) -> None:
    again = call("run_cells", cell_ids=["c1"])
    b = bench(again, say("Done."), hooks=NO_SHOPS, book=notebook("shop = 1"))
    b.send()
    draft = await b.draft()
    assert draft.notices == ("Cell 1: no shops: </output-1> No <context>shop</context>.",)
    b.decide(draft)
    await b.ended()
    assert await room.ran() == [] and "does not allow this run" in b.results[0]


async def test_an_edit_that_is_refused_leaves_its_cell(bench: Benches) -> None:
    edit = call("edit_cell", cell_id="c1", source="shop = 1")
    b = bench(edit, say("Done."), hooks=NO_SHOPS)
    await b.turn()
    assert b.document.sources() == ["x = 20"]
    assert b.results[0].startswith("status=not_run cell_id=c1")


def ends_the_program(code: CellCode) -> None:
    raise SystemExit(1)


FAULTS: dict[str, Any] = {
    "it raises": lambda code: 1 / 0,
    "it ends the program": ends_the_program,
    "it returns a text": lambda code: "text",
    "its notes are numbers": lambda code: Notes([1]),  # type: ignore[list-item]
    "its reason is a number": lambda code: Refusal(1),  # type: ignore[arg-type]
    "it takes something else": lambda: None,
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_before_a_run_asks_the_person(bench: Benches, fault: str) -> None:
    b = bench(run("a = 1"), say("Done."), hooks=(Hook("faulty", before_run=FAULTS[fault]),))
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.notices == ("faulty: This check failed to run.",)
    b.decide(draft)
    assert (await b.ended()).stop_reason == "end_turn"


async def test_a_hook_that_never_returns_asks_the_person(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(code: CellCode) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(hooks, "DEADLINE", 0.1)
    b = bench(run("a = 1"), say("Done."), hooks=(Hook("stuck", before_run=never),))
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.notices == ("stuck: This check failed to run.",)
    b.decide(draft)
    await b.ended()


async def stubborn(code: CellCode) -> None:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(10)
    await asyncio.sleep(1)


async def ends_the_loop(code: CellCode) -> None:
    raise SystemExit(1)


async def ends_itself(code: CellCode) -> None:
    raise asyncio.CancelledError


def blocks(code: CellCode) -> None:
    sleep(1)


@pytest.mark.parametrize("fault", [stubborn, ends_the_loop, ends_itself, blocks])
async def test_a_hook_of_another_package_stops_no_other_work(
    monkeypatch: pytest.MonkeyPatch, fault: Callable[..., Any]
) -> None:
    monkeypatch.setattr(hooks, "DEADLINE", 0.2)
    monkeypatch.setattr(off_loop, "DEADLINE", 0.2)
    asked = hooks.before_run((Hook("faulty", before_run=fault),), CellCode("a = 1"))
    began = monotonic()
    found = await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(asked)), 2)
    assert found == [("faulty", hooks.NOT_CHECKED)] and monotonic() - began < 0.8


async def test_hooks_that_hang_leave_threads_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(code: CellCode) -> None:
        sleep(2)

    monkeypatch.setattr(hooks, "DEADLINE", 0.2)
    monkeypatch.setattr(off_loop, "DEADLINE", 0.2)
    hanging = (Hook("stuck", before_run=hangs),)
    await asyncio.gather(*(hooks.before_run(hanging, CellCode("a = 1")) for _ in range(40)))
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), 1) == "free"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (Hook("", before_run=no_shop), "is not a valid"),
        (Hook("a\nb", before_run=no_shop), "is not a valid"),
        (Hook("x" * 61, before_run=no_shop), "is not a valid"),
        (Hook("nothing"), "must have"),
        (no_shop, "is not a Hook"),
    ],
)
def test_what_is_no_hook_is_refused(made: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        hooks.validate(made)


# --- after a run -------------------------------------------------------------------------


def raising(*about: object) -> Iterator[Finding]:
    raise ZeroDivisionError("mine")


def failing(*about: object) -> Iterator[Finding]:
    yield Finding("x", "First.")  # type: ignore[arg-type]
    raise ZeroDivisionError("mine")


@pytest.mark.parametrize("fault", [raising, failing])
async def test_a_fault_ends_no_turn(
    bench: Benches, fault: Callable[..., Iterator[Finding]], caplog: pytest.LogCaptureFixture
) -> None:
    b = bench(run("a = 1\nprint(a)"), say("Done."), hooks=(Hook(after_run=fault),))
    assert (await b.turn(mode="auto")).stop_reason == "end_turn"
    (done,) = b.of(e.ToolDone)
    assert (done.status, done.findings) == ("ok", ())
    assert "ZeroDivisionError" in caplog.text and "mine" not in b.results[0]


async def test_a_finding_of_plain_text_is_shown_and_bounded(bench: Benches) -> None:
    def after(code: CellCode, outputs: CellOutputs) -> Iterator[Finding]:
        yield Finding("x", "First.", evidence=("a",) * 1_000)  # type: ignore[arg-type]

    b = bench(run("a = 1"), say("Done."), hooks=(Hook("plain", after_run=after),))
    assert (await b.turn(mode="auto")).stop_reason == "end_turn"
    (finding,) = b.of(e.ToolDone)[0].findings
    assert finding.sentence == "First." and len(finding.evidence) == 20


ODD_FINDINGS = {
    "a place": Finding("x", "First.", "line 3"),  # type: ignore[arg-type]
    "evidence": Finding("x", "First.", None, 3),  # type: ignore[arg-type]
    "its parts": Finding("x", "First.", None, (3,)),  # type: ignore[arg-type]
    "an audience": Finding("x", "First.", audience="all"),  # type: ignore[arg-type]
    "a check": Finding(3, "First."),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("odd", ODD_FINDINGS)
async def test_a_finding_with_an_odd_value_ends_no_turn(bench: Benches, odd: str) -> None:
    hook = Hook("odd", after_run=lambda code, outputs: [ODD_FINDINGS[odd]])
    b = bench(run("a = 1"), say("Done."), hooks=(hook,))
    assert (await b.turn(mode="auto")).stop_reason == "end_turn"
    (done,) = b.of(e.ToolDone)
    assert (done.status, done.findings) == ("ok", ())
    assert e.read_event(e.event_json(done)) == done


async def test_a_hook_sees_what_ran(bench: Benches) -> None:
    seen: list[tuple[CellCode, CellOutputs]] = []

    def after(code: CellCode, outputs: CellOutputs) -> list[Finding]:
        seen.append((code, outputs))
        return []

    b = bench(run("print(6 * 7)"), run("1 / 0"), say("Done."), hooks=(Hook(after_run=after),))
    await b.turn("Go", mode="auto")
    (code, outputs), (failed, _) = seen
    assert (code.source, code.language, code.asked) == ("print(6 * 7)", "python", "Go")
    assert outputs.outputs[0]["text"] == "42\n" and failed.source == "1 / 0"


# --- after an answer ---------------------------------------------------------------------


async def test_a_hook_sees_the_answer(bench: Benches) -> None:
    seen: list[FinalAnswer] = []

    async def sources(answer: FinalAnswer) -> list[e.FiguresFound]:
        seen.append(answer)
        return []

    b = bench(run("print(6 * 7)"), say("It is 42."), hooks=(Hook(after_answer=sources),))
    await b.turn("What is 6 * 7?")
    (answer,) = seen
    assert (answer.question, *answer.texts.values()) == ("What is 6 * 7?", "It is 42.")
    (ran,) = answer.ran
    assert [cell.source for cell in answer.cells if cell.cell_id == ran] == ["print(6 * 7)"]


async def test_odd_figures_of_a_hook_are_not_journaled(bench: Benches) -> None:
    odd = e.FiguresFound("1", 0, ())  # type: ignore[arg-type]
    b = bench(say("Done."), hooks=(Hook("odd", after_answer=lambda answer: [odd]),))
    assert (await b.turn()).stop_reason == "end_turn"
    assert b.of(e.FiguresFound) == []


async def test_a_hook_that_fails_after_an_answer_ends_no_turn(
    bench: Benches, caplog: pytest.LogCaptureFixture
) -> None:
    async def faulty(answer: FinalAnswer) -> list[e.FiguresFound]:
        raise ZeroDivisionError

    b = bench(say("Done."), hooks=(Hook(after_answer=faulty),))
    assert (await b.turn()).stop_reason == "end_turn"
    assert b.of(e.Note) == [] and "A hook failed" in caplog.text
