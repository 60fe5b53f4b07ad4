"""A tool that another package adds: what it must be, and what becomes of its calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.api import Seen, Tool, ToolContext
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.tools.registry import BUILT_IN, ToolRegistry
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
    {"cell_id": {"type": "string"}},
    ("cell_id",),
    run=count,
)
NO_TOOL = "something else"
"""
POINTS = """
[jupyter_codeinterp.tools]
broken = words_tool:MISSING
count_words = words_tool:COUNT_WORDS
nothing = words_tool:NO_TOOL
"""


async def nothing(context: ToolContext, arguments: msgspec.Struct) -> Seen:
    return Seen("")


TOOL = Tool("look_up", "Look up", "Look something up.", msgspec.Struct, run=nothing)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": "run_cell"}, "already"),
        ({"name": "look up"}, "no name"),
        ({"name": ""}, "no name"),
        ({"name": "x" * 65}, "no name"),
        ({"effect": "changes"}, "must look"),
        ({"effect": "asks"}, "must look"),
        ({"run": None}, "must look"),
        ({"label": ""}, "label"),
    ],
)
def test_what_is_no_tool_is_refused(changed: dict[str, Any], why: str) -> None:
    registry = ToolRegistry()
    with pytest.raises(ValueError, match=why):
        registry.add(dataclasses.replace(TOOL, **changed))
    assert registry.specs() == tuple(tool.spec for tool in BUILT_IN)


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


def result_of(body: dict[str, Any]) -> str:
    """The text of the tool's result that the request ends with."""
    (block,) = body["messages"][-1]["content"]
    return "".join(part["text"] for part in block["content"])
