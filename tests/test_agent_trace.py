"""Which lines of a notebook's file a conversation wrote, as Agent Trace has it."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeinterp.core.commands import SessionInfo
from jupyter_codeinterp.core.document.ops import Delete, Insert, Op, Receipt, Restore, SetSource
from jupyter_codeinterp.core.errors import CommandError
from jupyter_codeinterp.core.events import (
    Draft,
    DraftDecided,
    DraftOpened,
    DraftWaiting,
    Event,
    StepStarted,
    ToolDone,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from jupyter_codeinterp.core.exports.agent_trace import agent_trace
from jupyter_codeinterp.core.stores import StoredOp

INFO = SessionInfo("s", "work/sales.ipynb", "Growth", "m", "review", False, 1.7e9, 1.8e9)
TURNS: list[Event] = [
    TurnStarted(1, "Sum it", "review", "claude-sonnet-5"), StepStarted(1), TurnEnded(1, "end_turn"),
    TurnStarted(2, "Plot it", "review", "openai/gpt-6"), StepStarted(1),
    ToolStarted("c", "run_cell", "Add"), DraftOpened("c", "d", "insert", "typed", "Add"),
    DraftWaiting(Draft("d", "c", "insert", "typed", "Add", "plot(1)", "n")),
    DraftDecided("c", "d", "run", "person", "plot(2)", edited=True),
    ToolDone("c", "run_cell", "Add", "ok", "typed"), TurnEnded(2, "end_turn"),
]  # fmt: skip


def op(turn: int, done: Op, status: Any = "done") -> StoredOp:
    return StoredOp(1, turn, done, Receipt(status))


def insert(cell_id: str, source: str) -> Insert:
    return Insert(cell_id, "code", source, ())


def edit(cell_id: str, source: str) -> SetSource:
    return SetSource(cell_id, source, "x")


def notebook(**sources: str) -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": name, "metadata": {}, "outputs": [], "execution_count": None,
         "source": source.splitlines(keepends=True)}
        for name, source in sources.items()
    ]  # fmt: skip
    return {"cells": cells, "metadata": {"cells": [{}]}, "nbformat": 4, "nbformat_minor": 5}


def conversations(file: str, *ops: StoredOp) -> list[tuple[str, str, list[tuple[int, int]]]]:
    record = json.loads(agent_trace(INFO, TURNS, ops, file, "a/sales.ipynb", "9"))
    assert [one["path"] for one in record["files"]] in ([], ["a/sales.ipynb"])
    return [
        (
            one["contributor"]["type"],
            one["contributor"]["model_id"],
            [(part["start_line"], part["end_line"]) for part in one["ranges"]],
        )
        for traced in record["files"]
        for one in traced["conversations"]
    ]


def test_a_record() -> None:
    file = json.dumps(notebook(mine="x", agents="a = 1\nprint(a)"), indent=1)
    ops = [op(1, insert("agents", "a = 1\nprint(a)"))]
    record = json.loads(agent_trace(INFO, TURNS, ops, file, "sales.ipynb", "1.2.3"))
    uuid.UUID(record["id"])
    assert record == {
        "version": "0.1",
        "id": record["id"],
        "timestamp": "2027-01-15T08:00:00+00:00",
        "tool": {"name": "jupyter_codeinterp", "version": "1.2.3"},
        "files": [
            {
                "path": "sales.ipynb",
                "conversations": [
                    {
                        "contributor": {"type": "ai", "model_id": "anthropic/claude-sonnet-5"},
                        "ranges": [
                            {
                                "start_line": 20,
                                "end_line": 21,
                                "content_hash": "sha256:"
                                + hashlib.sha256(b"a = 1\nprint(a)").hexdigest(),
                            }
                        ],
                    }
                ],
            }
        ],
    }
    assert [line.strip() for line in file.splitlines()[19:21]] == ['"a = 1\\n",', '"print(a)"']


SONNET, GPT = "anthropic/claude-sonnet-5", "openai/gpt-6"
CELL = insert("a", "one")
WHO: dict[str, tuple[str, list[StoredOp], list[tuple[str, str]]]] = {
    "added": ("one", [op(1, CELL)], [("ai", SONNET)]),
    "added, then edited by the agent": (
        "two", [op(1, CELL), op(2, edit("a", "two"))], [("ai", GPT)],
    ),
    "added, then edited by the person": ("three", [op(1, CELL)], [("mixed", SONNET)]),
    "the person's, edited": ("two", [op(2, edit("a", "two"))], [("mixed", GPT)]),
    "the person's, edited, and the edit undone": (
        "mine", [op(2, edit("a", "two")), op(-2, edit("a", "mine"))], [],
    ),
    "added, removed by undo, brought back by redo": (
        "one",
        [
            op(1, CELL), op(-1, Delete("a", "one")),
            op(-1, Restore("a", {"id": "a", "source": "one", "cell_type": "code"})),
        ],
        [("ai", SONNET)],
    ),
    "never touched": ("one", [], []),
    "not done": ("one", [op(1, CELL, "conflict")], []),
    "emptied": ("", [op(1, CELL)], []),
}  # fmt: skip


@pytest.mark.parametrize("case", WHO)
def test_who_wrote_a_cell(case: str) -> None:
    source, ops, expected = WHO[case]
    found = conversations(json.dumps(notebook(a=source), indent=1), *ops)
    assert [(kind, model) for kind, model, _ in found] == expected


def test_a_draft_that_the_person_changed_is_shared() -> None:
    file = json.dumps(notebook(typed="plot(2)"))
    assert conversations(file, op(2, insert("typed", "plot(2)"))) == [("mixed", GPT, [(1, 1)])]


texts = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(["[]", '{"id": "b"}'])


@given(
    st.lists(texts, min_size=1, max_size=5),
    st.sampled_from([None, 0, 1, 4]),
    st.booleans(),
    st.booleans(),
)
def test_lines_are_those_of_the_source(
    sources: list[str], indent: int | None, ascii_only: bool, whole: bool
) -> None:
    given = notebook(**{f"c{number}": source for number, source in enumerate(sources)})
    for cell in given["cells"]:
        if whole:
            cell["source"] = "".join(cell["source"])
        cell["id"] = cell.pop("id")  # after the source
    file = json.dumps(given, indent=indent, ensure_ascii=ascii_only)
    ops = [op(1, insert(f"c{number}", source)) for number, source in enumerate(sources)]
    ranges = [part for *_, found in conversations(file, *ops) for part in found]
    assert len(ranges) == sum(1 for source in sources if source)
    lines = file.split("\n")
    for (first, last), source in zip(ranges, filter(None, sources), strict=True):
        there = "\n".join(lines[first - 1 : last])
        pieces = [source] if whole else source.splitlines(keepends=True)
        assert all(json.dumps(piece, ensure_ascii=ascii_only) in there for piece in pieces)
        assert whole or indent is None or last - first + 1 == len(pieces)


@pytest.mark.parametrize(
    "file",
    ["", "# %%\nprint(1)", "[]", '{"cells": 1}', '{"cells": [1]}', '{"cells": [{}', "[" * 90_000,
     '{"cells": ' + "[" * 90_000, '{"cells" [{}]}', '{"cells": [{"id": "a" "b"}]}'],
)  # fmt: skip
def test_what_is_no_notebook_is_refused(file: str) -> None:
    with pytest.raises(CommandError, match="is saved as"):
        agent_trace(INFO, TURNS, [], file, "a.ipynb", "9")


def test_a_model_of_any_length_is_named() -> None:
    long = msgspec.structs.replace(TURNS[0], model="x/" + "y" * 500)
    record = agent_trace(INFO, [long], [op(1, CELL)], json.dumps(notebook(a="one")), "a", "9")
    assert '"x/' + "y" * 248 + '"' in record
