"""What must go back to a model as it came, and fits in no block of a message.

It stands in a block of its own, of the kind that is shown nowhere and always sent back
(``redacted_thinking``), at the end of the message. Texts and calls stand in their own blocks and
are left out of it: they are put back into their places when the message is sent.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ....core.messages import Message, RedactedThinking


def keep(wire: str, value: Any) -> str:
    """The data of such a block."""
    return msgspec.json.encode({"wire": wire, "kept": value}).decode()


def kept(wire: str, message: Message) -> Any:
    """What ``keep`` was given for this message, or None. Blocks of other makes are passed
    over."""
    for block in message.content:
        if isinstance(block, RedactedThinking) and block.data.startswith('{"wire":'):
            try:
                found = msgspec.json.decode(block.data)
            except (msgspec.DecodeError, RecursionError):
                continue
            if isinstance(found, dict) and found.get("wire") == wire:
                return found.get("kept")
    return None
