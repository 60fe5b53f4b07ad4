"""Messages as they are stored and sent to a model, in the shapes of the Messages API.

Values only: two messages with the same content are equal. Ids of messages, their
order and the session that they belong to are the store's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Union

import msgspec


class Block(msgspec.Struct, frozen=True, tag_field="type"):
    """One content block. The tag of each subclass is the API's own ``type``."""


class Text(Block, frozen=True, tag="text"):
    text: str


class Thinking(Block, frozen=True, tag="thinking"):
    """Signed thinking; must go back to the model byte for byte as it came."""

    thinking: str
    signature: str


class RedactedThinking(Block, frozen=True, tag="redacted_thinking"):
    data: str


class ToolUse(Block, frozen=True, tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]


class ImageSource(msgspec.Struct, frozen=True, tag_field="type", tag="base64"):
    media_type: str
    """``image/png`` or ``image/jpeg``; of an image of the person's also ``image/gif`` and
    ``image/webp``."""
    data: str
    """Base64 without line breaks."""


class Image(Block, frozen=True, tag="image"):
    source: ImageSource


PDF: Literal["application/pdf"] = "application/pdf"


class PdfSource(msgspec.Struct, frozen=True, tag_field="type", tag="base64"):
    data: str
    """Base64 without line breaks."""
    media_type: Literal["application/pdf"] = PDF


class Document(Block, frozen=True, tag="document", omit_defaults=True):
    """A PDF of the person's. ``title`` is its name."""

    source: PdfSource
    title: str = ""


class ToolResult(Block, frozen=True, tag="tool_result", omit_defaults=True):
    tool_use_id: str
    content: tuple[Union[Text, Image], ...]
    is_error: bool = False


AnyBlock = Union[Text, Thinking, RedactedThinking, ToolUse, Image, Document, ToolResult]


class Message(msgspec.Struct, frozen=True):
    role: Literal["user", "assistant"]
    content: tuple[AnyBlock, ...]


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one model call. The three input figures add up to what was read."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    @property
    def total_input(self) -> int:
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            self.cache_read_input_tokens + other.cache_read_input_tokens,
        )


PICTURE_OF = "\n[picture of "
"""How the text before a picture of a run begins."""


def without_pictures(content: Iterable[AnyBlock]) -> tuple[list[Any], list[AnyBlock]]:
    """The other parts of a result, and its pictures with the texts that name them."""
    others: list[Any] = []
    pictures: list[AnyBlock] = []
    for part in content:
        if isinstance(part, Image):
            last = others[-1] if others else None
            if isinstance(last, Text) and last.text.startswith(PICTURE_OF):
                pictures.append(others.pop())
            pictures.append(part)
        else:
            others.append(part)
    return others, pictures


def user(*content: AnyBlock) -> Message:
    return Message("user", content)


def assistant(*content: AnyBlock) -> Message:
    return Message("assistant", content)


def tool_uses(message: Message) -> tuple[ToolUse, ...]:
    """The tool calls of a message, in the order in which they were made."""
    return tuple(block for block in message.content if isinstance(block, ToolUse))
