"""AWS's event stream: length, headers, payload, each part with its checksum
(docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html)."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

_TEXT = 7
"""The type of a header's value that is text."""


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    head = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    prelude += struct.pack("!I", zlib.crc32(prelude))
    whole = prelude + head + payload
    return whole + struct.pack("!I", zlib.crc32(whole))


def chunk(event: dict[str, Any]) -> bytes:
    """An event of the Messages API, as Bedrock wraps it."""
    data = json.dumps(event, ensure_ascii=False).encode()
    payload = json.dumps({"bytes": base64.b64encode(data).decode(), "p": "abcd"}).encode()
    return frame(
        {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"},
        payload,
    )


def exception(kind: str, message: str) -> bytes:
    return frame(
        {
            ":exception-type": kind,
            ":content-type": "application/json",
            ":message-type": "exception",
        },
        json.dumps({"message": message}).encode(),
    )


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return struct.pack("!B", len(key)) + key + struct.pack("!BH", _TEXT, len(text)) + text
