"""The recorded conversation as a model: what it plays, and where it stops.

The results here are written by hand in the form of ``outputs.result_text``; the recorded
code runs in a real kernel in ``test_demo.py``.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import time

import pytest

from jupyter_codeinterp import demo
from jupyter_codeinterp.models.replay.model import ReplayModel
from jupyter_codeinterp.view.outputs import result_text
from jupyter_codeinterp.wire.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    Usage,
    assistant,
    tool_uses,
    user,
)
from jupyter_codeinterp.wire.ports import (
    Model,
    ModelDone,
    ModelEvent,
    ModelRequest,
    ModelText,
    ModelToolInput,
)

QUESTION = "Which region grew fastest? Show it."
CONTEXT = Text("<notebook>sales.ipynb</notebook>")
BAD_DATE = 'ValueError: time data "5 May" doesn\'t match format "%Y-%m-%d".'
CLEANED = "0 dates could not be read\n12 rows have no revenue"
TABLE = """\
year      2024    2025  growth
region
South   35,299  46,097  +30.6%
North   43,682  49,882  +14.2%
West    49,949  53,859   +7.8%
East    39,979  42,737   +6.9%"""
READ = "0 dates could not be read\nRows without revenue by region: {}"
AS_RECORDED = (
    *(("ok", ""), ("error", BAD_DATE)),
    *(("ok", READ), ("ok", CLEANED), ("ok", TABLE), ("ok", "")),
)


def play(model: Model, messages: tuple[Message, ...]) -> list[ModelEvent]:
    async def collect() -> list[ModelEvent]:
        request = ModelRequest("demo", "", (), messages)
        return [event async for event in model.stream(request)]

    return asyncio.run(collect())


def done(events: list[ModelEvent]) -> ModelDone:
    last = events[-1]
    assert isinstance(last, ModelDone)
    return last


def answer(call: ToolUse, status: str, cell_id: str, body: str) -> ToolResult:
    text = result_text(status=status, cell_id=cell_id, elapsed=0.1, body=body)
    return ToolResult(call.id, (Text(text),), status != "ok")


def converse(
    model: Model, *results: tuple[str, str], before: tuple[Message, ...] = ()
) -> tuple[Message, ...]:
    """Ask, and answer each call with the next of ``results`` (status, outputs)."""
    messages = (*before, user(CONTEXT, Text(QUESTION)))
    start = len(before)
    for status, body in results:
        reply = done(play(model, messages)).message
        (call,) = tool_uses(reply)
        cell_id = call.input.get("cell_id") or f"cell-{start}-{len(messages)}"
        messages = (*messages, reply, user(answer(call, status, cell_id, body)))
    return messages


def said(model: Model, messages: tuple[Message, ...]) -> str:
    """The text of a reply that ends the turn."""
    last = done(play(model, messages))
    assert last.stop_reason == "end_turn"
    (block,) = last.message.content
    assert isinstance(block, Text)
    return block.text


@pytest.fixture
def model() -> ReplayModel:
    return ReplayModel(pace=0)


def test_says_what_it_is(model: ReplayModel) -> None:
    assert model.always_ask
    info = asyncio.run(model.info("demo"))
    assert (info.id, info.name, info.prices) == ("demo", "Offline demo", (0, 0, 0, 0))


def test_streams_words_then_code_that_grows(model: ReplayModel) -> None:
    events = play(model, (user(Text(QUESTION)),))
    last = done(events)
    text, call = last.message.content
    assert isinstance(text, Text)
    assert isinstance(call, ToolUse)
    words = [event.text for event in events if isinstance(event, ModelText)]
    assert len(words) == len(text.text.split())
    assert "".join(words) == text.text
    written = [event for event in events if isinstance(event, ModelToolInput)]
    assert {(event.block, event.id, event.name) for event in written} == {(1, call.id, "run_cell")}
    assert [written[0].partial, written[-1].partial] == [{}, call.input]
    assert list(call.input) == ["title", "source"]
    sources = [event.partial["source"] for event in written if "source" in event.partial]
    assert len(sources) > 20
    assert all(late.startswith(early) for early, late in itertools.pairwise(sources))
    assert (last.stop_reason, last.usage) == ("tool_use", Usage())


def test_pace_is_words_a_second() -> None:
    started = time.monotonic()
    events = play(ReplayModel(pace=200), (user(Text("hello")),))
    chunks = len(events) - 1
    assert time.monotonic() - started >= chunks / 200


@pytest.mark.parametrize(
    "words",
    [
        QUESTION,
        "which region grew fastest - show it",
        "  WHICH  region grew\nfastest?!  Show it ",
        "Which region grew fastest?",
        f"[The person stopped the previous turn.]\n{QUESTION}",
    ],
)
def test_knows_the_question_in_any_spelling(model: ReplayModel, words: str) -> None:
    assert done(play(model, (user(CONTEXT, Text(words)),))).stop_reason == "tool_use"


@pytest.mark.parametrize("words", ["hello", "Which region grew fastest? Show it. In red."])
def test_other_messages_get_the_way_to_a_model(model: ReplayModel, words: str) -> None:
    text = said(model, (user(CONTEXT, Text(words)),))
    assert "offline demo" in text
    assert f"“{QUESTION}”" in text
    assert "ANTHROPIC_API_KEY" in text


def test_context_that_holds_the_question_is_not_the_question(model: ReplayModel) -> None:
    assert "offline demo" in said(model, (user(Text(QUESTION), Text("hello")),))


def test_plays_to_the_answer_with_live_ids(model: ReplayModel) -> None:
    messages = converse(model, *AS_RECORDED)
    calls = [call for message in messages for call in tool_uses(message)]
    assert [call.name for call in calls] == [
        "run_cell",
        "run_cell",
        "edit_cell",
        "edit_cell",
        "run_cell",
        "run_cell",
    ]
    assert list(calls[2].input) == ["title", "cell_id", "source"]
    assert calls[2].input["cell_id"] == "cell-0-3", "the cell of the call before, as it answered"
    assert calls[3].input["cell_id"] == "cell-0-3", "the same cell again"
    assert len({call.id for call in calls}) == 6
    text = said(model, messages)
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    assert words.startswith("**South** grew fastest: revenue rose from 35,299 in 2024 to 46,097")
    assert "North comes next with +14.2%" in words
    assert "12 rows have no revenue" in words
    for cell_id in ("cell-0-3", "cell-0-9", "cell-0-11"):
        assert re.search(rf"\]\(#cell:{cell_id}[ )]", text)
    assert "{{" not in text


def test_plays_again_with_fresh_ids(model: ReplayModel) -> None:
    first = converse(model, *AS_RECORDED)
    first = (*first, assistant(Text(said(model, first))))
    both = converse(model, *AS_RECORDED, before=first)
    ids = [call.id for message in both for call in tool_uses(message)]
    assert len(set(ids)) == 12
    assert "#cell:cell-14-" in said(model, both)
    assert "#cell:cell-0-" not in said(model, both)


def test_results_of_a_turn_that_was_stopped_do_not_count(model: ReplayModel) -> None:
    """The next message follows them as a part of the same user message."""
    *earlier, results = converse(model, ("interrupted", ""))

    def next_message(words: str) -> tuple[Message, ...]:
        return (*earlier, user(*results.content, CONTEXT, Text(words)))

    again = done(play(model, next_message(QUESTION))).message
    assert tool_uses(again)[0].input["title"] == "Look at the data"
    assert "offline demo" in said(model, next_message("hello"))


def test_the_answer_has_the_figures_of_this_run(model: ReplayModel) -> None:
    def answer_to(table: str) -> str:
        return said(model, converse(model, *AS_RECORDED[:4], ("ok", table), ("ok", "")))

    changed = TABLE.replace("South", "Coast").replace("35,299", "31,000").replace("  ", "    ")
    assert "**Coast** grew fastest: revenue rose from [31,000]" in answer_to(changed)
    other = answer_to(TABLE.partition("West")[0])
    assert "differs from the recording" in other
    assert "[Growth by region](#cell:cell-0-9)" in other
    assert "35,299" not in other


def test_a_result_without_the_figures_differs(model: ReplayModel) -> None:
    rest = (("ok", TABLE), ("ok", ""))
    messages = converse(model, *AS_RECORDED[:3], ("ok", "3 dates could not be read"), *rest)
    assert "differs from the recording" in said(model, messages)


@pytest.mark.parametrize(
    ("results", "title", "status"),
    [
        ([("rejected", "")], "Look at the data", "rejected"),
        ([("not_run", "Plan mode runs nothing.")], "Look at the data", "not_run"),
        ([*AS_RECORDED[:2], ("rejected", "")], "Parse dates and amounts", "rejected"),
        ([("timeout", "")], "Look at the data", "timeout"),
        ([("error", "ModuleNotFoundError: No module named 'pandas'")], "Look at the data", "error"),
        ([("ok", ""), ("ok", "")], "Parse dates and amounts", "ok"),
        ([("ok", ""), ("error", "KeyError: 'date'")], "Parse dates and amounts", "error"),
    ],
)
def test_stops_in_words_where_the_conversation_departs(
    model: ReplayModel, results: list[tuple[str, str]], title: str, status: str
) -> None:
    text = said(model, converse(model, *results))
    assert "differs from the recording" in text and f"[{title}](#cell:" in text
    assert f"`status={status}`" in text
    assert "the recording stops here" in text
    assert "ANTHROPIC_API_KEY" in text


def test_outputs_never_become_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where a recording asks for it."""
    call = {"type": "tool_use", "id": "look", "name": "run_cell"}
    text = {"type": "text", "text": "{{look.word}}"}
    asking = {"title": "Look", "position": "after:{{look.cell}}", "source": "{{look.word}}"}
    lines = [
        {"title": "", "version": 1, "questions": [QUESTION]},
        {
            "role": "assistant",
            "content": [{**call, "input": {"title": "Look", "source": "look"}}],
            "expect": {"look": {"reads": r"(?P<word>\w+)!"}},
        },
        {"role": "assistant", "content": [text, {**call, "id": "use", "input": asking}]},
    ]
    recording = b"\n".join(json.dumps(line).encode() for line in lines)
    monkeypatch.setattr(demo, "read", {"growth.jsonl": recording}.__getitem__)
    model = ReplayModel(pace=0)
    message = done(play(model, converse(model, ("ok", "evil!")))).message
    assert message.content[0] == Text("evil")
    (use,) = tool_uses(message)
    assert use.input == {**asking, "position": "after:cell-0-1"}


@pytest.mark.parametrize(
    "notebook, place", [("[sales-load] code", "after:sales-load"), ("[x] code", None)]
)
def test_the_first_cell_goes_after_the_one_that_loads_the_data(
    model: ReplayModel, notebook: str, place: str | None
) -> None:
    message = done(play(model, (user(Text(notebook), Text(QUESTION)),))).message
    (call,) = tool_uses(message)
    assert call.input.get("position") == place


def test_a_stream_can_be_stopped_between_two_words() -> None:
    async def stop_after_the_first() -> list[ModelEvent]:
        seen: list[ModelEvent] = []
        first = asyncio.Event()

        async def consume() -> None:
            request = ModelRequest("demo", "", (), (user(Text(QUESTION)),))
            async for event in ReplayModel(pace=0.01).stream(request):
                seen.append(event)
                first.set()

        task = asyncio.create_task(consume())
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert len(asyncio.run(stop_after_the_first())) == 1
