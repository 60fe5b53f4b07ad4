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
_BACKSLASH, _U = b"\\u"
_PIECE = 65_536
_LOW_SURROGATE = re.compile(rb"\\u[dD][c-fC-F]")
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
    """Head and tail of a large ``stream`` content: ``{name, text, left_out, tail}``. Decodes the
    ends of the JSON only. None if its layout differs from Python kernels' messages."""
    start = _STREAM_START.match(content)
    end = _STREAM_END.search(bytes(content[-8:]))
    if start is None or end is None:
        return None
    first = start.end()
    last = len(content) - 8 + end.start()
    head, _ = _around(content, first, first + length)
    _, tail = _around(content, first, last - length)
    return {
        "name": start[1].decode(),
        "text": _text(content[first:head]),
        "left_out": tail - head,
        "tail": _text(content[tail:last]),
    }


def _around(content: memoryview, first: int, cut: int) -> tuple[int, int]:
    """Start and end of the character of a JSON string that the cut would split. It may be split
    within its UTF-8 bytes, its escape, or its surrogate pair. The string begins at ``first``."""
    start, end = _escape_around(content, first, cut)
    if _LOW_SURROGATE.match(content[start : start + 6]):
        return max(first, start - 6), start + 6
    if start < end:
        return start, end + 6 if _LOW_SURROGATE.match(content[end : end + 6]) else end
    while content[start] & 0xC0 == 0x80:
        start -= 1
    while content[end] & 0xC0 == 0x80:
        end += 1
    return start, end


def _escape_around(content: memoryview, first: int, cut: int) -> tuple[int, int]:
    """Start and end of the escape that the cut would split, or the cut twice."""
    for place in range(cut - 1, max(first, cut - 6) - 1, -1):
        if content[place] == _BACKSLASH:
            # Backslashes in a row form pairs, each pair one character.
            is_escape = _backslashes_before(content, first, place) % 2 == 0
            end = place + (6 if content[place + 1] == _U else 2)
            return (place, end) if is_escape and end > cut else (cut, cut)
    return cut, cut


def _backslashes_before(content: memoryview, first: int, place: int) -> int:
    """Length of the row of backslashes that ends at ``place``, not before ``first``."""
    end = place
    while end > first:
        piece = bytes(content[max(first, end - _PIECE) : end])
        row = len(piece) - len(piece.rstrip(b"\\"))
        end -= row
        if row < len(piece):
            break
    return place - end


def _text(raw: memoryview) -> str:
    """Decode a part of a JSON string, cut between characters; "" if it is invalid."""
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
