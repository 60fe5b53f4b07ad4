"""The journal in memory: one process, one event loop, nothing on disk.

It stores what a file would, so a resumed session is the same. All text passes ``scrub``.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import msgspec

from ....core.commands import SessionInfo
from ....core.document.ops import FinishRun, Output, Receipt
from ....core.errors import StoreError
from ....core.events import Event
from ....core.history.outputs import light_op, light_receipt, whole_op
from ....core.messages import Message
from ....core.stores import Holder, StoredOp

_Sessions = list[SessionInfo]
_Numbered = list[tuple[int, Event]]
_Written = list[tuple[int, bytes]]
_Ops = list[StoredOp]


class MemoryStore:
    """``SessionStore``. Raises StoreError ``unknown_session`` and ``repeated``."""

    def __init__(self, scrub: Callable[[str], str] = str) -> None:
        self._scrub = scrub
        self._infos: dict[str, SessionInfo] = {}
        self._events: dict[str, _Written] = defaultdict(list)
        self._messages: dict[str, list[tuple[int, Message]]] = defaultdict(list)
        self._ops: dict[str, dict[int, StoredOp]] = defaultdict(dict)
        self._outputs: dict[str, tuple[Output, ...]] = {}
        """By digest."""
        self._of_cells: dict[tuple[str, str], str] = {}
        """The digest of a cell's last outputs."""
        self._silenced: dict[str, frozenset[str]] = {}

    # --- sessions --------------------------------------------------------------------

    def create(self, info: SessionInfo) -> None:
        self._infos[info.session_id] = info

    def update(self, info: SessionInfo) -> None:
        self._known(info.session_id)
        self._infos[info.session_id] = info

    def list(self, notebook: str | None = None) -> _Sessions:
        found = (info for info in self._infos.values() if notebook in (None, info.notebook))
        return sorted(found, key=lambda info: info.changed, reverse=True)

    def _known(self, session_id: str) -> None:
        if session_id not in self._infos:
            raise StoreError("unknown_session", "The journal does not have this session.")

    # --- findings --------------------------------------------------------------------

    def set_silenced(self, notebook: str, key: str, silenced: bool) -> None:
        kept = self.silenced(notebook)
        self._silenced[notebook] = kept | {key} if silenced else kept - {key}

    def silenced(self, notebook: str) -> frozenset[str]:
        return self._silenced.get(notebook, frozenset())

    # --- leases: there is no other process --------------------------------------------

    def take_lease(self, session_id: str) -> Holder | None:
        return None

    def renew_lease(self, session_id: str) -> bool:
        return True

    def release_lease(self, session_id: str) -> None:
        return None

    def holder(self, session_id: str) -> Holder | None:
        return None

    # --- events ----------------------------------------------------------------------

    def last_seq(self, session_id: str) -> int:
        events = self._events[session_id]
        return events[-1][0] if events else 0

    def append_events(self, session_id: str, events: _Numbered) -> None:
        self._known(session_id)
        kept = self._events[session_id]
        for seq, event in events:
            if seq <= self.last_seq(session_id):
                raise StoreError("repeated", "The journal already has this number.")
            kept.append((seq, self._written(event)))

    async def settle(self) -> None:
        return None

    async def tidy(self) -> None:
        return None

    def events(self, session_id: str, after: int = 0) -> _Numbered:
        read = msgspec.json.Decoder(Event)
        return [(seq, read.decode(data)) for seq, data in self._events[session_id] if seq > after]

    def written_events(self, session_id: str, after: int, most: int) -> _Written:
        return [event for event in self._events[session_id] if event[0] > after][:most]

    # --- messages and requests -------------------------------------------------------

    def append_messages(
        self, session_id: str, messages: tuple[Message, ...], conversation: int
    ) -> None:
        self._known(session_id)
        self._messages[session_id] += [
            (conversation, msgspec.json.decode(self._written(message), type=Message))
            for message in messages
        ]

    def messages(self, session_id: str) -> tuple[int, tuple[Message, ...]]:
        kept = self._messages[session_id]
        newest = max((number for number, _ in kept), default=1)
        return newest, tuple(message for number, message in kept if number == newest)

    def count_messages(self, session_id: str) -> int:
        return len(self._messages[session_id])

    def all_messages(self, session_id: str) -> tuple[Message, ...]:
        return tuple(message for _, message in self._messages[session_id])

    def append_request(self, session_id: str, step: int, request: dict[str, Any]) -> None:
        """Keep none: only a server shows them."""
        self._known(session_id)

    # --- ops and outputs -------------------------------------------------------------

    def append_op(self, session_id: str, op: StoredOp) -> None:
        self._known(session_id)
        light, outputs = light_op(op.op)
        digest = self._put(outputs)
        self._ops[session_id][op.seq] = msgspec.structs.replace(op, op=light, outputs=digest)
        if isinstance(light, FinishRun):
            self._of_cells[session_id, light.cell_id] = digest

    def set_receipt(self, session_id: str, seq: int, receipt: Receipt) -> Receipt:
        light, outputs = light_receipt(receipt)
        if outputs:
            light = msgspec.structs.replace(light, outputs=self._put(outputs))
        ops = self._ops[session_id]
        ops[seq] = msgspec.structs.replace(ops[seq], receipt=light)
        return light

    def last_op(self, session_id: str) -> int:
        return max(self._ops[session_id], default=0)

    def whole_ops(self, session_id: str, after: int = 0) -> _Ops:
        return [
            whole_op(op, self._outputs.get(op.outputs)) if op.outputs else op
            for op in self.ops(session_id, after)
        ]

    def ops(self, session_id: str, after: int = 0) -> _Ops:
        return [op for seq, op in self._ops[session_id].items() if seq > after]

    async def keep_outputs(self, session_id: str, outputs: tuple[Output, ...]) -> str:
        return self._put(outputs)

    def _put(self, outputs: tuple[Output, ...]) -> str:
        if not outputs:
            return ""
        written = self._written(outputs)
        digest = hashlib.sha256(written).hexdigest()
        self._outputs[digest] = msgspec.json.decode(written, type=tuple[Output, ...])
        return digest

    def outputs(self, session_id: str, digest: str) -> tuple[Output, ...] | None:
        return self._outputs.get(digest)

    async def cell_outputs(self, session_id: str, cell_id: str) -> tuple[Output, ...] | None:
        return self._outputs.get(self._of_cells.get((session_id, cell_id), ""))

    def _written(self, value: Any) -> bytes:
        return self._scrub(msgspec.json.encode(value).decode()).encode()
