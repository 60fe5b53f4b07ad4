"""What the API would refuse in the body of ``POST /v1/messages``, in its own words where
they are known. Stricter than the API in three things: no two user messages in a row, results in
the order of their calls, and a system prompt.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import jsonschema
from PIL import Image

from .signing import sign

PARAMETERS = frozenset(
    {
        *("model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream"),
        *("thinking", "output_config", "cache_control", "metadata", "stop_sequences"),
    }
)
TOOL_FIELDS = frozenset(
    {"name", "description", "input_schema", "cache_control", "eager_input_streaming"}
)
MEDIA_TYPES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
LARGEST_IMAGE = 10 * 1024 * 1024
LARGEST_REQUEST = 32 * 1024 * 1024
EFFORTS = ("low", "medium", "high", "xhigh", "max")
_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_CALL_ID = re.compile(r"^[a-zA-Z0-9_-]+$")


def problems(body: dict[str, Any]) -> list[str]:
    found = list(_parameters(body))
    found += _tools(body.get("tools", []))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*found, "messages: at least one message is required"]
    found += _roles(messages)
    for index, message in enumerate(messages):
        found += _message(body, index, _blocks(message))
    found += _calls(messages)
    found += _images(images(messages))
    if (markers := _markers(body)) > 4:
        found.append(f"A maximum of 4 blocks with cache_control may be provided. Found {markers}.")
    return found


def _parameters(body: dict[str, Any]) -> Iterator[str]:
    for name in body.keys() - PARAMETERS:
        yield f"{name}: Extra inputs are not permitted"
    for name in ("model", "max_tokens"):
        if name not in body:
            yield f"{name}: Field required"
    if body.get("stream") is not True:
        yield "stream: the product always streams"
    if body.get("max_tokens", 1) < 1:
        yield "max_tokens: Input should be greater than or equal to 1"
    system = body.get("system")
    texts = [system] if isinstance(system, str) else [b["text"] for b in system or []]
    if not any(text.strip() for text in texts):
        yield "system: no system prompt"
    choice = body.get("tool_choice", {"type": "auto"})
    if choice["type"] not in ("auto", "none"):
        yield "tool_choice: this model does not support forced tool use"
    thinking = body.get("thinking", {"type": "adaptive"})
    if thinking["type"] not in ("adaptive", "disabled"):
        yield f"thinking.type: '{thinking['type']}' is not supported by this model"
    if thinking.get("display", "omitted") not in ("summarized", "omitted"):
        yield "thinking.display: Input should be 'summarized' or 'omitted'"
    if body.get("output_config", {}).get("effort", "high") not in EFFORTS:
        yield "output_config.effort: unknown level"


def _tools(tools: list[dict[str, Any]]) -> Iterator[str]:
    names = [tool.get("name", "") for tool in tools]
    if len(set(names)) != len(names):
        yield "tools: Tool names must be unique."
    for index, tool in enumerate(tools):
        at = f"tools.{index}.custom"
        for name in tool.keys() - TOOL_FIELDS:
            yield f"{at}.{name}: Extra inputs are not permitted"
        if not _TOOL_NAME.match(tool.get("name", "")):
            yield f"{at}.name: String should match pattern '{_TOOL_NAME.pattern}'"
        schema = tool.get("input_schema", {})
        if schema.get("type") != "object":
            yield f"{at}.input_schema.type: Input should be 'object'"
        if fault := schema_fault(json.dumps(schema)):
            yield f"{at}.input_schema: JSON schema is invalid: {fault}"


@lru_cache(maxsize=1_000)
def schema_fault(schema: str) -> str:
    """Of a schema's JSON; "" without one. Each request of a conversation has the same schemas."""
    try:
        jsonschema.Draft202012Validator.check_schema(json.loads(schema))
    except jsonschema.SchemaError as error:
        return str(error.message)
    return ""


