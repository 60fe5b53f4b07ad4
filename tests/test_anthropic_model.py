"""The model adapter through the real SDK, over HTTP, against the fake of the Messages API."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from jupyter_codeinterp.adapters.anthropic_model import ANTHROPIC, OTHER, AnthropicModel, Profile
from jupyter_codeinterp.core.errors import ModelError
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
    ModelEvent,
    ModelRequest,
    ModelRetry,
    ModelText,
    ModelThinking,
    ModelToolInput,
    ToolSpec,
)
from tests.fake_anthropic import (
    FakeAnthropic,
    HttpError,
    RedactedBlock,
    Speed,
    Step,
    Turn,
    answer,
    bad_request,
    call,
    forbidden,
    on_loop,
    overloaded,
    own_spend_limited,
    prompt_too_long,
    rate_limited,
    raw_call,
    raw_events,
    run_cell,
    server_error,
    spend_limited,
    text,
    thinking,
    unknown_model,
    wrong_key,
)

KEY = "sk-ant-test-key-0123456789"
TOOLS = (
    ToolSpec(
        "run_cell",
        "Run code.",
        {
            "type": "object",
            "properties": {"title": {"type": "string"}, "source": {"type": "string"}},
            "required": ["source"],
        },
    ),
)
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No credentials of the person who runs the tests."""
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))


def asking(*messages: Message, model: str = "claude-sonnet-5-5") -> ModelRequest:
    return ModelRequest(model, "Be brief.", TOOLS, messages or (user(Text("Add."), Text("Now.")),))


@asynccontextmanager
async def talking(
    *steps: Step, profile: Profile = ANTHROPIC, key: str | None = KEY, **options: Any
) -> AsyncIterator[tuple[AnthropicModel, FakeAnthropic]]:
    """A model and the fake that it talks to; nothing that it sends may be wrong."""
    async with FakeAnthropic(steps) as api:
        options = {"wait": lambda attempt: 0.0, **options}
        model = AnthropicModel(lambda: (key, api.url), profile=profile, **options)
        try:
            yield model, api
        finally:
            await model.aclose()
        assert api.violations == []


async def events(model: AnthropicModel, request: ModelRequest) -> list[ModelEvent]:
    return [event async for event in model.stream(request)]


async def ask(*steps: Step, **options: Any) -> list[ModelEvent]:
    async with talking(*steps, **options) as (model, _):
        return await events(model, asking())


async def done(*steps: Step, **options: Any) -> ModelDone:
    last = (await ask(*steps, **options))[-1]
    assert isinstance(last, ModelDone)
    return last


async def failure(*steps: Step, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(*steps, **options)
    assert KEY not in str(caught.value)
    return caught.value


def joined(shown: list[ModelEvent], kind: type[ModelText] | type[ModelThinking]) -> str:
    return "".join(event.text for event in shown if isinstance(event, kind))


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
    assert [type(event).__name__ for event in shown[:2]] == ["ModelThinking"] * 2


@on_loop
async def test_a_call_shows_itself_before_its_input() -> None:
    shown = await ask(answer(run_cell("1 + 1")))
    first = shown[0]
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
    async with talking(answer(text("ok")), max_tokens=500, effort="low") as (model, api):
        await events(model, asking())
        body = api.requests[0].body
    assert body["max_tokens"] == 500
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "low"}
    assert body["cache_control"] == body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert all(tool["eager_input_streaming"] for tool in body["tools"])
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
    assert body.keys() == {*asking().__struct_fields__, "max_tokens", "tool_choice", "stream"}
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


# --- tried again -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (rate_limited("0.01"), "rate_limit"),
        (overloaded(), "overloaded"),
        (server_error(), "server_error"),
        (HttpError(503, "api_error", "Unavailable"), "server_error"),
        (answer(text("x")).cut_by("reset", after=0), "offline"),
        (answer(text("x")).cut_by("end", after=0), "server_error"),
        (answer(text("x")).cut_by("stall", after=0), "offline"),
        (answer(text("x")).cut_by("error", after=0), "overloaded"),
        (answer(text("x"), stop=None).cut_by("end", after=0), "server_error"),
    ],
)
def test_what_fails_before_the_first_word_is_tried_again(fault: Step, code: str) -> None:
    @on_loop
    async def run() -> None:
        shown = await ask(fault, answer(text("Here.")), stall=0.3)
        retry = shown[0]
        assert isinstance(retry, ModelRetry)
        assert (retry.code, retry.attempt) == (code, 1) and retry.message
        assert joined(shown, ModelText) == "Here."

    run()


