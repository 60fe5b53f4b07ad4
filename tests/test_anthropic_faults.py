"""What the model adapter makes of faults: tried again, said, broken off, stopped."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.models.anthropic.services import ANTHROPIC
from jupyter_codeinterp.wire.ports import ModelRetry, ModelText
from tests.anthropic_talk import KEY, ask, asking, connected, events, failure, joined, talking
from tests.anthropic_talk import environment as environment  # a fixture
from tests.fake_anthropic import (
    FakeAnthropic,
    HttpError,
    Step,
    answer,
    on_loop,
    overloaded,
    own_spend_limited,
    prompt_too_long,
    rate_limited,
    spend_limited,
    text,
    unknown_model,
    wrong_key,
)

# --- tried again -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code"),
    [
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
        shown = await ask(fault, answer(text("Here.")), silence=0.3)
        retry = shown[0]
        assert isinstance(retry, ModelRetry)
        assert (retry.code, retry.attempt) == (code, 1) and retry.message
        assert joined(shown, ModelText) == "Here."

    run()


@on_loop
async def test_attempts_come_to_an_end() -> None:
    async with talking(*[overloaded()] * 9, attempts=3) as (model, api):
        with pytest.raises(ModelError) as caught:
            await events(model, asking())
        assert len(api.requests) == 3
    assert caught.value.code == "overloaded" and "after 3 attempts" in caught.value.message


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("0.01", 0.01, 0.01),
        ("60", 60, 60),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 7, 7),
        ("x", 7, 7),
        ("inf", 7, 7),
        ("nan", 7, 7),
    ],
)
def test_retry_after_is_honoured(header: str, least: float, most: float) -> None:
    @on_loop
    async def run() -> None:
        async with talking(rate_limited(header), wait=lambda attempt: 7.0) as (model, _):
            async with aclosing(model.stream(asking())) as shown:
                retry = await anext(shown)
            assert isinstance(retry, ModelRetry) and least <= retry.delay <= most

    run()


@pytest.mark.parametrize(
    ("header", "words"),
    [("61", "2 minutes"), ("150", "3 minutes"), ("3600", "60 minutes")],
)
def test_a_later_time_ends_the_call_and_is_named(header: str, words: str) -> None:
    @on_loop
    async def run() -> None:
        error = await failure(rate_limited(header))
        assert error.code == "rate_limit"
        assert error.message.endswith(f"Try again in {words}.")

    run()


@on_loop
async def test_waits_grow_with_jitter_within_their_bounds() -> None:
    from jupyter_codeinterp.models.http.model import backoff

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
        (unknown_model("claude-sonnet-5-5"), "unknown_model", "claude-sonnet-5-5"),
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
    error = await failure(rate_limited("90"), attempts=1)
    assert error.message.endswith("Try again in 2 minutes.")


# --- no stream -------------------------------------------------------------------------


@on_loop
async def test_an_answer_that_is_no_stream_is_said() -> None:
    async with FakeAnthropic(routes={"POST /v1/messages": lambda _: {"hello": 1}}) as api:
        model = connected(ANTHROPIC, KEY, api.url, attempts=1)
        with pytest.raises(ModelError) as caught:
            await events(model, asking())
        await model.aclose()
    assert caught.value.code == "server_error"


@pytest.mark.parametrize("data", ["[1]", '"message"', "null", '{"type": 1, "index": {}}', "{"])
def test_a_stream_of_something_else_is_said(data: str) -> None:
    @on_loop
    async def run() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
            writer.write(b"Connection: close\r\n\r\n")
            writer.write(f"event: message_start\ndata: {data}\n\n".encode())
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            model = connected(ANTHROPIC, KEY, f"http://{host}:{port}", attempts=1)
            with pytest.raises(ModelError) as caught:
                await events(model, asking())
            await model.aclose()
        assert caught.value.code == "server_error"

    run()