def _roles(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Two answers in a row there are where the first was a ``pause_turn``; the history
    knows whether it was."""
    before = "assistant"
    for index, message in enumerate(messages):
        role = message.get("role", "")
        if role not in ("user", "assistant") or (role == before and (role == "user" or not index)):
            yield f"messages.{index}: roles must alternate, beginning with user"
        if message.keys() != {"role", "content"}:
            yield f"messages.{index}: needs role and content, nothing else"
        before = role


def _message(body: dict[str, Any], index: int, blocks: list[dict[str, Any]]) -> Iterator[str]:
    at = f"messages.{index}"
    if not blocks:
        yield f"{at}: all messages must have non-empty content"
    assistant = body["messages"][index]["role"] == "assistant"
    for number, block in enumerate(blocks):
        kind = block["type"]
        spot = f"{at}.content.{number}"
        if (kind in ("thinking", "redacted_thinking", "tool_use")) > assistant:
            yield f"{spot}: `{kind}` blocks are only allowed in assistant messages"
        elif (kind in ("tool_result", "image", "document")) > (not assistant):
            yield f"{spot}: `{kind}` blocks are only allowed in user messages"
        elif kind == "text":
            yield from _text(block)
        elif kind == "thinking":
            yield from _thinking(body, index, spot, block)
        elif kind == "tool_result":
            for part in _parts(block):
                if part["type"] == "text":
                    yield from _text(part)
        elif kind == "document":
            yield from _document(spot, block)
        elif kind not in ("image", "redacted_thinking", "tool_use"):
            yield f"{spot}: Input tag '{kind}' is not known"
    if assistant and blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        yield f"{at}: The final block in an assistant message cannot be `thinking`."


def _text(block: dict[str, Any]) -> Iterator[str]:
    if not block["text"]:
        yield "messages: text content blocks must be non-empty"
    elif not block["text"].strip():
        yield "messages: text content blocks must contain non-whitespace text"


def _thinking(body: dict[str, Any], index: int, spot: str, block: dict[str, Any]) -> Iterator[str]:
    if block.get("signature") != sign(body, index, block["thinking"]):
        yield (
            f"{spot}: Invalid `signature` in `thinking` block. The block is bound to a different "
            "conversation."
        )


def _calls(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Each call is answered in the next message, results first and in order."""
    seen: set[str] = set()
    asked: list[str] = []
    for index, message in enumerate(messages):
        blocks = _blocks(message)
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        kinds = [b["type"] for b in blocks[: len(results)]]
        for number, block in enumerate(blocks):
            if block["type"] == "tool_result" and block["tool_use_id"] not in asked:
                yield (
                    f"messages.{index}.content.{number}: unexpected `tool_use_id` found in "
                    f"`tool_result` blocks: {block['tool_use_id']}. Each `tool_result` block must "
                    "have a corresponding `tool_use` block in the previous message."
                )
        if missing := [call for call in asked if call not in results]:
            yield (
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
                "corresponding `tool_result` block in the next message."
            )
        elif asked and (results != asked or kinds != ["tool_result"] * len(results)):
            yield f"messages.{index}: results must come first, in the order of their calls"
        asked = []
        for number, block in enumerate(blocks):
            if block["type"] != "tool_use":
                continue
            spot = f"messages.{index}.content.{number}"
            asked.append(block["id"])
            if block["id"] in seen:
                yield f"{spot}: `tool_use` ids must be unique"
            if not _CALL_ID.match(block["id"]):
                yield f"{spot}.tool_use.id: String should match pattern '{_CALL_ID.pattern}'"
            if not isinstance(block.get("input"), dict):
                yield f"{spot}.tool_use.input: Input should be a valid dictionary"
            seen.add(block["id"])
    if asked:
        yield f"messages.{len(messages) - 1}: `tool_use` ids were found without results"


def images(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The image blocks of a conversation, those in tool results too."""
    return [
        block
        for message in messages
        for outer in _blocks(message)
        for block in (outer, *_parts(outer))
        if block["type"] == "image"
    ]


def _images(images: list[dict[str, Any]]) -> Iterator[str]:
    """At most 8,000 px a side, and 2,000 px once there are more than 20."""
    most = 2_000 if len(images) > 20 else 8_000
    for image in images:
        source = image["source"]
        wanted = MEDIA_TYPES.get(source["media_type"])
        if source["type"] != "base64" or wanted is None:
            yield f"image.source: media type {source['media_type']} is not supported"
            continue
        try:
            data = base64.b64decode(source["data"], validate=True)
            picture = Image.open(io.BytesIO(data))
        except (binascii.Error, OSError):
            yield "image.source.base64: Could not process image"
            continue
        if picture.format != wanted:
            yield f"image.source: The image is {picture.format}, not {source['media_type']}"
        if len(source["data"]) > LARGEST_IMAGE:
            yield f"image.source.base64: image exceeds {LARGEST_IMAGE} bytes"
        if max(picture.size) > most:
            yield f"image.source: a side has {max(picture.size)} pixels, more than {most}"


def _document(spot: str, block: dict[str, Any]) -> Iterator[str]:
    for name in block.keys() - {"type", "source", "title", "cache_control"}:
        yield f"{spot}.document.{name}: Extra inputs are not permitted"
    if "title" in block and not 0 < len(block["title"]) <= 500:
        yield f"{spot}.document.title: String should have at most 500 characters"
    source = block["source"]
    if source.keys() != {"type", "media_type", "data"} or source["type"] != "base64":
        yield f"{spot}.document.source: Input should be a base64 source"
    elif source["media_type"] != "application/pdf":
        yield f"{spot}.document.source.base64.media_type: Input should be 'application/pdf'"
    elif not is_pdf(source["data"]):
        yield f"{spot}.pdf.source.base64.data: The PDF specified was not valid."


def is_pdf(encoded: str) -> bool:
    try:
        data = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return False
    return data.startswith(b"%PDF-") and b"%%EOF" in data[-1024:]


def _markers(value: Any) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(_markers(item) for item in value.values())
    if isinstance(value, list):
        return sum(_markers(item) for item in value)
    return 0


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _parts(block: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks inside a tool result."""
    content = block.get("content", [])
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content) if block["type"] == "tool_result" else []
