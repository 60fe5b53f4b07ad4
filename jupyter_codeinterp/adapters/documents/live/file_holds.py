"""Which ops a notebook's file is known to hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .outbox import Outbox
from .protocols import Owner, WindowState


class FileHolds:
    def __init__(self, outbox: Outbox, owner: Owner[Any] | None) -> None:
        self.ops: dict[str, int] = {}
        """The highest number of each session."""
        self._outbox = outbox
        self._owner = owner

    def add(self, saved: Mapping[str, int]) -> None:
        for session_id, seq in saved.items():
            self.ops[session_id] = max(seq, self.ops.get(session_id, 0))

    def saved(self, saved: Mapping[str, int]) -> None:
        """These ops are saved or given up: do not send them again."""
        self._outbox.saved(saved)
        self.add(saved)
        if saved and self._owner is not None:
            self._owner.saved(saved)

    def lacking_in(self, state: WindowState) -> bool:
        """Whether the copy lacks known saved ops."""
        return any(state.applied.get(key, 0) < seq for key, seq in self.ops.items())
