"""``notebook`` against the vectors that the front end passes too, and its properties."""

from __future__ import annotations

import copy
import json
import re
import typing
from pathlib import Path
from typing import Any

import msgspec
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.wire.ops import (
    BeginRun,
    Delete,
    FinishRun,
    Insert,
    Op,
    Receipt,
    Restore,
    SetSource,
    digest,
    normalise,
)

VECTORS: list[dict[str, Any]] = json.loads(
    re.sub(
        r"<(\d+) characters>",
        lambda found: "x" * int(found[1]),
        (Path(__file__).parent / "document_vectors.json").read_text("utf-8"),
    )
)
"""Where a vector says ``<9 characters>``, it means so many."""


def notebook(cells: list[dict[str, Any]]) -> dict[str, Any]:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": copy.deepcopy(cells)}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vector(vector: dict[str, Any]) -> None:
    given_notebook = notebook(vector["before"])
    op = msgspec.convert(vector["op"], Op)
    result, receipt = apply(given_notebook, op)
    assert result["cells"] == vector["after"]
    assert receipt == msgspec.convert(vector["receipt"], Receipt)
    assert given_notebook == notebook(vector["before"]), "the notebook given is left as it was"


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_applied_twice_changes_nothing_more(vector: dict[str, Any]) -> None:
    op = msgspec.convert(vector["op"], Op)
    once, _ = apply(notebook(vector["before"]), op)
    twice, _ = apply(once, op)
    assert twice == once


def test_every_op_and_status_has_a_vector() -> None:
    seen = {(vector["op"]["op"], vector["receipt"]["status"]) for vector in VECTORS}
    every = {op.__struct_config__.tag for op in typing.get_args(Op)}
    assert {op for op, _ in seen} == every
    assert {status for _, status in seen} == {"done", "conflict", "missing", "refused"}


IDS = st.sampled_from(["a", "b", "c", "d"])
SOURCES = st.sampled_from(["", "x", "y\nz", "😀"])
TYPES = st.sampled_from(["raw", "code", "markdown"])
OUTPUTS: st.SearchStrategy[Any] = st.lists(
    st.sampled_from(
        [
            {"output_type": "stream", "name": "stdout", "text": "1\n"},
            {
                "output_type": "display_data",
                "data": {"text/plain": "1"},
                "metadata": {},
                "transient": {"display_id": "d"},
            },
        ]
    ),
    max_size=2,
).map(tuple)


def _plain(output: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in output.items() if key != "transient"}


WAS = st.one_of(
    st.fixed_dictionaries(
        {
            "cell_type": st.just("code"),
            "metadata": st.sampled_from([{}, {"tags": ["t"], "codeinterp": {"run_id": "r0"}}]),
            "source": SOURCES,
            "outputs": OUTPUTS.map(lambda outputs: [_plain(output) for output in outputs]),
            "execution_count": st.none() | st.just(2),
        }
    ),
    st.fixed_dictionaries(
        {
            "cell_type": st.sampled_from(["raw", "markdown"]),
            "metadata": st.just({}),
            "source": SOURCES,
        },
        optional={"attachments": st.just({"a.png": {"image/png": "AA=="}})},
    ),
)
OPS = st.one_of(
    st.builds(Insert, IDS, TYPES, SOURCES, st.lists(IDS, max_size=2).map(tuple)),
    st.builds(SetSource, IDS, SOURCES, SOURCES, st.none() | TYPES),
    st.builds(
        BeginRun, IDS, SOURCES.map(digest), st.sampled_from(["r1", "r2"]), tell=st.booleans()
    ),
    st.builds(FinishRun, IDS, st.sampled_from(["r1", "r2"]), OUTPUTS, st.none() | st.just(1)),
    st.builds(Delete, IDS, SOURCES),
    st.builds(Restore, IDS, WAS, st.none() | SOURCES, st.lists(IDS, max_size=2).map(tuple)),
)


@given(st.lists(OPS, max_size=12))
def test_any_ops_leave_a_valid_notebook_and_are_idempotent(ops: list[Op]) -> None:
    current = notebook([])
    for op in ops:
        current, receipt = apply(current, op)
        again, _ = apply(current, op)
        assert again == current
        standing = [cell["source"] for cell in current["cells"] if cell["id"] == op.cell_id]
        assert receipt.source == (standing[0] if receipt.status == "conflict" else "")
    nbformat.validate(nbformat.from_dict(current))


@given(st.lists(OPS, max_size=6), OPS)
def test_what_is_not_done_changes_nothing(ops: list[Op], last: Op) -> None:
    current = notebook([])
    for op in ops:
        current, _ = apply(current, op)
    result, receipt = apply(current, last)
    assert receipt.status == "done" or result == current


def test_normalise_keeps_what_the_editor_keeps() -> None:
    assert normalise("a\r\nb\rc\n") == "a\nb\nc\n"
    with pytest.raises(ValueError, match="NUL"):
        normalise("a\0")
    with pytest.raises(ValueError, match="surrogate"):
        normalise("\ud800")
