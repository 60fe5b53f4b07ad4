"""What the model adapter makes of answers, and sends back of them: through the real SDK, over
HTTP, against the fake of the Messages API.
"""

from __future__ import annotations

import json

import msgspec
import pytest

from jupyter_codeinterp.adapters.providers.anthropic.model import AnthropicModel
from jupyter_codeinterp.adapters.providers.anthropic.profile import ANTHROPIC, OTHER, Profile
from jupyter_codeinterp.core.messages import (
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
from jupyter_codeinterp.core.ports import (
    ModelDone,
    ModelRead,
    ModelText,
    ModelThinking,
    ModelToolInput,
    ToolSpec,
)
from tests.anthropic_talk import (
    KEY,
    PNG,
    ask,
    asking,
    done,
    events,
    joined,
    talking,
)
from tests.anthropic_talk import environment as environment  # a fixture
from tests.fake_anthropic import (
    FakeAnthropic,
    RedactedBlock,
    Turn,
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
async def test_text_thinking_and_code_arrive_piece_by_piece() -> None:
    source = 'print("größer ✓")\n' * 4
    shown = await ask(
        answer(
            thinking("First the sum."), text("Let me see."), run_cell(source, title="Say it")
        ).at(chunk=5)
    )
    assert joined(shown, ModelThinking) == "First the sum."
    assert joined(shown, ModelText) == "Let me see."
    sources = [e.partial.get("source", "") for e in shown if isinstance(e, ModelToolInput)]
    assert sources[0] == "" and sources[-1] == source
    assert len(set(sources)) > 10
    assert all(source.startswith(part) for part in sources)
    end = shown[-1]
    assert isinstance(end, ModelDone) and end.stop_reason == "tool_use"
    first, second, third = end.message.content
    assert isinstance(first, Thinking) and first.signature
    assert second == Text("Let me see.")
    assert isinstance(third, ToolUse) and third.input == {"title": "Say it", "source": source}
    begin = [type(event).__name__ for event in shown[:3]]
    assert begin == ["ModelRead", "ModelThinking", "ModelThinking"]


@on_loop
async def test_a_call_shows_itself_before_its_input() -> None:
    shown = await ask(answer(run_cell("1 + 1")))
    first = next(event for event in shown if not isinstance(event, ModelRead))
    assert isinstance(first, ModelToolInput) and first.name == "run_cell" and first.partial == {}


@pytest.mark.parametrize("split", [1, 7])
def test_frames_cut_at_every_byte(split: int) -> None:
    @on_loop
    async def run() -> None:
        turn = answer(text("größer ✓ 🎉"), run_cell("'🎉' * 3")).at(chunk=4, split=split)
        end = await done(turn)
        words, cell = end.message.content
        assert words == Text("größer ✓ 🎉")
        assert isinstance(cell, ToolUse) and cell.input["source"] == "'🎉' * 3"

    run()


@on_loop
async def test_all_arguments_in_one_chunk() -> None:
    end = await done(answer(call("run_cell", {"source": "1"}, whole=True)))
    assert isinstance(end.message.content[0], ToolUse)
    assert end.message.content[0].input == {"source": "1"}


@on_loop
async def test_two_calls_at_once() -> None:
    end = await done(answer(run_cell("1"), run_cell("2")))
    first, second = end.message.content
    assert isinstance(first, ToolUse) and isinstance(second, ToolUse)
    assert first.id != second.id


@on_loop
async def test_an_empty_input_is_an_empty_object() -> None:
    end = await done(answer(raw_call("run_cell", None)))
    assert isinstance(end.message.content[0], ToolUse) and end.message.content[0].input == {}
    assert end.invalid == {}


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
async def test_usage_is_the_last_that_was_said() -> None:
    end = await done(answer(text("Hello.")))
    assert end.usage.output_tokens > 1
    assert end.usage.input_tokens == 0 and end.usage.total_input > 100


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


@on_loop
async def test_a_refusal_says_why() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "Not this."}
    end = await done(answer(text("No"), stop="refusal", stop_details=details))
    assert (end.stop_reason, end.detail) == ("refusal", "Not this.")


@on_loop
async def test_input_that_max_tokens_cut_is_invalid() -> None:
    end = await done(answer(raw_call("run_cell", '{"source": "x = ('), stop="max_tokens"))
    assert end.stop_reason == "max_tokens" and len(end.invalid) == 1


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


@pytest.mark.parametrize("turn", [answer(), answer(text("  ")), answer(thinking("Hm."))])
def test_an_answer_without_words_can_be_sent_back(turn: Turn) -> None:
    @on_loop
    async def run() -> None:
        async with talking(turn, answer(text("Yes?"))) as (model, api):
            end = (await events(model, asking()))[-1]
            assert isinstance(end, ModelDone) and end.stop_reason == "end_turn"
            assert not any(isinstance(block, Text) for block in end.message.content)
            await events(model, asking(*asking().messages, end.message, user(Text("Hello?"))))
            last = api.requests[1].body["messages"][1]["content"][-1]
            assert last == {"type": "text", "text": "(nothing said)"}

    run()


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
    async with talking(answer(text("ok")), max_tokens=500, effort="low") as (model, api):
        request = asking()
        await events(model, msgspec.structs.replace(request, tools=(*request.tools, looks)))
        body = api.requests[0].body
    assert body["max_tokens"] == 500
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "low"}
    assert body["cache_control"] == body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert [tool.get("eager_input_streaming") for tool in body["tools"]] == [True, None]
    assert list(body["tools"][0]["input_schema"]["properties"]) == ["title", "source"]


@on_loop
async def test_other_servers_get_the_plain_api() -> None:
    plot = Image(ImageSource("image/png", PNG))
    async with FakeAnthropic([answer(run_cell("1")), answer(text("ok"))]) as api:
        model = AnthropicModel(lambda: (KEY, api.url))  # the host decides
        end = (await events(model, asking()))[-1]
        assert isinstance(end, ModelDone)
        said = results(end.message, Text("status=ok"), plot)
        said = user(*said.content, Text("Go on."))
        await events(model, asking(*asking().messages, end.message, said))
        await model.aclose()
        assert api.violations == []
    body, headers = api.requests[1].body, api.requests[1].headers
    asked = {*asking().__struct_fields__} - {"brief"}
    assert body.keys() == {*asked, "max_tokens", "tool_choice", "stream"}
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
    async def kinds(profile: Profile, expected: list[str]) -> None:
        async with FakeAnthropic([answer(unsigned, text("Hi"))] * 2, check=False) as api:
            model = AnthropicModel(lambda: (KEY, api.url), profile=profile)
            end = (await events(model, asking()))[-1]
            assert isinstance(end, ModelDone)
            assert end.message.content[0] == Thinking("Hm.", "")
            await events(model, asking(*asking().messages, end.message, user(Text("And?"))))
            await model.aclose()
            content = api.requests[1].body["messages"][1]["content"]
            assert [block["type"] for block in content] == expected

    kinds(profile=ANTHROPIC, expected=["text"])
    kinds(profile=OTHER, expected=["thinking", "text"])
