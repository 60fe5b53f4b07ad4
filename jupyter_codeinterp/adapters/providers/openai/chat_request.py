"""Writes a ModelRequest as the body of ``POST /chat/completions``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ....core.messages import (
    AnyBlock,
    Image,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    without_pictures,
)
from ....core.ports import ModelRequest
from ...model_http.reading import mapping, objects
from .kept import kept
from .services import Service

OPTIONAL = ("max_tokens", "stream_options", "tool_choice")
"""OpenAI's newer models call the first ``max_completion_tokens``."""
NOTHING_SAID = "(nothing said)"
WIRE = "chat"
REASONING = ("reasoning_content", "reasoning")
KEPT = ("extra_content", "reasoning_details")
"""Fields of a message, beside reasoning and calls, that are sent back unchanged."""
IMAGES_OF_RESULTS = "The images of the results above:"
"""Results can only be text, so their images follow in a separate message."""

Item = dict[str, Any]


def body(
    request: ModelRequest, service: Service, max_tokens: int, without: frozenset[str]
) -> dict[str, Any]:
    limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
    made: dict[str, Any] = {"model": request.model, limit: max_tokens}
    if service.asks_usage and "stream_options" not in without:
        made["stream_options"] = {"include_usage": True}
    if request.tools:
        made["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in request.tools
        ]
        if request.answer_only and "tool_choice" not in without:
            made["tool_choice"] = "none"
    made["messages"] = _bridged(_messages(request)) if service.bridge else [*_messages(request)]
    return made


def _messages(request: ModelRequest) -> Iterator[Item]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        yield from (
            (_from_assistant(message),) if message.role == "assistant" else _from_user(message)
        )


def _bridged(messages: Iterator[Item]) -> list[Item]:
    made: list[Item] = []
    for message in messages:
        if message["role"] == "user" and made and made[-1]["role"] == "tool":
            made.append({"role": "assistant", "content": NOTHING_SAID})
        made.append(message)
    return made


def _from_user(message: Message) -> Iterator[Item]:
    """First the results, each an answer to a call of the previous message. Then one message with
    their images and the person's words."""
    shown: list[Item] = []
    for block in message.content:
        if isinstance(block, ToolResult):
            others, pictures = without_pictures(block.content)
            texts = (part.text for part in others if part.text)
            text = "\n".join(texts).strip() or NOTHING_SAID
            yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": text}
            shown += (part for each in pictures if (part := _part(each)))
    if shown:
        shown.insert(0, {"type": "text", "text": IMAGES_OF_RESULTS})
    parts = shown + [part for block in message.content if (part := _part(block))]
    if parts:
        yield {"role": "user", "content": _plain(parts)}


def _plain(parts: list[Item]) -> Any:
    """A lone text as a string: some servers accept nothing else."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


def _part(block: AnyBlock) -> Item | None:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text} if block.text.strip() else None
    return _image(block)


def _image(block: AnyBlock) -> Item | None:
    if not isinstance(block, Image):
        return None
    url = f"data:{block.source.media_type};base64,{block.source.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _from_assistant(message: Message) -> Item:
    text = "".join(block.text for block in message.content if isinstance(block, Text))
    calls = [block for block in message.content if isinstance(block, ToolUse)]
    made: Item = {"role": "assistant", "content": text if text.strip() else None}
    if calls:
        made["tool_calls"] = [_call(call) for call in calls]
    elif not text.strip():
        made["content"] = NOTHING_SAID
    found = kept(WIRE, message)
    if isinstance(found, dict):
        _restore(made, found, message)
    return made


def _restore(made: Item, found: dict[str, Any], message: Message) -> None:
    """Restore reasoning, and fields that came with calls (Gemini's signatures)."""
    thoughts = "".join(b.thinking for b in message.content if isinstance(b, Thinking))
    field = found.get("reasoning")
    if field == "content" and thoughts:
        words = made["content"]
        chunks = [{"type": "thinking", "thinking": [{"type": "text", "text": thoughts}]}]
        made["content"] = chunks + ([{"type": "text", "text": words}] if words else [])
    elif field in REASONING and thoughts:
        made[field] = thoughts
    for call, extra in zip(made.get("tool_calls", ()), objects(found, "calls"), strict=False):
        call.update({name: extra[name] for name in extra.keys() - call.keys()})
    rest = mapping(found, "message")
    made.update({name: rest[name] for name in KEPT if name in rest})


def _call(call: ToolUse) -> Item:
    arguments = msgspec.json.encode(call.input).decode()
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}