@on_loop
async def test_a_server_that_does_not_listen_is_offline() -> None:
    async with FakeAnthropic() as gone:
        url = gone.url
    model = AnthropicModel(lambda: (KEY, url), wait=lambda attempt: 0.0, attempts=2)
    shown: list[ModelEvent] = []
    with pytest.raises(ModelError) as caught:
        async for event in model.stream(asking()):
            shown.append(event)
    assert caught.value.code == "offline" and url in caught.value.message
    assert [event.attempt for event in shown if isinstance(event, ModelRetry)] == [1]
    await model.aclose()


@on_loop
async def test_attempts_come_to_an_end() -> None:
    async with talking(*[overloaded()] * 9, attempts=3) as (model, api):
        with pytest.raises(ModelError) as caught:
            await events(model, asking())
        assert len(api.requests) == 3
    assert caught.value.code == "overloaded" and "3 times" in caught.value.message


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("0.01", 0.01, 0.01), ("3600", 60, 60), ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0), ("x", 7, 7)],
)
def test_retry_after_is_honoured_and_capped(header: str, least: float, most: float) -> None:
    @on_loop
    async def run() -> None:
        async with talking(rate_limited(header), wait=lambda attempt: 7.0) as (model, _):
            async with aclosing(model.stream(asking())) as shown:
                retry = await anext(shown)
            assert isinstance(retry, ModelRetry) and least <= retry.delay <= most

    run()


@on_loop
async def test_waits_grow_with_jitter_within_their_bounds() -> None:
    from jupyter_codeinterp.adapters.anthropic_model.model import backoff

    for attempt, most in [(1, 2), (2, 4), (3, 8), (4, 16), (5, 30), (9, 30)]:
        waits = [backoff(attempt) for _ in range(200)]
        assert most / 2 <= min(waits) < max(waits) <= most


@on_loop
async def test_the_person_can_stop_the_waiting() -> None:
    async with (
        talking(rate_limited("60")) as (model, api),
        aclosing(model.stream(asking())) as shown,
    ):
        assert isinstance(await anext(shown), ModelRetry)
        waiting = asyncio.ensure_future(anext(shown))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert len(api.requests) == 1


# --- not tried again -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (spend_limited(), "spend_limit", "2026-12-01"),
        (spend_limited("contract_spend_limit_reached"), "spend_limit", "limit"),
        (own_spend_limited(), "spend_limit", "limit"),
        (HttpError(402, "billing_error", "Pay first."), "spend_limit", "Pay first."),
        (wrong_key(), "wrong_key", "paste it again"),
        (forbidden(), "forbidden", "permission"),
        (unknown_model("claude-sonnet-5-5"), "unknown_model", "claude-sonnet-5-5"),
        (bad_request("messages: wrong"), "bad_request", "messages: wrong"),
        (prompt_too_long(210_000, 200_000), "context_full", "210000"),
        (HttpError(413, "request_too_large", "Too large"), "context_full", "Too large"),
        (HttpError(307, "", "", headers={"location": "http://127.0.0.1:9/"}), "bad_request", "307"),
    ],
)
def test_what_no_other_try_would_mend_ends_at_once(fault: Step, code: str, words: str) -> None:
    @on_loop
    async def run() -> None:
        error = await failure(fault)
        assert error.code == code and words in error.message

    run()


@on_loop
async def test_a_server_may_forbid_another_try() -> None:
    final = HttpError(529, "overloaded_error", "No.", headers={"x-should-retry": "false"})
    assert (await failure(final)).code == "overloaded"


@on_loop
async def test_the_server_may_name_a_time_for_the_last_failure() -> None:
    assert (await failure(rate_limited("90"), attempts=1)).retry_after == 90.0


@on_loop
async def test_a_key_that_the_server_repeats_is_not_shown() -> None:
    error = await failure(bad_request(f"The key {KEY} is odd."))
    assert "[key] is odd" in error.message


# --- broken in the middle --------------------------------------------------------------

LONG = answer(text("Let me see. " * 4), run_cell("x = 1\n" * 20, title="Many"))


@pytest.mark.parametrize("how", ["reset", "end", "stall", "error"])
@pytest.mark.parametrize("after", [2, 9])
def test_a_break_in_the_middle_is_said_and_not_retried(how: Any, after: int) -> None:
    """After 2 deltas within the text, after 9 within the code."""

    @on_loop
    async def run() -> None:
        async with talking(LONG.cut_by(how, after=after), stall=0.3) as (model, api):
            shown: list[ModelEvent] = []
            with pytest.raises(ModelError) as caught:
                async for event in model.stream(asking()):
                    shown.append(event)
            assert len(api.requests) == 1
        assert caught.value.code == "broken_stream"
        assert shown and not any(isinstance(e, (ModelRetry, ModelDone)) for e in shown)

    run()


