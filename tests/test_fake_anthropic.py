"""The fake of the Messages API refuses what the API would refuse."""

from __future__ import annotations

import asyncio
import base64
import copy
import io
import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from PIL import Image

from tests.fake_anthropic import FakeAnthropic, answer, on_loop, text
from tests.fake_anthropic.checks import problems
from tests.fake_anthropic.history import History
from tests.fake_anthropic.signing import sign

Body = dict[str, Any]


def picture(side: int, kind: str = "PNG") -> str:
    data = io.BytesIO()
    Image.new("1" if kind == "PNG" else "L", (side, 1)).save(data, kind)
    return base64.b64encode(data.getvalue()).decode()


PAPER = b"%PDF-1.4\n%%EOF\n"


def paper(data: bytes, media_type: str = "application/pdf", **more: str) -> Body:
    encoded = base64.b64encode(data).decode()
    source = {"type": "base64", "media_type": media_type, "data": encoded}
    return {"type": "document", "source": source, **more}


def image(data: str, media_type: str = "image/png") -> Body:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def conversation() -> Body:
    """A request with nothing wrong: a call with thinking, its result, and words after it."""
    body: Body = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 100,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "run_cell", "input_schema": {"type": "object", "properties": {}}}],
        "cache_control": {"type": "ephemeral"},
        "messages": [
            {"role": "user", "content": "Add."},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "tool_use", "id": "a", "name": "run_cell", "input": {}},
                    {"type": "tool_use", "id": "b", "name": "run_cell", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "content": [{"type": "text", "text": "2"}, image(picture(1))],
                    },
                    {"type": "tool_result", "tool_use_id": "b", "content": "3"},
                    {"type": "text", "text": "Go on."},
                ],
            },
        ],
    }
    body["messages"][1]["content"][0]["signature"] = sign(body, 1, "Hm.")
    return body


def test_a_good_request_has_no_problem() -> None:
    assert problems(conversation()) == []


def _set(path: str, value: Any) -> Any:
    """A change of the value at a path such as ``messages.2.content.0.tool_use_id``."""

    def change(body: Body) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        place: Any = body
        for step in steps:
            place = place[step]
        if value is None:
            del place[last]
        else:
            place[last] = value

    return change


def _swap_results(body: Body) -> None:
    content = body["messages"][2]["content"]
    content[0], content[1] = content[1], content[0]


def _text_first(body: Body) -> None:
    content = body["messages"][2]["content"]
    content.insert(0, content.pop())


def _many_images(body: Body) -> None:
    body["messages"][2]["content"] += [image(picture(2_001))] * 21


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("temperature", 1), "temperature: Extra inputs"),
        (_set("max_tokens", None), "max_tokens: Field required"),
        (_set("system", "  "), "no system prompt"),
        (_set("tool_choice", {"type": "any"}), "forced tool use"),
        (_set("thinking", {"type": "enabled", "budget_tokens": 9}), "not supported"),
        (_set("tools.0.name", "run cell"), "should match pattern"),
        (_set("tools.0.input_schema.properties", 7), "JSON schema is invalid"),
        (_set("tools", [{"name": "a", "input_schema": {"type": "object"}}] * 2), "must be unique"),
        (_set("messages", []), "at least one message"),
        (_set("messages.1.role", "user"), "roles must alternate"),
        (_set("messages.0.content", []), "non-empty content"),
        (_set("messages.0.content", " "), "non-whitespace"),
        (_set("messages.2.content.0.content.0.text", ""), "must be non-empty"),
        (_set("messages.1.content.0.thinking", "Hm!"), "Invalid `signature`"),
        (_set("messages.0.content", "Add!"), "Invalid `signature`"),
        (_set("messages.1.content.2.id", "a"), "ids must be unique"),
        (_set("messages.1.content.1.input", "x"), "valid dictionary"),
        (_set("messages.2.content.0.tool_use_id", "c"), "unexpected `tool_use_id`"),
        (_set("messages.2.content.1", None), "without `tool_result`"),
        (_set("messages.2.content.2.type", "thinking"), "only allowed in assistant"),
        (_set("messages.1.content.1", image(picture(1))), "only allowed in user"),
        (_swap_results, "in the order of their calls"),
        (_text_first, "results must come first"),
        (_set("messages.2.content.2", image(picture(8_001))), "8001 pixels"),
        (_many_images, "2001 pixels, more than 2000"),
        (_set("messages.2.content.2", paper(b"no PDF")), "The PDF specified was not valid"),
        (_set("messages.2.content.2", image("AAAA")), "Could not process"),
        (_set("messages.2.content.2", image(picture(1, "JPEG"))), "JPEG, not image/png"),
    ],
)
def test_what_the_api_would_refuse(change: Any, words: str) -> None:
    body = conversation()
    change(body)
    assert any(words in problem for problem in problems(body)), problems(body)


# --- only ever appended to -------------------------------------------------------------

HELLO: Body = {"role": "user", "content": "Hello."}
HI: Body = {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]}
AND: Body = {"role": "user", "content": "And?"}


def asked(*messages: Body, **other: Any) -> Body:
    return {"system": "s", "tools": [], "messages": copy.deepcopy(list(messages)), **other}


def told() -> History:
    """Hello was answered with Hi."""
    history = History()
    history.begin(asked(HELLO)).content = HI["content"]
    return history


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (asked(HELLO), ""),
        (asked(HELLO, HI, AND), ""),
        (asked(AND, HI, HELLO), ""),  # a conversation that the fake has never seen
        (asked(HELLO, HI, AND, system="t"), "system prompt has changed"),
        (asked(HELLO, HI, AND, tools=[{}]), "tools have changed"),
        (asked(HELLO, HI), "prefill"),
        (asked(HELLO, {**HI, "content": [{"type": "text", "text": "Hi!"}]}, AND), "not what was"),
        (asked(HELLO, {**HI, "content": HI["content"] * 2}, AND), "is not what was answered"),
    ],
)
def test_a_conversation_is_only_appended_to(body: Body, words: str) -> None:
    found = list(told().problems(body))
    assert (words in found[0]) if words else found == []


# --- over HTTP -------------------------------------------------------------------------


def fetch(url: str, body: Body | None = None, key: str = "k") -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(url, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


async def post(api: FakeAnthropic, body: Body, **options: Any) -> tuple[int, Any]:
    return await asyncio.to_thread(fetch, f"{api.url}/v1/messages", body, **options)


@on_loop
async def test_a_refused_request_is_a_violation_and_a_400() -> None:
    async with FakeAnthropic([answer(text("Hi."))]) as api:
        status, error = await post(api, {**conversation(), "top_p": 1})
        assert status == 400 and error["error"]["type"] == "invalid_request_error"
        assert api.violations == ["top_p: Extra inputs are not permitted"]
        assert api.requests[0].status == 400
