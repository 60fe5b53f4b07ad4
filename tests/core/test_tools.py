"""What the model writes in a call, and what becomes of it: tables, and turns that show them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.agent.system_prompt import SYSTEM
from jupyter_codeinterp.agent.tools.built_in.edit_cell import Edit, edited
from jupyter_codeinterp.agent.tools.registry import built_in_tools
from jupyter_codeinterp.agent.tools.shared.arguments import so_far
from jupyter_codeinterp.run.job import RESTARTED
from jupyter_codeinterp.run.turn.notebook import found_in
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Image, Text, ToolResult, assistant
from jupyter_codeinterp.wire.ops import CellView
from tests.core.conftest import Room
from tests.core.test_outside_tools import PIXEL
from tests.reference_window import notebook
from tests.scripted import Bench, call, last_cell, run, say

Benches = Callable[..., Bench]
REGISTRY = built_in_tools()
READ: list[tuple[str, dict[str, Any], dict[str, Any] | str]] = [
    ("run_cell", {"code": "1"}, {"source": "1"}),
    ("run_cell", {"source": "1", "after_cell_id": "a"}, {"position": "after:a"}),
    ("run_cell", {"source": "1", "cell_index": 3}, {"position": "3"}),
    ("run_cell", {"source": "1", "position": 3}, {"position": "3"}),
    ("run_cell", {"source": "1", "timeout": "30"}, {"timeout_s": 30.0}),
    ("run_cell", {"source": "1", "title": None}, {"title": ""}),
    ("run_cell", {"source": "1", "expects": '{"rows": "3"}'}, {"source": "1"}),
    ("edit_cell", {"cell_index": 2, "content": "1"}, {"cell_id": "2", "source": "1"}),
    ("edit_cell", {"cell_id": "a", "source": "1", "run": "false"}, {"run": False}),
    (
        "edit_cell",
        {"cell_id": "a", "edits": '[{"old_string": "1", "new_string": "2"}]'},
        {"edits": (Edit("1", "2"),)},
    ),
    ("edit_cell", {"cell_id": "a", "edits": {"old": "1", "new": ""}}, {"edits": (Edit("1", ""),)}),
    ("run_cells", {"cell_ids": "all"}, {"cell_ids": ("all",)}),
    ("run_cells", {"cell_ids": '["a", "b"]'}, {"cell_ids": ("a", "b")}),
    ("run_cells", {"cell_id": "a"}, {"cell_ids": ("a",)}),
    ("run_cells", {"cell_ids": [1, 2]}, {"cell_ids": ("1", "2")}),
    ("run_cells", {"cell_ids": 2}, {"cell_ids": ("2",)}),
    ("delete_cell", {"cell_id": "a"}, {"cell_ids": ("a",)}),
    ("read_notebook", {"include_outputs": "true"}, {"outputs": True}),
    ("read_output", {"cell_id": "a", "start": "-5"}, {"start_char": -5}),
    ("inspect_variables", {"names": "df"}, {"names": ("df",)}),
    ("inspect_variables", {}, {"names": ()}),
    ("add_markdown", {"text": "# T", "title": "Say"}, {"source": "# T"}),
    ("run_cell", {"source": "1", "langage": "r"}, "run_cell has no property 'langage'."),
    ("run_cell", {"source": "1", "titel": "r"}, "Did you mean 'title'? Its properties: title, "),
    ("verify", {"in_place": True}, "verify has no property 'in_place'. It has no properties."),
    ("edit_cell", {"cell_id": "a", "edits": [{"find": "1"}]}, "An edit of edit_cell has no"),
    ("run_cell", {"source": "1", "timeout_s": "nan"}, "Expected `float` > 0.0"),
    ("run_cells", {"cell_ids": "[" * 100_000}, {"cell_ids": ("[" * 100_000,)}),
    ("run_cell", {"source": ["1"]}, "Expected `str`, got `array` - at `$.source`"),
    ("run_cells", {"cell_ids": {"a": 1}}, "Expected `array`, got `object`"),
]


@pytest.mark.parametrize(("tool", "given", "expected"), READ)
def test_input_is_read_as_it_was_meant(tool: str, given: Any, expected: Any) -> None:
    if isinstance(expected, str):
        with pytest.raises(ValueError) as refused:
            REGISTRY.parse(tool, given)
        assert expected in str(refused.value)
        return
    found, notes = REGISTRY.parse(tool, given)
    assert {key: getattr(found, key) for key in expected} == expected and notes == ()


def test_an_unfinished_call_is_read_in_the_same_way() -> None:
    partial = {"after_cell_id": "a", "code": "x ="}
    assert (so_far(partial, "position"), so_far(partial, "source")) == ("after:a", "x =")
    assert so_far({"title": "x", "unknown": 1}, "source") is None


def test_every_property_that_needs_words_has_some_and_all_fit() -> None:
    specs = REGISTRY.specs()
    plain = ("cell_id", "source", "name", "question", "action")
    for spec in specs:
        assert len(spec.description) > 20
        for name, schema in spec.input_schema["properties"].items():
            assert schema.get("description") or name in plain, (spec.name, name)
            assert list(spec.input_schema["properties"])[-1] == "source" or name != "source"
    assert len(SYSTEM.encode()) + len(msgspec.json.encode(specs)) <= 10_000


EDITS: list[tuple[str, list[tuple[str, str]], str]] = [
    ("a = 1\nb = 2", [("a = 1", "a = 3")], "a = 3\nb = 2"),
    ("a = 1\nb = 2", [("1", "2"), ("b = 2", "b = 4")], "a = 2\nb = 4"),
    ("a = 1\nb = 2", [("\nb = 2", "")], "a = 1"),
    ("a = 1\na = 1", [("a = 1", "")], "! `old` occurs 2 times in the cell."),
    (
        "total = 1",
        [("total = 2", "")],
        "! `old` is not in the cell. The nearest line is: total = 1",
    ),
    ("a = 1", [("1", "2"), ("1", "3")], "! Edit 2: `old` is not in the cell."),
    ("a = 1", [("", "2")], "! `old` is empty."),
]


@pytest.mark.parametrize(("source", "edits", "expected"), EDITS)
def test_partial_edits(source: str, edits: list[tuple[str, str]], expected: str) -> None:
    changes = [Edit(old, new) for old, new in edits]
    if expected.startswith("! "):
        with pytest.raises(ValueError) as refused:
            edited(source, changes)
        assert str(refused.value).startswith(expected[2:])
    else:
        assert edited(source, changes) == expected


CELLS = [CellView(i, "code", "", (), count) for i, count in (("a", 7), ("b", None), ("c", 1))]


@pytest.mark.parametrize(
    ("name", "cell_id", "words"),
    [
        ("1", "a", "cell 1, counted from 1 at the top: cell_id=a. Not meant: the cell [1]"),
        ("[1]", "c", "the cell [1]: cell_id=c. Not meant: cell 1"),
        ("In [7]", "a", "the cell [7]"),
        ("7", "a", "the cell [7]"),
        ("cell 2", "b", "cell 2"),
        ("[3]", "c", "cell 3"),
        ("9", None, ""),
        ("0", None, ""),
        ("b2", None, ""),
    ],
)
def test_a_cell_is_found_by_its_numbers(name: str, cell_id: str | None, words: str) -> None:
    found = found_in(CELLS, name)
    assert (found and found.cell_id) == cell_id
    assert found is None or words in found.note


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("start", ["new", "p1", "p2", "p3"]),
        ("end", ["p1", "p2", "p3", "new"]),
        ("before:c1", ["new", "p1", "p2", "p3"]),
        ("before:c3", ["p1", "p2", "new", "p3"]),
        ("after:c1", ["p1", "new", "p2", "p3"]),
        ("c2", ["p1", "p2", "new", "p3"]),
        (2, ["p1", "new", "p2", "p3"]),
        ("", ["p1", "new", "p2", "p3"]),
    ],
)
@pytest.mark.parametrize("tool", ["run_cell", "add_markdown"])
async def test_a_new_cell_stands_where_the_call_says_and_the_result_tells(
    bench: Benches, tool: str, position: Any, expected: list[str]
) -> None:
    book = notebook("p1", "p2", "p3")
    b = bench(call(tool, position=position, source="new"), say("Done."), book=book)
    b.document.gone_to = "c1"
    await b.turn()
    assert [one for one in b.document.sources()] == (
        expected if tool == "add_markdown" else [one for one in expected if one != "new"]
    )
    assert f"place={expected.index('new') + 1}/4" in b.results[0]
    assert ("was read as cell 2" in b.results[0]) == (position == 2)


@pytest.mark.parametrize(
    "outputs", [[], [{"output_type": "stream", "name": "stdout", "text": "1"}]]
)
async def test_a_person_s_cell_is_edited_in_parts_and_may_be_left_unrun(
    bench: Benches, room: Room, outputs: list[Any]
) -> None:
    book = notebook("x = 20\ny = 1")
    book["cells"][0]["outputs"] = outputs
    more = {"cell_id": "c1", "edits": [{"old": "20", "new": "21"}]}
    b = bench(
        call("edit_cell", **more, run=False),
        call("edit_cell", **more),
        call("edit_cell", cell_index=1, edits=[{"old": "y = 1", "new": "x + y"}]),
        call("edit_cell", cell_id="c1"),
        say("Done."),
        book=book,
    )
    b.send()
    first = await b.draft()
    assert (first.kind, first.source, first.runs) == ("edit", "x = 21\ny = 1", False)
    assert first.title == "cell 1: x = 20"
    b.decide(first)
    second = await b.draft(2)
    assert await room.ran() == [] and b.document.sources() == ["x = 21\ny = 1"]
    b.decide(second, "reject")
    await b.ended()
    assert "Changed and not run." in b.results[0]
    assert ("of its earlier source" in b.results[0]) == bool(outputs)
    assert "`old` is not in the cell." in b.results[1]
    assert "was read as cell 1" in b.results[2]
    assert "Give either `edits` or `source`." in b.results[3]


# --- running cells that are there ---------------------------------------------------------------


BOOK = ("a = 1", "# Text", "a += 1\na", "1 / 0", "a * 10")


def book() -> dict[str, Any]:
    made = notebook(*BOOK)
    made["cells"][1]["cell_type"] = "markdown"
    return made


@pytest.mark.parametrize(
    ("names", "more", "ran", "words"),
    [
        (["c1", "c3"], {}, ["a = 1", "a += 1\na"], "2 of 2 cells."),
        ("all", {}, ["a = 1", "a += 1\na", "1 / 0"], "3 of 4 cells; not ok: c4. Not reached: c5."),
        ("all", {"stop_on_error": False}, [BOOK[0], *BOOK[2:]], "4 of 4 cells; not ok: c4."),
        ("above:c4", {}, ["a = 1", "a += 1\na"], "2 of 2 cells."),
        (["c1", "below:c4"], {}, ["a = 1", "a * 10"], "2 of 2 cells."),
        (["c1", "c3", "c1"], {}, ["a = 1", "a += 1\na"], "2 of 2 cells."),
        ([1, "cell 3"], {}, ["a = 1", "a += 1\na"], "2 of 2 cells."),
        (["c2"], {}, [], "The cell 'c2' is not a code cell that can run: it is markdown."),
        (["c9"], {}, [], "There is no cell 'c9'."),
        ("above:c1", {}, [], "There is no code cell to run."),
    ],
)
async def test_cells_run_as_they_are_after_one_decision(
    bench: Benches, room: Room, names: Any, more: Any, ran: list[str], words: str
) -> None:
    b = bench(call("run_cells", cell_ids=names, **more), say("Done."), book=book())
    b.send()
    if ran:
        draft = await b.draft()
        assert draft.kind == "cells" and draft.runs
        assert all(source.replace("\n", "\n    ") in draft.source for source in ran)
        b.decide(draft)
    await b.ended()
    assert await room.ran() == ran and b.document.sources() == list(BOOK)
    (result,) = b.results
    assert words in result and len(b.of(e.DraftWaiting)) == bool(ran)
    # A run that only succeeded is counted.
    listed = [source for source in ran if source != "a = 1"]
    assert ("without output are not listed: 1." in result) == (len(listed) < len(ran))
    assert result.count("status=ok cell_id=") == len(listed) - ("1 / 0" in ran)
    assert result.count("status=") == len(listed) + (len(ran) != 1)
    assert ("ZeroDivisionError" in result) == ("1 / 0" in ran)


@pytest.mark.parametrize(
    ("more", "counts", "ran", "failed"),
    [
        ({}, "4 cells: 2 ok, 1 failed, 1 not started.", 3, ("c4",)),
        ({"stop_on_error": False}, "4 cells: 3 ok, 1 failed, 0 not started.", 4, ("c4",)),
        ({"cell_ids": ["c1", "c3"]}, "2 cells: all ok.", 2, ()),
        ({"cell_ids": ["c4"]}, "", 1, ("c4",)),
    ],
)
async def test_people_read_how_many_ran_and_failed(
    bench: Benches, room: Room, more: Any, counts: str, ran: int, failed: tuple[str, ...]
) -> None:
    b = bench(call("run_cells", **{"cell_ids": "all"} | more), say("Done."), book=book())
    ended = await b.turn(mode="auto")
    (done,) = [one for one in b.of(e.ToolDone) if not one.cell_id]
    assert done.summary == counts
    assert (len(ended.run_again), ended.failed_again) == (ran, failed)
    again = bench(call("run_cells", cell_ids=["c1"]), say("Done."), book=book())
    assert (await again.turn(mode="auto")).failed_again == ()


async def test_in_auto_they_run_unasked_and_undo_brings_their_outputs_back(
    bench: Benches, room: Room
) -> None:
    made = notebook("print('a' * 9000)", "print('b' * 9000)", "2")
    b = bench(call("run_cells", cell_ids="all"), run("3"), say("Done."), book=made)
    ended = await b.turn()
    assert b.of(e.DraftWaiting) == [] and set(ended.run_again) == {"c1", "c2", "c3"}
    assert len(b.results[0]) < 11_000 and "status=ok cell_id=c3" in b.results[0]
    assert b.document.sources()[:3] == [cell["source"] for cell in made["cells"]][:3]
    await b.session.reviews.undo(1)
    assert [cell.get("outputs") for cell in b.document.notebook["cells"]] == [[], [], []]
    assert [cell["metadata"] for cell in b.document.notebook["cells"]] == [{}, {}, {}]


async def test_pictures_come_after_the_name_of_their_cell(bench: Benches) -> None:
    draw = f"from IPython.display import Image\nimport base64\nImage(base64.b64decode({PIXEL!r}))"
    b = bench(call("run_cells", cell_ids="all"), say("Done."), book=notebook(draw, "1", draw))
    await b.turn()
    (result,) = (
        block
        for message in b.model.requests[-1].messages
        for block in message.content
        if isinstance(block, ToolResult)
    )
    found = [
        before.text.strip()
        for before, part in pairwise(result.content)
        if isinstance(part, Image) and isinstance(before, Text)
    ]
    count = int(found[0].split("[")[-1].rstrip("]"))
    assert found == [f"[picture of cell c1 [{count}]]", f"[picture of cell c3 [{count + 2}]]"]


async def test_a_cell_that_the_person_changed_meanwhile_is_asked_about(
    bench: Benches, room: Room
) -> None:
    b = bench(call("run_cells", cell_ids=["c1", "c2"]), say("Done."), book=notebook("1", "2"))
    b.send()
    draft = await b.draft()
    b.document.edit("c2", "3")
    b.decide(draft)
    again = await b.draft(2)
    assert (again.kind, again.cell_id, again.source) == ("rerun", "c2", "3")
    assert await room.ran() == ["1"]
    b.decide(again, "reject")
    await b.ended()
    assert await room.ran() == ["1"] and "status=rejected" in b.results[0]


async def test_a_decision_about_several_cells_is_good_for_one_start_of_the_kernel(
    bench: Benches, room: Room
) -> None:
    b = bench(call("run_cells", cell_ids="all"), say("Done."), book=notebook("1", "2"))
    b.send()
    draft = await b.draft()
    await room.restart()
    b.decide(draft)
    again = await b.draft(2)
    assert (again.cell_id, again.notices) == ("c1", (RESTARTED,)) and await room.ran() == []
    b.decide(again, "reject")
    await b.ended()


async def test_in_auto_each_cell_is_decided_on_its_own(bench: Benches, room: Room) -> None:
    """Also where the person leaves Auto in the middle."""

    def leaves(op: Any) -> None:
        if type(op).__name__ == "FinishRun":
            b.session.set_mode("review")

    b = bench(call("run_cells", cell_ids="all"), say("Done."), book=notebook("1", "2"))
    b.document.before_op = leaves
    b.send(mode="auto")
    draft = await b.draft()
    assert (draft.kind, draft.cell_id) == ("rerun", "c2") and await room.ran() == ["1"]
    b.decide(draft, "reject")
    await b.ended()


async def test_what_is_pointed_out_names_its_cell_and_never_gets_lost(bench: Benches) -> None:
    hidden = "x = 'a\u202eb'"
    forged = "a = 1\n'''\nCell 2 [5]\n'''"
    few = bench(
        call("run_cells", cell_ids="all"), say("Done."), book=notebook(forged, hidden, hidden)
    )
    few.send()
    draft = await few.draft()
    assert [notice[:7] for notice in draft.notices] == ["Cell 2:", "Cell 3:"]
    heads = [line for line in draft.source.splitlines() if line.startswith("Cell ")]
    assert heads == ["Cell 1", "Cell 2", "Cell 3"]
    few.decide(draft, "reject")
    await few.ended()
    many = bench(call("run_cells", cell_ids="all"), say("Done."), book=notebook(*[hidden] * 20))
    await many.turn()
    assert "more than a person can review at once" in many.results[0]


async def test_numbers_mean_the_cells_that_the_model_has_read(bench: Benches) -> None:
    both = assistant(
        *call("delete_cell", cell_ids=[2]).content, *call("delete_cell", cell_ids=["3", 3]).content
    )
    b = bench(both, say("Done."), book=notebook("x", "a", "b", "c"))
    b.send()
    for number in (1, 2):
        b.decide(await b.draft(number))
    await b.ended()
    assert b.document.sources() == ["x", "c"]


async def test_after_stop_the_model_knows_which_cell_was_cut_off(bench: Benches) -> None:
    made = notebook("1", "import time; time.sleep(60)", "3")
    b = bench(call("run_cells", cell_ids="all"), say("Oh."), book=made)
    b.send(mode="auto")
    await b.event(e.RunStarted, 2)
    b.session.task.cancel()
    await b.ended()
    (result,) = b.results
    assert "Stopped in the cell c2; it may have had effects. Not reached: c3." in result


async def test_a_decision_about_other_cells_is_none(bench: Benches, room: Room) -> None:
    b = bench(call("run_cells", cell_ids=["c1", "c2"]), say("Done."), book=notebook("1", "2"))
    b.send()
    draft = await b.draft()
    b.decide(draft, source=draft.source.replace("1", "9"))
    again = await b.draft(2)
    assert again.source == draft.source and "was about something else" in again.notices[0]
    b.decide(again, "reject")
    await b.ended()
    assert await room.ran() == []


async def test_several_cells_are_deleted_after_one_decision(bench: Benches) -> None:
    b = bench(
        call("delete_cell", cell_ids=["c1", "c3"]),
        call("delete_cell", cell_ids=["c2", "c9"]),
        say("Done."),
        book=notebook("1", "2", "3"),
    )
    b.send()
    draft = await b.draft()
    assert (draft.kind, draft.runs) == ("cells", False) and "Cell 3\n    3" in draft.source
    b.decide(draft)
    ended = await b.ended()
    assert b.document.sources() == ["2"] and set(ended.removed) == {"c1", "c3"}
    assert "2 of 2 cells." in b.results[0] and "no cell 'c9'" in b.results[1]
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("cell_ids", "position", "expected"),
    [
        (["c1"], "end", ["2", "3", "4", "1"]),
        (["c4", "c2"], "start", ["4", "2", "1", "3"]),
        (["c1", "c3"], "after:c3", ["2", "1", "3", "4"]),
        (["c4"], "before:c2", ["1", "4", "2", "3"]),
        (["c2"], "after:c1", ["1", "2", "3", "4"]),
        (["c4", "c3", "c2", "c1"], "end", ["4", "3", "2", "1"]),
    ],
)
async def test_cells_move_whole_and_undo_moves_them_back(
    bench: Benches, cell_ids: list[str], position: str, expected: list[str]
) -> None:
    made = notebook("1", "2", "3", "4")
    made["cells"][0] |= {"execution_count": 7, "metadata": {"tags": ["t"]}}
    before = [dict(cell) for cell in made["cells"]]
    b = bench(call("move_cell", cell_ids=cell_ids, position=position), say("Done."), book=made)
    b.send()
    draft = await b.draft()
    assert draft.kind == "cells" and not draft.runs and draft.title.startswith("Move ")
    b.decide(draft)
    ended = await b.ended()
    assert b.document.sources() == expected and set(ended.edited) == set(cell_ids)
    assert all(cell in before for cell in b.document.notebook["cells"])
    place = expected.index(cell_ids[0][1]) + 1
    assert f"status=ok cell_id={cell_ids[0]} place={place}/4" in b.results[0]
    assert b.results[0].count("status=ok") == len(cell_ids) + (len(cell_ids) > 1)
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["1", "2", "3", "4"]


async def test_its_own_moves_are_no_news(bench: Benches) -> None:
    moves = call("move_cell", cell_ids=["c3"], position="start")
    b = bench(moves, say("Done."), say("Yes."), book=notebook("1", "2", "3"))
    b.send()
    b.decide(await b.draft())
    await b.ended()
    await b.turn()
    told = [str(block) for message in b.model.requests[-1].messages for block in message.content]
    assert b.document.sources() == ["3", "1", "2"] and not any("<changes" in one for one in told)


async def test_a_move_to_nowhere_is_none(bench: Benches) -> None:
    b = bench(
        call("move_cell", cell_ids=["c1"], position="after:c9"),
        call("move_cell", cell_ids=["c9"], position="end"),
        say("Done."),
    )
    await b.turn()
    assert "no position 'after:c9'" in b.results[0] and "no cell 'c9'" in b.results[1]


# --- code without a cell ------------------------------------------------------------------------


async def test_scratch_code_runs_after_review_and_leaves_no_cell(
    bench: Benches, room: Room
) -> None:
    b = bench(
        call("scratch", source="_n = 6 * 7\n_n", title="Count"),
        call("scratch", source="1 / 0"),
        say("Done."),
    )
    b.send()
    draft = await b.draft()
    assert (draft.kind, draft.cell_id, draft.title) == ("scratch", "", "Count")
    assert draft.runs and await room.ran() == []
    b.decide(draft)
    b.decide(await b.draft(2))
    ended = await b.ended()
    assert await room.ran() == ["_n = 6 * 7\n_n", "1 / 0"]
    assert b.results[0].startswith("status=ok execution_count=") and b.results[0].endswith("\n42")
    assert b.results[1].startswith("status=error") and "ZeroDivisionError" in b.results[1]
    assert b.document.sources() == ["x = 20"] and b.document.ops == []
    assert (ended.added, ended.edited, ended.failed) == ((), (), ())
    assert "42" in b.of(e.ToolDone)[0].detail


async def test_scratch_code_asks_where_code_asks(bench: Benches, room: Room) -> None:
    bell = "y = 'a\u202eb'"
    b = bench(call("scratch", source="y = 1"), call("scratch", source=bell), say("Done."))
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.source == bell and draft.notices and await room.ran() == ["y = 1"]
    b.decide(draft, "reject")
    await b.ended()
    b = bench(call("scratch", source="y = 1"), call("run_cells", cell_ids="all"), say("Done."))
    await b.turn(mode="plan")
    assert all("Plan mode" in result for result in b.results) and b.of(e.DraftWaiting) == []


async def test_two_calls_of_one_reply_both_run_and_the_second_waits_for_the_first(
    bench: Benches, room: Room
) -> None:
    both = assistant(*run("a = 1").content, *call("scratch", source="a + 1").content)
    b = bench(both, say("2"))
    await b.turn()
    assert b.results[1].endswith("\n2") and b.document.sources() == ["x = 20", "a = 1"]


async def test_a_cell_of_the_turn_is_named_by_its_id(bench: Benches) -> None:
    b = bench(
        run("a = 1"),
        lambda request: run("b = 2", position=f"before:{last_cell(request)}"),
        say("Done."),
    )
    await b.turn()
    assert b.document.sources() == ["x = 20", "b = 2", "a = 1"]


async def test_names_that_are_not_defined_are_named(bench: Benches, room: Room) -> None:
    await room.run("known = 1")
    b = bench(call("inspect_variables", names=["known", "unknown"]), say("Done."))
    await b.turn()
    assert '"known"' in b.results[0] and "unknown: not defined" in b.results[0]


async def test_a_deleted_cell_is_not_named(bench: Benches) -> None:
    made = bench(
        run("x = 1"),
        lambda request: call("delete_cell", cell_id=last_cell(request)),
        call("edit_cell", cell_id="gone", source="x = 2"),
        say("done"),
    )
    await made.turn(mode="auto")
    ran, deleted, refused = made.sent_results
    cell = deleted.split("cell_id=")[1].split()[0]
    assert "status=ok" in deleted and f"cell_id={cell}" in ran
    assert "There is no cell 'gone'" in refused and cell not in refused
