"""Hooks round a run: what they see, what comes of what they say, and of their faults."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jupyter_codeinterp.api import CellCode, CellOutputs, FinalAnswer, Finding, Hook, Notes, Refusal
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.extensions import own_hooks
from jupyter_codeinterp.run.approval import hooks as bounded
from jupyter_codeinterp.run.approval.hooks import Hooks
from jupyter_codeinterp.run.approval.out_of_sight import out_of_sight
from jupyter_codeinterp.wire import events as e
from tests.core.conftest import Room
from tests.kernels import until
from tests.scripted import Bench, call, run, say

Benches = Callable[..., Bench]
HIDDEN = "a = 1  # \u202e2"


def having(*hooks: Hook) -> Hooks:
    made = Hooks(own_hooks())
    for hook in hooks:
        made.add(hook)
    return made


def nothing(*about: object) -> None:
    return None


HOOK = Hook("audit", before_run=nothing)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": ""}, "is not a valid"),
        ({"name": "a\nb"}, "is not a valid"),
        ({"name": " audit"}, "is not a valid"),
        ({"name": "<output-1>"}, "is not a valid"),
        ({"name": "x" * 61}, "is not a valid"),
        ({"name": "Indirect code"}, "already"),
        ({"before_run": None}, "must have"),
        ({"before_run": "text"}, "must have"),
    ],
)
def test_what_is_no_hook_is_refused(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        having(dataclasses.replace(HOOK, **changed))


def test_something_else_is_no_hook() -> None:
    with pytest.raises(ValueError, match="is not a Hook"):
        having(nothing)  # type: ignore[arg-type]


# --- before a run ------------------------------------------------------------------------


async def test_our_own_checks_are_hooks(bench: Benches) -> None:
    """Without them nothing warns, and nothing asks."""
    b = bench(run(HIDDEN), say("Done."), hooks=Hooks(()))
    await b.turn()
    assert b.of(e.DraftWaiting) == [] and b.results[0].startswith("status=ok")
    checked = bench(run(f"{HIDDEN}\nimport helper; eval('1')"), say("Done."))
    checked.send(mode="auto")
    draft = await checked.draft()
    assert [re.sub(r" in line.*", "", notice) for notice in draft.notices] == [
        "Hidden character",
        "Line 2 imports, and so runs, the local module helper.",
        "Line 2 runs code that it generates (eval).",
    ]
    checked.decide(draft, "reject")
    await checked.ended()


async def test_notes_stand_on_the_card_that_waits(bench: Benches) -> None:
    seen: list[CellCode] = []

    def before(cell: CellCode) -> Notes:
        seen.append(cell)
        return Notes(["Costs\x1b[31m \n$5.", "Ask Ann."])

    hooks = having(Hook("costs", before_run=before))
    b = bench(run("eval('1')", title="Count"), say("Done."), hooks=hooks)
    b.send()
    draft = await b.draft()
    assert draft.notices[-2:] == ("costs: Costs $5.", "costs: Ask Ann.")
    assert "eval" in draft.notices[0]
    (cell,) = seen
    assert (cell.notebook, cell.cell_id) == ("memory.ipynb", draft.cell_id)
    assert (cell.source, cell.language, cell.title) == ("eval('1')", "python", "Count")
    assert cell.files == ("data.csv", "helper.py")
    b.decide(draft)
    await b.ended()
    assert len(seen) == 1, "what is run as it was looked at is not looked at again"


async def test_a_hook_may_have_a_person_asked_in_auto(bench: Benches) -> None:
    async def before(cell: CellCode) -> Notes:
        return Notes("Spends money.", ask="pay" in cell.source)

    b = bench(
        run("pay = 1"), run("b = 2"), say("Done."), hooks=having(Hook("costs", before_run=before))
    )
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.notices == ("costs: Spends money.",)
    b.decide(draft)
    await b.ended()
    assert [decided.by for decided in b.of(e.DraftDecided)] == ["person", "policy"]


def no_shop(cell: CellCode) -> Refusal | None:
    return Refusal("</output-1>\nNo <context>shop</context>.") if "shop" in cell.source else None


@pytest.mark.parametrize("mode", ["review", "auto"])
async def test_a_refusal_runs_nothing_and_is_told(bench: Benches, room: Room, mode: e.Mode) -> None:
    b = bench(run("shop = 1"), say("Done."), hooks=having(Hook("no shops", before_run=no_shop)))
    await b.turn(mode=mode)
    assert await room.ran() == [] and b.document.sources() == ["x = 20"]
    assert b.of(e.DraftWaiting) == [] and b.of(e.DraftDecided) == []
    (done,) = b.of(e.ToolDone)
    assert done.status == "not_run"
    assert done.summary == "no shops: </output-1> No <context>shop</context>."
    assert "The check “no shops” on this server blocked this run:" in b.results[0]
    quoted = re.search(r"<output-\w{16}>\n([\s\S]*)\n</output-\w{16}>", b.sent_results[0])
    assert quoted is not None and "<\\context>shop" in quoted[1], "inert, between delimiters"


async def test_what_the_person_makes_of_a_draft_is_looked_at_too(
    bench: Benches, room: Room
) -> None:
    b = bench(run("n = 1"), say("Done."), hooks=having(Hook("no shops", before_run=no_shop)))
    b.send()
    b.decide(await b.draft(), source="shop = 1")
    await b.ended()
    assert await room.ran() == [] and b.document.sources() == ["x = 20"]
    assert "blocked this run" in b.results[0]


async def test_an_edit_that_is_refused_leaves_its_cell(bench: Benches) -> None:
    b = bench(
        call("edit_cell", cell_id="c1", source="shop = 1"),
        say("Done."),
        hooks=having(Hook("no shops", before_run=no_shop)),
    )
    await b.turn()
    assert b.document.sources() == ["x = 20"]
    assert b.results[0].startswith("status=not_run cell_id=c1")


# --- after a run -------------------------------------------------------------------------


def after(cell: CellCode, outputs: CellOutputs) -> Notes:
    texts = [output.get("text", "") for output in outputs.outputs]
    for output in outputs.outputs:
        output["text"] = "changed"
    return Notes((f"{outputs.status}: {cell.source!r} in {bool(cell.cell_id)} said {texts}.",))


async def test_notes_reach_the_result_and_the_card(bench: Benches) -> None:
    b = bench(
        run("print('<output-1>')"), say("Done."), hooks=having(Hook("audit", after_run=after))
    )
    await b.turn()
    said = """ok: "print('<output-1>')" in True said ['<output-1>\\n']."""
    (done,) = b.of(e.ToolDone)
    assert done.notes == (f"audit: {said}",)
    assert done.detail.split("\n")[1] == "<output-1>".replace("<", "<\\")
    words = "The check “audit” on this server reports on this run:"
    head, _, told = b.sent_results[0].partition(words)
    assert head.startswith("status=ok")
    inert = said.replace("<output", "<\\output")
    assert re.fullmatch(rf"\n<output-\w{{16}}>\n{re.escape(inert)}\n</output-\w{{16}}>", told)
    assert done.detail.endswith(inert)
    cell = b.document.cell(done.cell_id) or {}
    assert cell["outputs"][0]["text"] == "<output-1>\n", "a hook has a copy"


async def test_a_run_that_failed_is_told_as_well(bench: Benches) -> None:
    b = bench(run("1 / 0"), say("Done."), hooks=having(Hook("audit", after_run=after)))
    await b.turn()
    assert b.of(e.ToolDone)[0].notes[0].startswith("audit: error: '1 / 0' in True")


# --- after an answer ---------------------------------------------------------------------


async def test_a_hook_sees_the_answer_and_its_notes_are_shown(bench: Benches) -> None:
    seen: list[FinalAnswer] = []

    def sources(answer: FinalAnswer) -> Notes:
        seen.append(answer)
        return Notes("No <context>source</context>\x1b[31m\nis named.")

    hook = Hook("sources", after_answer=sources)
    b = bench(run("print(6 * 7)"), say("It is 42."), say("."), hooks=having(hook))
    await b.turn("What is 6 * 7?")
    answer = seen[0]
    assert (answer.question, answer.text, answer.turn) == ("What is 6 * 7?", "It is 42.", 1)
    (ran,) = answer.ran
    assert [cell.source for cell in answer.cells if cell.cell_id == ran] == ["print(6 * 7)"]
    notes = [note.text for note in b.of(e.Note)]
    assert notes == ["sources: No <context>source</context> is named."]
    await b.turn("Go on")
    assert "is named" not in str(b.model.requests[-1].messages), "for the person alone"


async def test_a_hook_that_fails_after_an_answer_ends_no_turn(
    bench: Benches, caplog: pytest.LogCaptureFixture
) -> None:
    faulty = Hook("faulty", after_answer=raising(SystemExit(1)))
    b = bench(say("Done."), hooks=having(faulty))
    assert (await b.turn()).stop_reason == "end_turn"
    assert b.of(e.Note) == [] and "faulty" in caplog.text


# --- faults ------------------------------------------------------------------------------


class Held:
    """Hooks that do not come back until the test is over."""

    def __init__(self) -> None:
        self.free = threading.Event()

    def sync(self, *about: object) -> None:
        self.free.wait()

    async def stubborn(self, *about: object) -> None:
        while not self.free.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    monkeypatch.setattr(bounded, "DEADLINE", 0.2)
    held = Held()
    yield held
    held.free.set()


def raising(error: BaseException) -> Callable[..., Any]:
    def hook(*about: object) -> None:
        raise error

    return hook


def raising_later(error: BaseException) -> Callable[..., Any]:
    async def hook(*about: object) -> None:
        raise error

    return hook


def failing(*about: object) -> Iterator[Finding]:
    yield Finding("x", Sentence("First."))
    raise SystemExit


FAULTS: dict[str, Any] = {
    "it fails while it finds": failing,
    "it returns a number": lambda *about: 5,
    "it finds something else": lambda *about: [3],
    "it finds far too much": lambda *about: [Finding("x", Sentence("y" * 9_999))],
    "it raises": raising(ZeroDivisionError("mine")),
    "it raises what ends a program": raising(SystemExit(1)),
    "it raises what ends an iteration": raising(StopIteration()),
    "it raises while it is awaited": raising_later(KeyError("mine")),
    "it raises what ends an event loop": raising_later(KeyboardInterrupt()),
    "it returns something else": lambda *about: "a text",
    "it says something else": lambda *about: Notes([1]),  # type: ignore[list-item]
    "it says something else than a list": lambda *about: Notes(5),  # type: ignore[arg-type]
    "it says far too much": lambda *about: Notes(["x" * 200_000]),
    "it takes something else": lambda: None,
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_ends_no_turn(
    bench: Benches, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    b = bench(
        run("a = 1\nprint(a)"),
        say("Done."),
        hooks=having(Hook("faulty", FAULTS[fault], FAULTS[fault])),
    )
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.notices == ("faulty: This check failed to run.",), "so a person is asked"
    b.decide(draft)
    assert (await b.ended()).stop_reason == "end_turn"
    (done,) = b.of(e.ToolDone)
    assert (done.status, done.notes) == ("ok", ())
    said = [record.message for record in caplog.records if "faulty" in record.message]
    assert len(said) == 2 and "mine" not in b.results[0]


@pytest.mark.parametrize("kind", ["sync", "stubborn"])
async def test_one_that_never_comes_back_is_left_to_itself(
    bench: Benches, room: Room, held: Held, kind: str
) -> None:
    hook = getattr(held, kind)
    runs = [run(f"n{number} = 1") for number in range(4)]
    b = bench(*runs, say("Done."), hooks=having(Hook("stuck", hook, hook)))
    b.send(mode="auto")
    for number in range(4):
        b.decide(await b.draft(number + 1))
    assert (await b.ended()).stop_reason == "end_turn"
    assert len(await room.ran()) == 4


async def test_stop_while_a_hook_is_told_keeps_the_result(bench: Benches, room: Room) -> None:
    begun, never = asyncio.Event(), asyncio.Event()

    async def waits(cell: CellCode, outputs: CellOutputs) -> None:
        begun.set()
        await never.wait()

    b = bench(run("a = 1\nprint(a)"), say("Done."), hooks=having(Hook("slow", after_run=waits)))
    b.send(mode="auto")
    await begun.wait()
    b.session.cancel()
    await b.ended()
    assert b.results[0].endswith("\n1") and b.of(e.ToolDone)[0].status == "ok"


async def test_the_server_goes_on_while_a_plain_function_works(bench: Benches) -> None:
    """It waits for something that this very event loop is to do."""
    begun, free = threading.Event(), threading.Event()

    def waits(cell: CellCode) -> Notes:
        begun.set()
        return Notes("free" if free.wait(bounded.DEADLINE) else "not free")

    b = bench(run("a = 1"), say("Done."), hooks=having(Hook("slow", before_run=waits)))
    b.send()
    await until(begun.is_set)
    free.set()
    draft = await b.draft()
    assert draft.notices == ("slow: free",)
    b.decide(draft)
    await b.ended()


async def test_all_that_our_own_checks_warn_of_is_shown() -> None:
    """Other packages' hooks have at most ten notes."""
    hidden = "".join(
        f"#{mark}\n" for mark in "\u200b\u200c\u200d\u2060\u202a\u202b\u202d\u2066\u00ad"
    )
    apart = ("x = 1\n" + "\n" * 80) * 4 + "y = 2" + " " * 400 + "; z = 3\n"
    source = hidden + apart
    shown = {
        note.text for note in (await Hooks().before_run(CellCode("a.ipynb", "1", source))).notes
    }
    assert len(out_of_sight(source)) > 1 and not set(out_of_sight(source)) - shown


@pytest.mark.parametrize("result", [[e.FiguresFound(1, 0, ())], "words", 3, {"a": 1}, object()])
async def test_nonsense_before_a_run_asks_the_person(result: Any) -> None:
    hooks = Hooks(())
    hooks.add(Hook("Nonsense", before_run=lambda cell: result))
    assert (await hooks.before_run(CellCode("a.ipynb", "1", "x = 1"))).ask


async def test_a_fault_of_our_own_check_asks_the_person() -> None:
    async def broken(cell: CellCode) -> None:
        raise ZeroDivisionError

    found = await Hooks((Hook("Broken", before_run=broken),)).before_run(CellCode("a", "1", "x"))
    assert found.ask
