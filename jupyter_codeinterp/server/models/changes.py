"""Connection changes since the server started, which "Not me" can revert."""

from __future__ import annotations

from typing import NamedTuple, Union

from ...core.errors import CommandError
from .key_file import Content, SavedConnection

MOST = 2_000
"""Remembered changes. Further ones are refused: a forgotten one could not be reverted."""
TOO_MANY = "Connections have been changed too often. Restart the server, and try again."


class Change(NamedTuple):
    """The state before a change: the provider's connection with its key, and the default model.

    ``number`` is the action's number, ``window`` the window that did it.
    """

    number: int
    window: int
    provider: str
    kept: Union[SavedConnection, None]
    default_model: str


class Changes:
    """Changes, oldest first. In memory only, because they contain keys."""

    def __init__(self) -> None:
        self._changes: list[Change] = []

    def check(self) -> None:
        """Raises CommandError ``too_many_changes``."""
        if len(self._changes) >= MOST:
            raise CommandError("too_many_changes", TOO_MANY)

    def add(self, change: Change) -> None:
        self._changes.append(change)

    def clear(self) -> None:
        self._changes.clear()

    def without_others(self, now: Content, window: int) -> Content:
        """The content without changes that other windows made since ``window`` opened.

        Windows and actions share one sequence of numbers.
        """

        def stays(change: Change) -> bool:
            return change.window == window or change.number < window

        connections = dict(now.connections)
        for provider in dict.fromkeys(change.provider for change in self._changes):
            for change in reversed(self._changes):
                if change.provider == provider:
                    if stays(change):
                        break
                    connections.pop(provider, None)
                    if change.kept is not None:
                        connections[provider] = change.kept
        default = after = now.default_model
        for change in reversed(self._changes):
            if change.default_model != after:
                if stays(change):
                    break
                default = change.default_model
            after = change.default_model
        return Content(connections=connections, default_model=default)
