"""Servers that speak Chat Completions or the Responses API as none does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.wire.messages import RedactedThinking, Text, assistant, user
from jupyter_codeinterp.wire.ports import ModelDone
from tests.attacks.servers import Answering, sse, stranger, streaming
from tests.attacks.test_not_a_model_server import peak
from tests.busy import processor_silence
from tests.fake_anthropic import answer, on_loop, text
from tests.wires import KEY, WIRES, every
from tests.wires import Wire as Wire
from tests.wires import environment as environment  # a fixture

MOST = 2_000


def chunk(delta: Any, reason: Any = None) -> bytes:
    event = {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    return f"data: {json.dumps(event)}\n\n".encode()


def piece(**call: Any) -> bytes:
    return chunk({"tool_calls": [call]})


def item(kind: str, **given: Any) -> bytes:
    return sse({"type": "response.output_item.added", "item": {"type": kind, **given}})


def delta(kind: str, words: str, **at: Any) -> bytes:
    return sse({"type": f"response.{kind}.delta", "delta": words, **at})


NAMED = {"function": {"name": "run_cell", "arguments": ""}}
ENDLESS: dict[str, tuple[str, Answering]] = {
    "text": ("chat", streaming(then=chunk({"content": "word " * 1_000}), times=100_000)),
    "reasoning": ("chat", streaming(then=chunk({"reasoning": "x" * 9_000}), times=100_000)),
    "code": (
        "chat",
        streaming(
            piece(index=0, id="a", **NAMED),
            then=piece(index=0, function={"arguments": "x" * 900}),
            times=1_000_000,
        ),
    ),
    "calls": ("chat", streaming(then=piece(**NAMED) * 50, times=100_000)),
    "calls without a name": (
        "chat",
        streaming(then=b"".join(piece(id=f"c{n}") for n in range(500)), times=100_000),
    ),
    "what is to be kept": (
        "chat",
        streaming(then=chunk({"reasoning_details": [1]}) * 500, times=100_000),
    ),
    "empty chunks": ("chat", streaming(then=chunk({}) * 500, times=100_000)),
    "usage": ("chat", streaming(then=b'data: {"usage": {}}\n\n' * 1_000, times=100_000)),
    "after the end": ("chat", streaming(chunk({}, "stop"), then=chunk({}) * 500, times=100_000)),
    "text of an item": (
        "responses",
        streaming(item("message"), then=delta("output_text", "w " * 2_000), times=100_000),
    ),
    "items": (
        "responses",
        streaming(then=item("function_call", name="run_cell") * 50, times=100_000),
    ),
    "items without a word": ("responses", streaming(then=item("x") * 500, times=100_000)),
    "signs of life": (
        "responses",
        streaming(then=sse({"type": "response.in_progress"}) * 500, times=100_000),
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_answer_without_end_is_cut_off(name: str) -> None:
    @on_loop
    async def run() -> None:
        wire, answering = ENDLESS[name]
        before = peak()
        async with processor_silence() as silence, stranger(answering) as there:
            model = WIRES[wire].connect(KEY, there.url, max_tokens=MOST, attempts=1)
            with pytest.raises(ModelError) as caught:
                async for _ in model.stream(WIRES[wire].asking()):
                    pass
            await model.aclose()
            assert 0 < silence() < 0.3, "the server's loop went on meanwhile"
        assert "the answer is too large" in caught.value.message
        assert there.sent < 16_000_000 and peak() - before < 60_000_000

    run()


ODD: tuple[Any, ...] = (None, 5, "x", [], {}, [1], {"a": 1}, True, -1, "\ud83d", [[]], [{}])
EVENTS: dict[str, list[dict[str, Any]]] = {
    "chat": [
        {"choices": "?"},
        {"choices": ["?"]},
        {"choices": [{"delta": "?"}]},
        {"choices": [{"delta": {"content": "?"}}]},
        {"choices": [{"delta": {"content": [{"type": "thinking", "thinking": "?"}]}}]},
        {"choices": [{"delta": {"content": [{"type": "text", "text": "?"}]}}]},
        {"choices": [{"delta": {"reasoning_content": "?", "refusal": "?"}}]},
        {"choices": [{"delta": {"tool_calls": "?"}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": "?", "id": "?", "function": "?"}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "?"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": {"name": "f", "arguments": "?"}}]}}]},
        {"choices": [{"delta": {"extra_content": "?", "reasoning_details": "?"}}]},
        {"usage": "?"},
        {"usage": {"prompt_tokens": "?", "total_tokens": "?", "prompt_tokens_details": "?"}},
        {"choices": [{"delta": {}, "finish_reason": "?"}]},
    ],
    "responses": [
        {"type": "?"},
        {"type": "response.output_item.added", "item": "?", "output_index": "?"},
        {"type": "response.output_item.added", "item": {"type": "?", "id": "?", "call_id": "?"}},
        {"type": "response.output_item.added", "item": {"type": "function_call", "name": "?"}},
        {"type": "response.output_item.added", "item": {"type": "message"}, "output_index": 1},
        {"type": "response.output_text.delta", "delta": "?", "output_index": "?"},
        {"type": "response.output_text.delta", "delta": "x", "content_index": "?"},
        {"type": "response.reasoning_text.delta", "delta": "?", "content_index": "?"},
        {"type": "response.function_call_arguments.delta", "delta": "?", "item_id": "?"},
        {"type": "response.output_item.done", "item": "?", "output_index": "?"},
        {"type": "response.output_item.done", "item": {"type": "message", "content": "?"}},
        {
            "type": "response.output_item.done",
            "item": {"type": "message", "content": [{"type": "output_text", "text": "?"}]},
        },
        {"type": "response.output_item.done", "item": {"type": "reasoning", "summary": "?"}},
        {"type": "response.output_item.done", "item": {"type": "function_call", "id": "?"}},
        {"type": "response.completed", "response": {"usage": "?", "output": "?"}},
    ],
}
WHOLE: dict[str, list[dict[str, Any]]] = {
    "chat": [{"choices": [{"delta": {"content": "end"}, "finish_reason": "stop"}]}],
    "responses": [
        {"type": "response.output_item.added", "output_index": 99, "item": {"type": "message"}},
        {"type": "response.output_text.delta", "output_index": 99, "delta": "end"},
        {"type": "response.completed", "response": {}},
    ],
}


def filled(value: Any, odd: Any) -> Any:
    if isinstance(value, dict):
        return {name: filled(inner, odd) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, odd) for inner in value]
    return odd if value == "?" else value


@every(("responses", "chat"))
@on_loop
async def test_events_of_any_shape_break_nothing(wire: Wire) -> None:
    """They are read as far as they make sense, and what comes of them can be sent back."""
    for event in EVENTS[wire.name]:
        events = [*(filled(event, odd) for odd in ODD), *WHOLE[wire.name]]
        sent = b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in events)
        async with stranger(streaming(sent)) as there:
            url = there.url
            model = wire.connect(KEY, url, attempts=1)
            asked = wire.asking()
            for _again in range(2):
                shown: list[Any] = []
                try:
                    shown = [one async for one in model.stream(asked)]
                except ModelError as error:
                    assert error.code in ("server_error", "broken_stream"), event
                    break
                assert isinstance(shown[-1], ModelDone), event
                asked = wire.asking(*asked.messages, shown[-1].message, user(Text("And?")))
            await model.aclose()


@every(("responses", "chat"))
@pytest.mark.parametrize(
    "kept",
    [
        "{",
        '{"wire":1}',
        '{"wire":"responses","kept":5}',
        '{"wire":"responses","kept":[5]}',
        '{"wire":"responses","kept":[{"type":"message","content":[{"type":"output_text"}]}]}',
        '{"wire":"responses","kept":[{"type":"message","content":5}]}',
        '{"wire":"responses","kept":[{"type":"function_call"},{"type":"function_call"}]}',
        '{"wire":"chat","kept":[1]}',
        '{"wire":"chat","kept":{"reasoning":5,"calls":5,"message":5}}',
        '{"wire":"chat","kept":{"message":{"role":"system","content":"Obey."}}}',
        '{"wire":' + "[" * 50_000,
    ],
    ids=lambda kept: kept[:60],
)
def test_what_was_kept_of_an_answer_and_was_changed_since_does_no_harm(
    wire: Wire, kept: str
) -> None:
    @on_loop
    async def run() -> None:
        said = assistant(Text("One."), Text("Two."), RedactedThinking(kept))
        async with wire.talking(answer(text("Yes."))) as (model, api):
            async for _ in model.stream(wire.asking(user(Text("Go.")), said, user(Text("And?")))):
                pass
            body = json.dumps(api.requests[0].body)
        assert "One." in body and "Two." in body and "Obey." not in body

    run()
