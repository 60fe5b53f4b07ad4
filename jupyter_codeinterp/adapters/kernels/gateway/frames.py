"""Messages as they travel on a kernel's WebSocket.

The protocol ``V1`` puts the parts of a message one after the other, behind a table of their
offsets: little-endian numbers of 8 bytes, the first of them the number of offsets. Older gateways
know only one JSON object a message, with the parts that are no JSON behind it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from ...kernel_wire import Message, message_of
from ...kernel_wire.reading import read_content

V1 = "v1.kernel.websocket.jupyter.org"
_PARTS = ("header", "parent_header", "metadata", "content")


def packed(message: dict[str, Any], channel: str, pack: Callable[[Any], bytes]) -> bytes:
    """A message of ``jupyter_client`` in the protocol ``V1``."""
    parts = [channel.encode(), *(pack(message[name]) for name in _PARTS)]
    offsets = [8 * (len(parts) + 2)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets) + b"".join(parts)


def as_json(message: dict[str, Any], channel: str, pack: Callable[[Any], bytes]) -> str:
    """A message for an older gateway."""
    parts = {name: message[name] for name in _PARTS}
    return pack({**parts, "channel": channel, "buffers": []}).decode()


def unpacked(frame: bytes) -> tuple[str, Message]:
    """The channel and the message of a frame in the protocol ``V1``. Raises ValueError if it is
    none."""
    count = int.from_bytes(frame[:8], "little")
    if not len(_PARTS) + 2 <= count < len(frame) // 8:
        raise ValueError("not a Jupyter message")
    offsets = struct.unpack_from(f"<{count}Q", frame, 8)
    whole = memoryview(frame)
    parts = [whole[start:end] for start, end in pairwise(offsets)]
    channel, header, parent, _, content = parts[:5]
    about, cause = json.loads(bytes(header)), json.loads(bytes(parent))
    read = read_content(about["msg_type"], content)
    return bytes(channel).decode(), message_of(about, cause, read, len(content))


def from_json(frame: str | bytes) -> tuple[str, Message]:
    """The same of an older gateway's frame. Large contents have to be parsed whole here."""
    if isinstance(frame, bytes):
        count, first = struct.unpack_from("!2I", frame)
        end = struct.unpack_from("!I", frame, 8)[0] if count > 1 else len(frame)
        frame = frame[first:end].decode()
    message = json.loads(frame)
    content = json.dumps(message["content"]).encode()
    about = message["header"]
    read = read_content(about["msg_type"], memoryview(content))
    return message["channel"], message_of(
        about, message.get("parent_header") or {}, read, len(content)
    )