@on_loop
async def test_an_end_without_a_reason_is_broken() -> None:
    assert (await failure(answer(text("So"), stop=None))).code == "broken_stream"


@on_loop
async def test_an_answer_that_is_no_stream_is_said() -> None:
    async with FakeAnthropic(routes={"POST /v1/messages": lambda _: {"hello": 1}}) as api:
        model = AnthropicModel(lambda: (KEY, api.url), attempts=1)
        with pytest.raises(ModelError) as caught:
            await events(model, asking())
        await model.aclose()
    assert caught.value.code == "server_error"


# --- stopping --------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [Speed(first=60), Speed(delay=60), Speed(delay=0.01)])
def test_stop_closes_the_stream_at_once(speed: Speed) -> None:
    """Before the first byte, in a pause, and in the flow."""

    @on_loop
    async def run() -> None:
        slow = Turn(LONG.blocks, speed=speed)
        async with talking(slow, answer(text("Next."))) as (model, api):
            begun = asyncio.Event()

            async def consume() -> None:
                async for _ in model.stream(asking()):
                    begun.set()

            task = asyncio.ensure_future(consume())
            await (begun.wait() if not speed.first else api.seen(1))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(api.requests[0].gone.wait(), 1)
            assert joined(await events(model, asking()), ModelText) == "Next."

    run()


@on_loop
async def test_a_consumer_that_leaves_closes_the_stream() -> None:
    async with talking(Turn(LONG.blocks, speed=Speed(delay=0.01))) as (model, api):
        async with aclosing(model.stream(asking())) as shown:
            await anext(shown)
        await asyncio.wait_for(api.requests[0].gone.wait(), 1)


@on_loop
async def test_one_connection_serves_many_answers() -> None:
    async with talking(*[answer(text("Hi."))] * 5) as (model, api):
        for _ in range(5):
            await events(model, asking())
        assert api.connections == 1


# --- keys ------------------------------------------------------------------------------


@on_loop
async def test_no_key_for_anthropic_sends_nothing() -> None:
    error = await failure(key=None)
    assert error.code == "no_key" and "ANTHROPIC_API_KEY" in error.message


@on_loop
async def test_a_server_that_wants_no_key_gets_none() -> None:
    async with FakeAnthropic(check=False) as api:
        model = AnthropicModel(lambda: (None, api.url))
        with pytest.raises(ModelError) as caught:
            await events(model, asking())
        await model.aclose()
    headers = api.requests[0].headers
    assert "authorization" not in headers and "x-api-key" not in headers
    assert caught.value.code == "no_key"  # the fake does want one


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_the_environment_gives_key_and_address(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @on_loop
    async def run() -> None:
        async with FakeAnthropic([answer(text("Hi."))]) as api:
            monkeypatch.setenv(variable, KEY)
            monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{api.url}/")
            model = AnthropicModel(profile=ANTHROPIC)
            assert joined(await events(model, asking()), ModelText) == "Hi."
            await model.aclose()
        assert api.requests[0].headers["authorization"] == f"Bearer {KEY}"

    run()


def test_the_environments_key_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    @on_loop
    async def run() -> None:
        async with FakeAnthropic() as home, FakeAnthropic(check=False) as elsewhere:
            monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
            monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"X-Secret: {KEY}\nX-Other: {KEY}")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", home.url)
            model = AnthropicModel(lambda: (None, elsewhere.url))
            with pytest.raises(ModelError):
                await events(model, asking())
            await model.info("claude-sonnet-5-5")
            await model.aclose()
        assert len(elsewhere.exchanges) == 2 and not home.exchanges
        assert KEY not in json.dumps([exchange.headers for exchange in elsewhere.exchanges])

    run()


@on_loop
async def test_a_redirect_does_not_carry_the_key_away() -> None:
    async with FakeAnthropic() as elsewhere:
        away = HttpError(307, "", "", headers={"location": f"{elsewhere.url}/v1/messages"})
        await failure(away, profile=OTHER)
        assert not elsewhere.exchanges


@on_loop
async def test_a_pasted_key_counts_from_the_next_call() -> None:
    keys = ["wrong-key"]
    async with FakeAnthropic([answer(text("Hi."))]) as api:
        model = AnthropicModel(lambda: (keys[-1], api.url), profile=ANTHROPIC)
        with pytest.raises(ModelError) as caught:
            await events(model, asking())
        assert caught.value.code == "wrong_key"
        keys.append(f" {KEY}\n")
        assert joined(await events(model, asking()), ModelText) == "Hi."
        await model.aclose()


