"""The pictures of a conversation, from the outputs in the journal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from ..document.ops import FinishRun, Output, joined
from ..stores import SessionStore

MOST = 20_000_000
"""Characters of all pictures of an export. Later ones are left out."""
_KINDS = (("image/png", "iVBORw0KGgo"), ("image/jpeg", "/9j/"))
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


async def pictures(store: SessionStore, session_id: str) -> dict[str, list[str]]:
    """Addresses (``data:``) of the pictures of each run, by its id."""
    found: dict[str, list[str]] = {}
    left = MOST
    for stored in store.ops(session_id):
        if isinstance(stored.op, FinishRun) and stored.outputs:
            outputs = await store.kept_outputs(session_id, stored.outputs) or ()
            for drawn in _drawn(outputs):
                left -= len(drawn)
                if left > 0:
                    found.setdefault(stored.op.run_id, []).append(drawn)
    return found


def _drawn(outputs: Iterable[Output]) -> Iterator[str]:
    for output in outputs:
        data = output.get("data")
        if isinstance(data, dict):
            yield from islice(filter(None, (_address(data, *kind) for kind in _KINDS)), 1)


def _address(data: dict[str, object], media: str, begins: str) -> str:
    encoded = "".join(joined(data.get(media)).split())
    right = encoded.startswith(begins) and _BASE64.fullmatch(encoded)
    return f"data:{media};base64,{encoded}" if right else ""
