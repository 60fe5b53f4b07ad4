"""Writes a ModelRequest as the body of ``POST /v1/messages``.

Each message is translated by itself, from content and profile only, so a resent message is the
same byte for byte.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ....core.messages import (
    AnyBlock,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    without_pictures,
)
from ....core.ports import ModelRequest, ToolSpec
from .profile import Profile

NOTHING_SAID = "(nothing said)"
"""Text of a message without one: the API refuses empty messages, and assistant messages that end
with thinking."""

BRIEF = 300
"""Tokens of a brief answer."""

_EPHEMERAL = {"type": "ephemeral"}


def request_body(
    request: ModelRequest, profile: Profile, max_tokens: int, effort: str | None
) -> dict[str, Any]:
    """The messages' content is not copied; ``msgspec`` encodes it. Copying a long conversation
    would take a good part of the server's time in a step."""
    most = min(max_tokens, BRIEF) if request.brief else max_tokens
    body: dict[str, Any] = {"model": request.model, "max_tokens": most}
    if request.system:
        system: dict[str, Any] = {"type": "text", "text": request.system}
        if profile.caching:
            system["cache_control"] = _EPHEMERAL
        body["system"] = [system]
    if request.tools:
        body["tools"] = [_tool(tool, profile) for tool in request.tools]
        if request.answer_only:
            body["tool_choice"] = {"type": "none"}
    if profile.caching and profile.automatic_caching:
        body["cache_control"] = _EPHEMERAL
    if profile.thinking and not request.brief:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        if effort:
            body["output_config"] = {"effort": effort}
    body["messages"] = [_message(message, profile) for message in request.messages]
    if profile.caching and not profile.automatic_caching and body["messages"]:
        content = body["messages"][-1]["content"]
        content[-1] = {**msgspec.to_builtins(content[-1]), "cache_control": _EPHEMERAL}
    return body


def _tool(tool: ToolSpec, profile: Profile) -> dict[str, Any]:
    wire: dict[str, Any] = msgspec.to_builtins(tool)
    # Only a source is shown while it comes; for the others this would be 31 bytes a request.
    if profile.eager_input and "source" in tool.input_schema.get("properties", {}):
        wire["eager_input_streaming"] = True
    return wire


def _message(message: Message, profile: Profile) -> dict[str, Any]:
    content: list[AnyBlock] = []
    images: list[AnyBlock] = []
    for block in message.content:
        if isinstance(block, ToolResult):
            block = _result(block, profile, images)
        if not _refused(block, profile):
            content.append(block)
    content += images
    if not content or isinstance(content[-1], (Thinking, RedactedThinking)):
        content.append(Text(NOTHING_SAID))
    return {"role": message.role, "content": content}


def _result(result: ToolResult, profile: Profile, images: list[AnyBlock]) -> ToolResult:
    """The result without what the endpoint refuses; moves its images to ``images`` then."""
    content = [part for part in result.content if not _refused(part, profile)]
    if not profile.images_in_results:
        content, pictures = without_pictures(content)
        images += pictures
    return ToolResult(result.tool_use_id, tuple(content), result.is_error)


def _refused(block: AnyBlock, profile: Profile) -> bool:
    if isinstance(block, Text):
        return not block.text.strip()
    if isinstance(block, Thinking):
        return not block.signature and (profile.signed_thinking or not block.thinking)
    return False
