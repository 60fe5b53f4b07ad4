"""What the model adapter makes of answers, and sends back of them: through the real SDK, over
HTTP, against the fake of the Messages API.
"""

from __future__ import annotations

import json

import msgspec
import pytest

from jupyter_codeinterp.models.anthropic.services import ANTHROPIC
from jupyter_codeinterp.models.http.service import Service
from jupyter_codeinterp.wire.messages import (
    Image,
    ImageSource,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    user,
)
from jupyter_codeinterp.wire.ports import ModelDone, ModelText, ModelToolInput, ToolSpec
from tests.anthropic_talk import (
    CLAUDE,
    KEY,
    PNG,
    ask,
    asking,
    connected,
    done,
    events,
    joined,
    talking,
)
from tests.anthropic_talk import environment as environment  # a fixture
from tests.fake_anthropic import (
    FakeAnthropic,
    RedactedBlock,
    answer,
    call,
    on_loop,
    raw_call,
    raw_events,
    run_cell,
    text,
    thinking,
)

# --- what comes of an answer -----------------------------------------------------------


@on_loop
async def test_thinking_is_signed_and_begins_with_what_was_read() -> None:
    shown = await ask(answer(thinking("First the sum."), text("Let me see.")).at(chunk=5))
    end = shown[-1]
    assert isinstance(end, ModelDone)
    first, second = end.message.content
    assert isinstance(first, Thinking) and first.signature
    assert second == Text("Let me see.")
    begin = [type(event).__name__ for event in shown[:3]]
    assert begin == ["ModelRead", "ModelThinking", "ModelThinking"]


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        ('{"source": "1"', "Expecting"),
        ('{"source": "1" "2"}', "Expecting"),
        ('["source"]', "an object is needed"),
        ('{"source": "\\ud83d"}', "surrogates not allowed"),
        ('{"n": NaN}', "not JSON compliant"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_broken_input_is_named_and_never_half_used(sent: str, wrong: str) -> None:
    @on_loop
    async def run() -> None:
        turn = answer(raw_call("run_cell", sent), run_cell("2")).at(chunk=4_000)
        end = await done(turn)
        broken, good = end.message.content
        assert isinstance(broken, ToolUse) and broken.input == {}
        assert list(end.invalid) == [broken.id] and wrong in end.invalid[broken.id]
        assert isinstance(good, ToolUse) and good.input == {"source": "2"}

    run()


@on_loop
async def test_events_and_blocks_of_unknown_types_are_skipped() -> None:
    unknown = raw_events(
        {"type": "weather", "sky": "blue"},
        {"type": "content_block_start", "index": 90, "content_block": {"type": "hologram"}},
        {"type": "content_block_delta", "index": 90, "delta": {"type": "hologram_delta", "x": 1}},
        {"type": "content_block_stop", "index": 90},
        {"type": "content_block_stop", "index": 90},
        {"type": "content_block_delta", "index": 91, "delta": {"type": "text_delta", "text": "?"}},
    )
    shown = await ask(answer(unknown, text("Hello."), unknown, run_cell("1")))
    end = shown[-1]
    assert isinstance(end, ModelDone)
    assert [type(block) for block in end.message.content] == [Text, ToolUse]
    assert {event.block for event in shown if isinstance(event, ModelText)} == {0}
    assert {event.block for event in shown if isinstance(event, ModelToolInput)} == {1}


@on_loop
async def test_blank_text_is_no_block() -> None:
    shown = await ask(answer(text(" \n"), run_cell("1"), text("")))
    end = shown[-1]
    assert isinstance(end, ModelDone)
    assert [type(block) for block in end.message.content] == [ToolUse]
    assert not any(isinstance(event, ModelText) for event in shown)
    assert {event.block for event in shown if isinstance(event, ModelToolInput)} == {0}


@pytest.mark.parametrize(
    "stop",
    ["end_turn", "stop_sequence", "pause_turn", "max_tokens", "model_context_window_exceeded"],
)
def test_stop_reasons_are_passed_on(stop: str) -> None:
    @on_loop
    async def run() -> None:
        assert (await done(answer(text("So"), stop=stop))).stop_reason == stop

    run()


# --- what is sent back -----------------------------------------------------------------


def results(message: Message, *parts: Text | Image) -> Message:
    calls = [block for block in message.content if isinstance(block, ToolUse)]
    return user(*(ToolResult(block.id, parts) for block in calls))


@on_loop
async def test_a_conversation_goes_back_byte_for_byte() -> None:
    turn = answer(
        thinking("Hm."), RedactedBlock("b64=="), text("Ä"), run_cell("1"), raw_call("run_cell", "{")
    )
    plot = Image(ImageSource("image/png", PNG))
    async with talking(turn, turn, answer(thinking("So."), text("2"))) as (model, api):
        request = asking()
        for _ in range(2):
            end = (await events(model, request))[-1]
            assert isinstance(end, ModelDone)
            assert isinstance(end.message.content[1], RedactedThinking)
            said = results(end.message, Text("status=ok"), Text(""), plot)
            request = asking(*request.messages, end.message, said)
        end = (await events(model, request))[-1]
        assert isinstance(end, ModelDone) and end.stop_reason == "end_turn"
        assert len(api.requests) == 3


@on_loop
async def test_repeated_call_ids_become_unique() -> None:
    same = call("run_cell", {"source": "1"}, id="call_0")
    twice = answer(same, same)
    async with talking(twice, twice, answer(text("ok"))) as (model, _):
        request = asking()
        ids: list[str] = []
        for _turn in range(2):
            shown = await events(model, request)
            end = shown[-1]
            assert isinstance(end, ModelDone)
            ids += [block.id for block in end.message.content if isinstance(block, ToolUse)]
            assert {e.id for e in shown if isinstance(e, ModelToolInput)} == set(ids[-2:])
            request = asking(*request.messages, end.message, results(end.message, Text("ok")))
        await events(model, request)
        assert ids == ["call_0", "call_0-2", "call_0-3", "call_0-4"]


@on_loop
async def test_an_answer_of_thinking_alone_can_be_sent_back() -> None:
    async with talking(answer(thinking("Hm.")), answer(text("Yes?"))) as (model, api):
        end = (await events(model, asking()))[-1]
        assert isinstance(end, ModelDone) and end.stop_reason == "end_turn"
        await events(model, asking(*asking().messages, end.message, user(Text("Hello?"))))
        last = api.requests[1].body["messages"][1]["content"][-1]
        assert last == {"type": "text", "text": "(nothing said)"}


@on_loop
async def test_a_paused_answer_is_sent_again_to_go_on() -> None:
    async with talking(answer(text("…"), stop="pause_turn"), answer(text("done"))) as (model, _):
        end = (await events(model, asking()))[-1]
        assert isinstance(end, ModelDone)
        shown = await events(model, asking(*asking().messages, end.message))
        assert joined(shown, ModelText) == "done"


@on_loop
async def test_anthropic_gets_all_its_features() -> None:
    looks = ToolSpec("look", "Look.", {"type": "object", "properties": {"a": {"type": "string"}}})
    async with talking(answer(text("ok")), max_tokens=500) as (model, api):
        request = asking()
        await events(model, msgspec.structs.replace(request, tools=(*request.tools, looks)))
        body = api.requests[0].body
    assert body["max_tokens"] == 500
    assert "tool_choice" not in body
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    last = body["messages"][-1]["content"][-1]
    assert last["cache_control"] == body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert [tool.get("eager_input_streaming") for tool in body["tools"]] == [True, None]
    assert list(body["tools"][0]["input_schema"]["properties"]) == ["title", "source"]


@on_loop
async def test_other_servers_get_the_plain_api() -> None:
    plot = Image(ImageSource("image/png", PNG))
    async with FakeAnthropic([answer(run_cell("1")), answer(text("ok"))]) as api:
        model = connected(ANTHROPIC, KEY, api.url)  # the host decides
        end = (await events(model, asking()))[-1]
        assert isinstance(end, ModelDone)
        said = results(end.message, Text("status=ok"), plot)
        said = user(*said.content, Text("Go on."))
        await events(model, asking(*asking().messages, end.message, said))
        await model.aclose()
        assert api.violations == []
    body, headers = api.requests[1].body, api.requests[1].headers
    asked = {*asking().__struct_fields__} - {"brief", "answer_only"}
    assert body.keys() == {*asked, "max_tokens", "stream"}
    assert "cache_control" not in json.dumps(body) and "eager" not in json.dumps(body)
    kinds = [block["type"] for block in body["messages"][2]["content"]]
    assert kinds == ["tool_result", "text", "image"]
    assert headers["x-api-key"] == KEY and headers["authorization"] == f"Bearer {KEY}"


def test_unsigned_thinking_goes_back_only_where_it_is_not_refused() -> None:
    unsigned = raw_events(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "Hm."},
        },
        {"type": "content_block_stop", "index": 0},
    )

    @on_loop
    async def kinds(service: Service, expected: list[str]) -> None:
        async with FakeAnthropic([answer(unsigned, text("Hi"))] * 2, check=False) as api:
            model = connected(service, KEY, api.url)
            end = (await events(model, asking()))[-1]
            assert isinstance(end, ModelDone)
            assert end.message.content[0] == Thinking("Hm.", "")
            await events(model, asking(*asking().messages, end.message, user(Text("And?"))))
            await model.aclose()
            content = api.requests[1].body["messages"][1]["content"]
            assert [block["type"] for block in content] == expected

    kinds(service=CLAUDE, expected=["text"])
    kinds(service=ANTHROPIC, expected=["thinking", "text"])