@pytest.mark.parametrize("key", ["ключ", "a b", "a\x00b", "a\nb"])
def test_an_impossible_key_is_refused_without_quoting_it(key: str) -> None:
    @on_loop
    async def run() -> None:
        with pytest.raises(ModelError) as caught:
            await events(AnthropicModel(lambda: (key, None)), asking())
        assert caught.value.code == "wrong_key" and key not in caught.value.message

    run()


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://x", "http://", "http://x:port"])
def test_an_impossible_address_is_said(url: str) -> None:
    @on_loop
    async def run() -> None:
        with pytest.raises(ModelError) as caught:
            await events(AnthropicModel(lambda: (KEY, url)), asking())
        assert caught.value.code == "bad_request" and url in caught.value.message

    run()


# --- models ----------------------------------------------------------------------------


@on_loop
async def test_the_server_knows_its_models_and_is_asked_once() -> None:
    async with FakeAnthropic(models={"claude-opus-5-5": "Opus!"}, context_window=123_456) as api:
        model = AnthropicModel(lambda: (KEY, api.url), profile=ANTHROPIC)
        for _ in range(3):
            info = await model.info("claude-opus-5-5")
        assert (info.name, info.context_window) == ("Opus!", 123_456)
        assert info.prices == (4.0, 20.0, 5.0, 0.2)
        assert len(api.exchanges) == 1
        assert await model.list_models() == (info,)
        await model.aclose()


@pytest.mark.parametrize("server", [{"models_api": False}, {"models_delay": 60.0}])
def test_without_the_servers_word_the_table_serves(server: Any) -> None:
    @on_loop
    async def run() -> None:
        async with FakeAnthropic(**server) as api:
            model = AnthropicModel(lambda: (KEY, api.url))
            info = await asyncio.wait_for(model.info("claude-sonnet-5-5"), 4)
            assert (info.name, info.prices) == ("Claude Sonnet 5.5", None)
            assert (await model.info("claude-sonnet-5-5")) == info
            assert len(api.exchanges) == 1
            assert (await model.info("qwen")).context_window == 200_000
            await model.aclose()

    run()


@pytest.mark.parametrize("reply", [{"hello": 1}, [], "text"])
def test_information_never_fails_the_turn(reply: Any) -> None:
    @on_loop
    async def run() -> None:
        path = "GET /v1/models/claude-haiku-5-5"
        async with FakeAnthropic(routes={path: lambda _: reply}) as api:
            model = AnthropicModel(lambda: (KEY, api.url))
            assert (await model.info("claude-haiku-5-5")).name == "Claude Haiku 5.5"
            await model.aclose()
        assert (await AnthropicModel().info("claude-haiku-5-5")).name == "Claude Haiku 5.5"

    run()


@on_loop
async def test_prices_can_be_set() -> None:
    async with FakeAnthropic(models={"qwen": "Qwen"}) as api:
        model = AnthropicModel(lambda: (KEY, api.url), prices={"qwen": (1.0, 2.0, 0.0, 0.0)})
        assert (await model.info("qwen")).prices == (1.0, 2.0, 0.0, 0.0)
        assert [info.prices for info in await model.list_models()] == [(1.0, 2.0, 0.0, 0.0)]
        await model.aclose()


@on_loop
async def test_the_list_of_models_falls_back_or_says_why_not() -> None:
    async with FakeAnthropic(models_api=False) as api:
        model = AnthropicModel(lambda: (KEY, api.url))
        ids = [info.id for info in await model.list_models()]
        assert ids == ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"]
        await model.aclose()
        model = AnthropicModel(lambda: ("wrong", api.url))
        with pytest.raises(ModelError) as caught:
            await model.list_models()
        assert caught.value.code == "wrong_key"
        await model.aclose()


# --- cost to the server ----------------------------------------------------------------


def test_importing_the_adapter_imports_no_sdk() -> None:
    script = (
        "import sys, jupyter_codeinterp.adapters.anthropic_model as m; m.AnthropicModel();"
        "print([n for n in ('anthropic', 'httpx2', 'pydantic') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_first_use_does_not_block_the_loop() -> None:
    """In a process of its own, for the import to be the first."""
    script = """
import asyncio, time
from jupyter_codeinterp.adapters.anthropic_model import AnthropicModel

async def main():
    longest, last, going = 0.0, time.perf_counter(), True
    async def tick():
        nonlocal longest, last
        while going:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
    ticking = asyncio.ensure_future(tick())
    model = AnthropicModel(lambda: ("k", "http://127.0.0.1:9"))
    await model.info("claude-sonnet-5-5")
    going = False
    await ticking
    await model.aclose()
    print(longest)

asyncio.run(main())
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 0.25  # the import alone takes over a second
