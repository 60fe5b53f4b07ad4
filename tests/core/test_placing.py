"""Where new cells go: the table, the names that move a cell down, and turns that show it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.cell_code.cell_names import names_of
from jupyter_codeinterp.run.turn.notebook import NewCellPlace, Rule, last_of, place
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.events import Mode
from jupyter_codeinterp.wire.ops import CellView
from tests.reference_window import notebook
from tests.scripted import Bench, call, fix, run, say

CASES = json.loads((Path(__file__).parent.parent / "place_cases.json").read_text())
MakeBench = Callable[..., Bench]


def cells(*sources: str) -> list[CellView]:
    """``c1``, ``c2``, …; one that begins with ``#`` and a blank is Markdown."""
    return [
        CellView(f"c{n}", "markdown" if source.startswith("# ") else "code", source)
        for n, source in enumerate(sources, 1)
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_where_a_cell_goes(case: dict[str, Any]) -> None:
    agents = [f"c{number}" for number in case.get("agents", ())]
    acted = f"c{case['acted']}" if case.get("acted") else ""
    candidates: dict[Rule, str] = {
        "chosen": f"c{case['chosen']}" if case.get("chosen") else "",
        "person": "" if acted in agents else acted,
        "earlier_turns": last_of([cell.cell_id for cell in cells(*case["cells"])], agents),
        "gone_to": f"c{case['gone']}" if case.get("gone") else "",
    }
    after = f"c{case['after']}" if case["after"] else ""
    expected = NewCellPlace(after, after if case.get("instead") else "")
    assert place(cells(*case["cells"]), candidates) == expected


async def test_a_window_is_told_of_the_cells_that_the_agent_has_worked_on(bench: MakeBench) -> None:
    b = bench(run("1 + 1"), run("2 + 2"), say("Done."), book=notebook("x = 20"))
    await b.turn()
    first, second = (run.cell_id for run in b.of(e.RunStarted))
    assert list(b.session.worked) == [first, second]
    await b.session.reviews.undo(1, (second,))
    assert list(b.session.worked) == [first]


PRIVATE = CellView("p", "code", "", (), 1, ("codeinterp-private",), ("secret",))


def test_what_is_not_empty_is_not_replaced() -> None:
    shown = CellView("o", "code", "", ({"output_type": "stream"},))
    for cell in (PRIVATE, shown, CellView("m", "markdown", ""), CellView("r", "raw", "")):
        assert place([cell], {}) == NewCellPlace(cell.cell_id)


def test_names() -> None:
    source = "import os.path as p, sys\nclass A:\n    b = 1\nwith open(q) as f:\n    c, (d, *e) = f"
    names = names_of(source)
    assert names.defines == {"p", "sys", "A", "f", "c", "d", "e"}
    assert names.imports.keys() == {"p", "sys"}


BOOK = ("import math", "radius = 2", "area = math.pi * radius ** 2")


# --- sessions: what the person does, and where the cells of each turn then go ------------------

FIX = "edit the first cell"
SESSIONS: list[tuple[str, list[tuple[str, list[str]]], list[str]]] = [
    (
        "one analysis after the other",
        [("", ["a1", "a2"]), ("", ["b1"]), ("", ["c1"])],
        ["p1", "p2", "p3", "a1", "a2", "b1", "c1"],
    ),
    (
        "focus, or Escape, somewhere else",
        [("", ["a1"]), ("go to p1", ["b1", "b2"]), ("go to a1", ["c1"])],
        ["p1", "p2", "p3", "a1", "b1", "b2", "c1"],
    ),
    (
        "an edit of the agent moves nothing",
        [("", ["a1", "a2"]), ("", [FIX]), ("", ["b1"]), ("", [FIX, "c1"])],
        ["fixed", "p2", "p3", "a1", "a2", "b1", "c1"],
    ),
    (
        "an edit comes first, then new work where the person has gone",
        [("go to p2", [FIX, "a1"]), ("", ["b1"])],
        ["fixed", "p2", "a1", "b1", "p3"],
    ),
    (
        "typed elsewhere: it goes on after its own",
        [("", ["a1"]), ("type in p1", ["b1"]), ("", ["c1"]), ("go to p3", ["d1"])],
        ["p1", "p2", "p3", "a1", "b1", "c1", "d1"],
    ),
    (
        "a cell of the agent is run again, and another one rewritten",
        [("", ["a1", "a2", "a3"]), ("type in a1", ["b1"]), ("type in a2", ["c1"])],
        ["p1", "p2", "p3", "a1", "a2", "a3", "b1", "c1"],
    ),
    (
        "the last cell is deleted",
        [("", ["a1", "a2"]), ("delete a2", ["b1"])],
        ["p1", "p2", "p3", "a1", "b1"],
    ),
]


@pytest.mark.parametrize("mode", ["auto", "review"])
@pytest.mark.parametrize(("name", "turns", "expected"), SESSIONS, ids=lambda case: str(case)[:40])
async def test_where_the_cells_of_a_session_go(
    bench: MakeBench, mode: Mode, name: str, turns: list[tuple[str, list[str]]], expected: list[str]
) -> None:
    book = notebook("p1 = 0", "p2 = 0", "p3 = 0")
    first = book["cells"][0]["id"]
    script: list[Any] = []
    for _, works in turns:
        for work in works:
            if work == FIX:
                script += [call("read_notebook"), call("edit_cell", cell_id=first, source="fixed")]
            else:
                script.append(run(f"{work} = 0"))
        script.append(say("Done."))
    b = bench(*script, book=book)
    b.document.notebook["cells"][0]["source"] = "p1 = 0"
    b.document.active_cell_id = first  # alone, it moves nothing
    for number, (act, _) in enumerate(turns, 1):
        _person(b, act)
        b.send("Go", mode)
        while len(b.of(e.TurnEnded)) < number:
            waits = [w.draft for w in b.of(e.DraftWaiting)]
            if waits and b.session.decisions.draft == waits[-1]:
                b.decide(waits[-1])
            await asyncio.sleep(0)
        await b.ended(number)
    shown = [source.removesuffix(" = 0") for source in b.document.sources()]
    assert shown == expected


def _person(b: Bench, act: str) -> None:
    """As a page reports it; what the agent has done since resets it there."""
    *words, name = act.split() or [""]
    found = [cell["id"] for cell in b.document.notebook["cells"] if cell["source"][:2] == name]
    b.document.gone_to = b.document.acted_in = ""
    if "delete" in words:
        b.document.delete(found[0])
    elif "type" in words:
        b.document.acted_in = b.document.gone_to = found[0]
    elif found:
        b.document.gone_to = found[0]


async def test_an_empty_cell_gives_its_place_and_undo_brings_it_back(bench: MakeBench) -> None:
    b = bench(run("1 / 0"), fix("2"), run("3"), say("Done."), book=notebook("x = 1", ""))
    ended = await b.turn()
    assert b.document.sources() == ["x = 1", "2", "3"]
    assert (len(ended.added), ended.removed) == (2, ())
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 1", ""]


async def test_an_empty_cell_stays_where_the_draft_is_rejected(bench: MakeBench) -> None:
    b = bench(run("1"), say("Well."), book=notebook("x = 1", ""))
    b.send()
    b.decide(await b.draft(), "reject")
    await b.ended()
    assert b.document.sources() == ["x = 1", ""]


async def test_an_empty_cell_that_the_person_has_typed_into_stays(bench: MakeBench) -> None:
    b = bench(run("1"), say("Well."), book=notebook("x = 1", ""))
    b.send()
    draft = await b.draft()
    b.document.notebook["cells"][1]["source"] = "mine"
    b.decide(draft)
    await b.ended()
    assert b.document.sources() == ["x = 1", "mine", "1"]


async def test_markdown_and_drafts_in_review_go_there_too(bench: MakeBench) -> None:
    book = notebook(*BOOK)
    b = bench(
        run("lambda: area"), call("add_markdown", source="The area."), say("Done."), book=book
    )
    b.document.gone_to = book["cells"][0]["id"]
    b.send()
    b.decide(await b.draft())
    await b.ended()
    assert b.document.sources() == [BOOK[0], "lambda: area", "The area.", *BOOK[1:]]


async def test_the_place_that_is_chosen_with_the_message(bench: MakeBench) -> None:
    book = notebook(*BOOK)
    ids = [cell["id"] for cell in book["cells"]]
    b = bench(run("1"), say("Done."), run("2"), say("Done."), book=book)
    b.document.acted_in = ids[2]
    b.session.send("Go", "auto", "", after=ids[0])
    await b.ended()
    await b.turn()
    assert b.document.sources() == [BOOK[0], "1", "2", BOOK[1], BOOK[2]]


@pytest.mark.parametrize("restarts", [False, True])
async def test_after_a_redo_new_cells_go_after_what_came_back(
    bench: MakeBench, restarts: bool
) -> None:
    b = bench(run("1"), say("1"), run("2"), say("2"), run("3"), say("3"))
    await b.turn()
    await b.turn()
    await b.session.reviews.undo(2)
    await b.session.reviews.redo(2)
    if restarts:
        b.restart_server()
    await b.turn()
    assert b.document.sources() == ["x = 20", "1", "2", "3"]


@pytest.mark.parametrize("ran", [False, True])
async def test_after_a_redo_the_agents_cells_are_its_own(bench: MakeBench, ran: bool) -> None:
    """It may change them in Auto, unless the person has run them since."""
    b = bench(run("1"), say("1"), fix("2"), say("2"))
    (cell_id,) = (await b.turn()).added
    await b.session.reviews.undo(1)
    await b.session.reviews.redo(1)
    b.restart_server()
    if ran:
        b.document.begin_by_hand(cell_id)
        b.document.end_by_hand(cell_id, [])
    b.send(mode="auto")
    if ran:
        b.decide(await b.draft())
    await b.ended(2)
    assert b.document.sources() == ["x = 20", "2"]
