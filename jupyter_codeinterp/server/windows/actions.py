"""Numbers and journals the actions of windows and clients. A reconnecting window reads those that
it missed."""

from __future__ import annotations

import logging
from functools import cached_property

from msgspec.structs import replace

from ...core.commands import DoneElsewhere
from ...core.errors import StoreError
from ...core.stores import Actions, ActionStore

MAX_MISSED = 1_000
"""Missed actions that a window gets when it connects; beyond that, only a note that more exist."""

log = logging.getLogger(__name__)


class ActionLog:
    def __init__(self, store: ActionStore) -> None:
        self._store = store
        self._unwritten: Actions = []
        """Actions that could not be journaled yet, with numbers already sent to windows."""

    @cached_property
    def _newest(self) -> list[int]:
        """The highest known number, in a list of one."""
        try:
            return [self._store.last_action()]
        except StoreError as error:
            log.warning("Counting actions again: %s", error.message)
            return [0]

    @property
    def last(self) -> int:
        return self._newest[0]

    def new_window(self) -> int:
        """A unique number for a new window."""
        try:
            self._newest[0] = self._store.append_window(self.last)
        except StoreError as error:
            log.warning("A new window is not in the journal: %s", error.message)
            self._newest[0] += 1
        return self.last

    def add(self, action: DoneElsewhere) -> DoneElsewhere:
        """Number and journal an action. Returns it with its number."""
        try:
            while self._unwritten:
                one = self._unwritten[0]
                self._store.append_action(one, one.number - 1)
                del self._unwritten[0]
            self._newest[0] = self._store.append_action(action, self.last)
            return replace(action, number=self.last)
        except StoreError as error:
            log.warning("What a window did is journaled later: %s", error.message)
            self._newest[0] += 1
            action = replace(action, number=self.last)
            self._unwritten.append(action)
            return action

    def since(self, seen: int, window: int) -> tuple[Actions, bool]:
        """Other windows' actions after number ``seen``, the last of each kind, and whether they are
        complete."""
        unwritten = [a for a in self._unwritten if a.number > seen and a.window != window]
        try:
            written, complete = self._store.actions(seen, window, MAX_MISSED)
        except StoreError as error:
            log.warning("What other windows did cannot be read: %s", error.message)
            return unwritten, False
        return [*written, *unwritten], complete or bool(self._unwritten)

    def models_set(self, after: int) -> Actions:
        """All ``model`` actions after a number, in order. Raises StoreError."""
        unwritten = [a for a in self._unwritten if a.number > after and a.what == "model"]
        return [*self._store.models_set(after), *unwritten]
