"""What a tool returned, as outputs of a cell: then all their limits hold for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mcp_types as types
import msgspec

from ...core.document.ops import Output

MOST_PARTS = 50
_IMAGES = ("image/png", "image/jpeg")


def outputs_of(result: types.CallToolResult) -> tuple[Output, ...]:
    parts = list(_parts(result.content[:MOST_PARTS]))
    if len(result.content) > MOST_PARTS:
        parts.append(_text(f"[{len(result.content) - MOST_PARTS} more parts left out]"))
    if not parts and result.structured_content is not None:
        parts.append(_text(_json(result.structured_content)))
    return tuple(parts)


def _parts(content: Any) -> Iterator[Output]:
    for part in content:
        if isinstance(part, types.TextContent):
            yield _text(part.text)
        elif isinstance(part, types.ImageContent):
            if part.mime_type in _IMAGES:
                yield _output({part.mime_type: part.data})
            else:
                yield _text(f"[image not shown: {part.mime_type}]")
        elif isinstance(part, types.AudioContent):
            yield _text(f"[sound not shown: {part.mime_type}]")
        elif isinstance(part, types.ResourceLink):
            yield _text(f"[resource {part.name}: {part.uri}]")
        elif isinstance(part, types.EmbeddedResource):
            resource = part.resource
            if isinstance(resource, types.TextResourceContents):
                yield _text(f"[resource {resource.uri}]\n{resource.text}")
            else:
                yield _text(f"[resource {resource.uri}: {len(resource.blob):,} characters of data]")


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return "[the result is no plain JSON]"


def _text(text: str) -> Output:
    return _output({"text/plain": text})


def _output(data: dict[str, str]) -> Output:
    return {"output_type": "display_data", "data": data, "metadata": {}}
