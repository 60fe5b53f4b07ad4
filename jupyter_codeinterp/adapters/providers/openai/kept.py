"""Keeps data that must go back to a model unchanged, but fits in no block of a message.

The data goes into a ``redacted_thinking`` block at the end of the message: never shown, always
sent back. It leaves out texts and calls, which have their own blocks; sending puts them back.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ....core.messages import Message, RedactedThinking


def keep(wire: str, value: Any) -> str:
    """The data of such a block."""
    return msgspec.json.encode({"wire": wire, "kept": value}).decode()


def kept(wire: str, message: Message) -> Any:
    """The value that ``keep`` stored in this message, or None. Ignores other wires' blocks."""
    for block in message.content:
        if isinstance(block, RedactedThinking) and block.data.startswith('{"wire":'):
            try:
                found = msgspec.json.decode(block.data)
            except (msgspec.DecodeError, RecursionError):
                continue
            if isinstance(found, dict) and found.get("wire") == wire:
                return found.get("kept")
    return None
