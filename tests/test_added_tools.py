"""A tool that another package adds: what it must be, and what becomes of its calls."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy
import pandas  # type: ignore[import-untyped]
import pytest

from jupyter_codeinterp.agent.tools.registry import BUILT_IN, built_in_tools
from jupyter_codeinterp.api import Seen, Tool, ToolContext, Variable
from jupyter_codeinterp.kernel.inside.variables import describe
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, call, in_order, text
from tests.installed import installed
from tests.reference_window import notebook
from tests.site import Site

PACKAGE = """
import msgspec
from jupyter_codeinterp.api import Seen, Tool, ToolContext


class Words(msgspec.Struct):
    cell_id: str
    fail: bool = False


async def count(context: ToolContext, words: Words) -> Seen:
    if words.fail:
        raise ZeroDivisionError("of mine")
    (cell,) = await context.cells([words.cell_id])
    return Seen(f"<context>{len(cell.source.split())} words</context> {cell.source}" + "x" * 50_000)


COUNT_WORDS = Tool(
    "count_words",
    "Count words",
    "Count the words of a cell.",
    Words,
    run=count,
)
CHANGES = Tool("load_rows", "Load", "Load rows.", Words, effect="changes", run=count)
NO_TOOL = "something else"
"""
POINTS = """
[jupyter_codeinterp.tools]
broken = words_tool:MISSING
count_words = words_tool:COUNT_WORDS
load_rows = words_tool:CHANGES
nothing = words_tool:NO_TOOL
"""


async def nothing(context: ToolContext, arguments: msgspec.Struct) -> Seen:
    return Seen("")


TOOL = Tool("look_up", "Look up", "Look something up.", msgspec.Struct, run=nothing)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": "run_cell"}, "already"),
        ({"name": "look up"}, "is not a valid"),
        ({"name": ""}, "is not a valid"),
        ({"name": "x" * 65}, "is not a valid"),
        ({"effect": "asks"}, "must only look"),
        ({"effect": "changes"}, "must only look"),
        ({"draft": "insert"}, "must only look"),
        ({"work": nothing}, "must only look"),
        ({"run": None}, "a run of its own"),
        ({"label": ""}, "label"),
    ],
)
def test_what_is_no_tool_is_refused(changed: dict[str, Any], why: str) -> None:
    registry = built_in_tools()
    with pytest.raises(ValueError, match=why):
        registry.add(dataclasses.replace(TOOL, **changed))
    assert registry.specs() == tuple(tool.spec for tool in BUILT_IN)


class Table(typing.NamedTuple):
    x: int


@pytest.mark.parametrize(
    "value",
    [
        1,
        "text",
        b"bytes",
        [1, 2],
        {"a": 1},
        numpy.zeros((2, 3)),
        numpy.float64(1.5),
        pandas.DataFrame({"a": [1], "b": ["x"]}),
        pandas.Series([1.0]),
        pandas.Timestamp("2026-11-24"),
        Table(1),
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_facts_of_a_variable_have_the_exported_type(value: object) -> None:
    (told,) = describe({"it": value}, {})
    decoded = msgspec.convert(json.loads(json.dumps(told)), Variable)
    assert decoded == told and {"name", "type"} <= told.keys()
    assert told.keys() <= typing.get_type_hints(Variable).keys()


class TestInstalled:
    """A package with the entry point, on the path of the server."""

    @pytest.fixture(autouse=True)
    def package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        with installed(tmp_path, monkeypatch, "words_tool", PACKAGE, POINTS):
            yield

    async def test_it_is_offered_and_works(self, site: Site, api: FakeAnthropic) -> None:
        book = notebook("one two three", "secret words")
        book["cells"][1]["metadata"]["tags"] = ["codeinterp-private"]
        ids = [cell["id"] for cell in book["cells"]]
        api.play(
            in_order(
                [
                    answer(call("count_words", {"cell_id": ids[0]})),
                    answer(call("count_words", {"cell_id": ids[1]})),
                    answer(call("count_words", {"cell_id": ids[0], "fail": True})),
                    answer(call("count_words", {"cell_id": "nowhere"})),
                    answer(text("Counted.")),
                ]
            )
        )
        w = await site.window(book=book, kernel_id=await site.kernel())
        await w.ask("Count")
        assert (await w.ended()).stop_reason == "end_turn"

        offered = [tool["name"] for tool in api.requests[0].body["tools"]]
        assert offered == [*(tool.name for tool in BUILT_IN), "count_words"]
        assert {started.title for started in w.of(e.ToolStarted)} == {"Count words"}
        statuses = [done.status for done in w.of(e.ToolDone)]
        assert statuses == ["ok", "ok", "not_started", "not_started"]
        first, private, failed, lost = [result_of(request.body) for request in api.requests[1:]]
        assert "3 words" in first and "<context>" not in first
        assert len(first) < 11_000
        assert "0 words" in private and "secret" not in private
        assert "ZeroDivisionError" in failed and "of mine" not in failed
        assert "There is no cell 'nowhere'" in lost

    @pytest.mark.parametrize("allowed", [None, ["Words.Tool"], ["others"], []])
    async def test_an_admin_allows_packages(
        self, site: Site, api: FakeAnthropic, allowed: list[str] | None
    ) -> None:
        site.extension.allowed_packages = allowed  # type: ignore[assignment]
        api.play(in_order([answer(text("Done."))]))
        w = await site.window(book=notebook("x = 1"), kernel_id=await site.kernel())
        await w.ask("Go")
        await w.ended()
        offered = {tool["name"] for tool in api.requests[0].body["tools"]}
        assert ("count_words" in offered) == (allowed in (None, ["Words.Tool"]))


def result_of(body: dict[str, Any]) -> str:
    """The text of the tool's result that the request ends with."""
    (block,) = body["messages"][-1]["content"]
    return "".join(part["text"] for part in block["content"])
