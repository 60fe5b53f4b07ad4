"""Which ops a notebook's file is known to hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .outbox import Outbox
from .parties import Owner, WindowState


class FileHolds:
    def __init__(self, outbox: Outbox, owner: Owner[Any] | None) -> None:
        self.ops: dict[str, int] = {}
        """By session, the highest number."""
        self._outbox = outbox
        self._owner = owner

    def know(self, saved: Mapping[str, int]) -> None:
        for session_id, seq in saved.items():
            self.ops[session_id] = max(seq, self.ops.get(session_id, 0))

    def hear(self, saved: Mapping[str, int]) -> None:
        """Somebody says so, or they have been given up: they are not sent again."""
        self._outbox.saved(saved)
        self.know(saved)
        if saved and self._owner is not None:
            self._owner.saved(saved)

    def more_than(self, state: WindowState) -> bool:
        """Whether the copy lacks what is known to have been saved."""
        return any(state.applied.get(key, 0) < seq for key, seq in self.ops.items())
