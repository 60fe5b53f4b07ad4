"""Warnings before a run, and hooks after a run and after an answer: what they see, and faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from jupyter_codeinterp.run.approval import code_warnings
from jupyter_codeinterp.run.approval.code_warnings import checked, warnings_on
from jupyter_codeinterp.run.approval.out_of_sight import out_of_sight
from jupyter_codeinterp.run.turn.hooks import CellCode, CellOutputs, FinalAnswer, Hook
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.findings import Finding
from tests.scripted import Bench, run, say

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


async def test_a_hook_that_fails_after_an_answer_ends_no_turn(
    bench: Benches, caplog: pytest.LogCaptureFixture
) -> None:
    async def faulty(answer: FinalAnswer) -> list[e.FiguresFound]:
        raise ZeroDivisionError

    b = bench(say("Done."), hooks=(Hook(after_answer=faulty),))
    assert (await b.turn()).stop_reason == "end_turn"
    assert b.of(e.Note) == [] and "A hook failed" in caplog.text
