"""Messages as they are stored and sent to a model, in the shapes of the Messages API.

Values only: two messages with the same content are equal. Ids of messages, their
order and the session that they belong to are the store's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Union

import msgspec


class ContentBlock(msgspec.Struct, frozen=True, tag_field="type"):
    """One content block. The tag of each subclass is the API's own ``type``."""


class Text(ContentBlock, frozen=True, tag="text"):
    text: str


class Thinking(ContentBlock, frozen=True, tag="thinking"):
    """Signed thinking; must go back to the model byte for byte as it came."""

    thinking: str
    signature: str


class RedactedThinking(ContentBlock, frozen=True, tag="redacted_thinking"):
    data: str


class ToolUse(ContentBlock, frozen=True, tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]


class ImageSource(msgspec.Struct, frozen=True, tag_field="type", tag="base64"):
    media_type: str
    """``image/png`` or ``image/jpeg``."""
    data: str
    """Base64 without line breaks."""


class Image(ContentBlock, frozen=True, tag="image"):
    source: ImageSource


PDF: Literal["application/pdf"] = "application/pdf"


class PdfSource(msgspec.Struct, frozen=True, tag_field="type", tag="base64"):
    data: str
    """Base64 without line breaks."""
    media_type: Literal["application/pdf"] = PDF


class Document(ContentBlock, frozen=True, tag="document", omit_defaults=True):
    """A PDF file of the person. ``title`` is its name."""

    source: PdfSource
    title: str = ""


class ToolResult(ContentBlock, frozen=True, tag="tool_result", omit_defaults=True):
    tool_use_id: str
    content: tuple[Union[Text, Image], ...]
    is_error: bool = False


AnyBlock = Union[Text, Thinking, RedactedThinking, ToolUse, Image, Document, ToolResult]


class Message(msgspec.Struct, frozen=True):
    role: Literal["user", "assistant"]
    content: tuple[AnyBlock, ...]


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one model call. The three input counts add up to the tokens read."""

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


IMAGES_A_REQUEST = 19
"""The API halves images once a request has more than 20."""
GO_AT_ONCE = 5
"""Pictures that are removed at a time."""
MADE_ROOM = "[no longer shown: later pictures took its room; read_output shows it again]"
PICTURE_OF = "\n[picture of "
"""First words of the text before a picture of a run."""


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


def with_room(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, with words in place of the oldest pictures of results beyond a request's limit.
    Several go at once, because each change of an early message costs the prompt cache."""
    of_results = sum(
        isinstance(part, Image) for result in _results(messages) for part in result.content
    )
    attached = sum(isinstance(block, Image) for message in messages for block in message.content)
    more = of_results + attached - IMAGES_A_REQUEST
    if more <= 0:
        return tuple(messages)
    left = max(more, min(-(-more // GO_AT_ONCE) * GO_AT_ONCE, of_results - GO_AT_ONCE))

    def shown(block: AnyBlock) -> AnyBlock:
        nonlocal left
        if not (left > 0 and isinstance(block, ToolResult)):
            return block
        content: list[Union[Text, Image]] = []
        for part in block.content:
            goes = left > 0 and isinstance(part, Image)
            left -= goes
            content.append(Text(MADE_ROOM) if goes else part)
        return msgspec.structs.replace(block, content=tuple(content))

    return tuple(Message(one.role, tuple(map(shown, one.content))) for one in messages)


def _results(messages: Iterable[Message]) -> Iterator[ToolResult]:
    for message in messages:
        yield from (block for block in message.content if isinstance(block, ToolResult))


def user(*content: AnyBlock) -> Message:
    return Message("user", content)


def assistant(*content: AnyBlock) -> Message:
    return Message("assistant", content)


def tool_uses(message: Message) -> tuple[ToolUse, ...]:
    """The tool calls of a message, in the order in which they were made."""
    return tuple(block for block in message.content if isinstance(block, ToolUse))
