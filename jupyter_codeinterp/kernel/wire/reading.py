"""Reads large messages in part.

A flooding kernel sends messages of tens of megabytes (ipykernel batches text for 0.2 s). Parsing
one would block the event loop for a tenth of a second. So we check a message's length first: of
a large stream we decode head and tail only. Anything else above ``MAX_CONTENT`` stays unread.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

MAX_CONTENT = 32_000_000
"""Bytes; as many as all outputs of a run may have. Such a picture or page takes 0.1 s to read."""
LARGE = 1_000_000
"""Bytes above which a message is large: checking its signature takes milliseconds."""
EXCERPT = 256_000
"""Bytes of head and of tail that are decoded of a large stream message."""

_STREAM_START = re.compile(rb'\{"name":\s*"(stdout|stderr)",\s*"text":\s*"')
_LINE_END = re.compile(rb"(?<!\\)\\n")
"""An escaped line end. Behind another backslash, it may be an escaped backslash and an "n"."""
_PLAIN = re.compile(rb"[ !#-\[\]-~]{6}")
"""Letters of which the last one is no part of an escape, which has five behind its backslash."""
_NEAR = 4_096
"""Bytes before the end of the head in which letters are searched."""
_STREAM_END = re.compile(rb'"\s*\}$')


def read_content(
    msg_type: str, content: memoryview, unpack: Callable[[bytes], Any] = json.loads
) -> dict[str, Any] | None:
    """A message's content; None if it is too large."""
    if msg_type == "stream" and len(content) > LARGE:
        excerpt = stream_excerpt(content)
        if excerpt is not None:
            return excerpt
    if len(content) > MAX_CONTENT:
        return None
    raw = bytes(content)
    unpacked: dict[str, Any] = unpack(raw)
    # Half a surrogate pair is valid JSON, but no valid text: the journal could not store it.
    return _encodable(unpacked) if b"\\ud" in raw or b"\\uD" in raw else unpacked


def stream_excerpt(content: memoryview, length: int = EXCERPT) -> dict[str, Any] | None:
    """Head and tail of a large ``stream`` content: ``{name, text, left_out, tail}``; whole lines
    if these are short. Decodes the ends of the JSON only. None if its layout differs from Python
    kernels' messages, or if it can be cut nowhere."""
    start = _STREAM_START.match(content)
    end = _STREAM_END.search(bytes(content[-8:]))
    if start is None or end is None:
        return None
    cut, last = start.end() + length, len(content) - 8 + end.start()
    head = _last(_LINE_END, content, start.end(), cut)
    head = head or _last(_PLAIN, content, max(start.end(), cut - _NEAR), cut)
    tail = _LINE_END.search(content, last - length, last)
    if tail is None or tail.end() == last:
        tail = _PLAIN.search(content, last - length, last)
    if not head or tail is None:
        return None
    return {
        "name": start[1].decode(),
        "text": _text(content[start.end() : head]),
        "left_out": tail.end() - head,
        "tail": _text(content[tail.end() : last]),
    }


def _last(pattern: re.Pattern[bytes], content: memoryview, start: int, end: int) -> int:
    """The end of the last match; 0 if there is none."""
    return max((found.end() for found in pattern.finditer(content, start, end)), default=0)


def _text(raw: memoryview) -> str:
    """Decode a part of a JSON string; "" if it is invalid."""
    try:
        return str(_encodable(json.loads(f'"{bytes(raw).decode()}"', strict=False)))
    except ValueError:
        return ""


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return value
