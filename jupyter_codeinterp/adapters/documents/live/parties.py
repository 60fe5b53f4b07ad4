"""Who has to do with a notebook: the windows that have it open, who stands in for them, what
it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import msgspec

from ....core.commands import OpenNotebook, ServerFrame
from ....core.document.ops import Receipt
from ....core.stores import StoredOps

NotebookT = TypeVar("NotebookT", contravariant=True)


class Window(Protocol):
    """One browser tab. ``send`` queues and never waits."""

    def send(self, frame: ServerFrame) -> None: ...


class WindowState(msgspec.Struct):
    """What a window says of its copy of the notebook; as in ``OpenNotebook``."""

    applied: dict[str, int]
    kernel_id: str = ""
    saved: dict[str, int] = {}
    version: str = ""
    edited: bool = False
    collaborative: bool = False
    announcement: int = 0
    file: str = ""
    """The file's version as it was when somebody looked, to see how old the copy is."""
    lacks: dict[str, StoredOps] = {}
    """What it needs again, though it has been saved."""
    told_to_reload: bool = False

    @classmethod
    def of(cls, command: OpenNotebook) -> WindowState:
        return cls(
            dict(command.applied),
            command.kernel_id,
            dict(command.saved),
            command.version,
            command.edited,
            command.collaborative,
            command.announcement,
        )


class FileWriter(Window, Protocol):
    """Works in the notebook's file as a window does in its copy, while none has it open."""

    async def open(self) -> tuple[dict[str, int], str]:
        """The ops that the file holds, and what people must know of it ("": nothing). Raises
        DocumentError if it cannot be worked in."""

    async def close(self) -> None:
        """End. What is being written is answered before; what is not is left undone."""

    async def look(self) -> tuple[str, dict[str, int]]:
        """The version of the file, opened or not, and the ops that it holds. Raises
        DocumentError."""


class Owner(Protocol[NotebookT]):
    """What a notebook belongs to."""

    def file_writer(self, notebook: NotebookT) -> FileWriter | None:
        """None if there can be none."""

    def ops(self, session_id: str, after: int) -> StoredOps:
        """The session's ops with higher numbers, as the journal has them."""

    def saved(self, saved: Mapping[str, int]) -> None:
        """The notebook's file holds the ops of each session up to these numbers, or they have
        been given up: they are not done again."""

    def late(self, session_id: str, seq: int, receipt: Receipt) -> None:
        """A receipt for an op that had been given up as pending."""

    def gone(self, notebook: NotebookT, words: str) -> None:
        """The notebook has no file any more."""

    def note(self, notebook: NotebookT, words: str) -> None:
        """For the conversations that are going on about the notebook."""
