"""Writes a ModelRequest as the body of ``POST /responses``.

The server stores nothing: each request has the whole conversation. The model's answers go back
as the items that it sent, encrypted reasoning included.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ....core.messages import PDF, AnyBlock, Document, Image, Message, Text, ToolResult, ToolUse
from ....core.ports import ModelRequest
from .kept import kept

OPTIONAL = ("include", "reasoning.summary", "max_output_tokens", "tool_choice")
"""Models without reasoning refuse the first, unverified organizations the second."""
NOTHING_SAID = "(nothing said)"
UNNAMED = "document.pdf"
WIRE = "responses"

Item = dict[str, Any]


def body(request: ModelRequest, max_tokens: int, without: frozenset[str]) -> dict[str, Any]:
    made: dict[str, Any] = {"model": request.model, "store": False}
    if request.system:
        made["instructions"] = request.system
    if request.tools:
        made["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": False,
            }
            for tool in request.tools
        ]
        if request.answer_only and "tool_choice" not in without:
            made["tool_choice"] = "none"
    if "max_output_tokens" not in without:
        made["max_output_tokens"] = max_tokens
    if "include" not in without:
        made["include"] = ["reasoning.encrypted_content"]
    if not without & {"include", "reasoning.summary"}:
        made["reasoning"] = {"summary": "auto"}
    made["input"] = [item for message in request.messages for item in _items(message)]
    return made


def _items(message: Message) -> Iterator[Item]:
    if message.role == "assistant":
        yield from _answered(message)
        return
    yield from (_output(block) for block in message.content if isinstance(block, ToolResult))
    said = [part for block in message.content if (part := _part(block))]
    if said:
        yield {"type": "message", "role": "user", "content": said}


def _output(result: ToolResult) -> Item:
    parts = [part for block in result.content if (part := _part(block))]
    images = any(part["type"] == "input_image" for part in parts)
    text = "\n".join(part.get("text", "") for part in parts)
    output = parts if images else text or NOTHING_SAID
    return {"type": "function_call_output", "call_id": result.tool_use_id, "output": output}


def _part(block: AnyBlock) -> Item | None:
    if isinstance(block, Text) and block.text.strip():
        return {"type": "input_text", "text": block.text}
    if isinstance(block, Image):
        source = block.source
        url = f"data:{source.media_type};base64,{source.data}"
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if isinstance(block, Document):
        url = f"data:{PDF};base64,{block.source.data}"
        return {"type": "input_file", "filename": block.title or UNNAMED, "file_data": url}
    return None


def _answered(message: Message) -> list[Item]:
    """The original items of an answer; new ones for an answer from another provider."""
    texts = [block.text for block in message.content if isinstance(block, Text)]
    calls = [block for block in message.content if isinstance(block, ToolUse)]
    frames = kept(WIRE, message)
    if isinstance(frames, list):
        filled = _filled(frames, iter(texts), iter(calls))
        if filled is not None:
            return filled
    items = [_said(text) for text in texts if text.strip()]
    items += [_call(call) for call in calls]
    return items or [_said(NOTHING_SAID)]


def _filled(frames: list[Any], texts: Iterator[str], calls: Iterator[ToolUse]) -> list[Item] | None:
    """The original items with texts and calls in their places; None if they do not fit."""
    items: list[Item] = []
    try:
        for frame in frames:
            if frame["type"] == "message":
                parts = [
                    {**part, "text": next(texts)} if part["type"] == "output_text" else part
                    for part in frame["content"]
                ]
                items.append({**frame, "content": parts})
            elif frame["type"] == "function_call":
                items.append({**frame, **_call(next(calls))})
            else:
                items.append(frame)
    except (StopIteration, LookupError, TypeError):
        return None
    whole = next(texts, None) is None and next(calls, None) is None
    return items if whole and items else None


def _said(text: str) -> Item:
    return {"type": "message", "role": "assistant", "content": text}


def _call(call: ToolUse) -> Item:
    arguments = msgspec.json.encode(call.input).decode()
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
    }
